"""Word lists that separate secrets from other text, in programs and in many languages.

A sentence such as "le mot de passe du wifi est soleil" reveals a password, "le mot de passe est obligatoire" does not:
its last word describes passwords.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from engine.base import lazy_pattern
from engine.redaction.secret_pattern import LINE_END, READING_TAG


class PasswordWords(NamedTuple):
    """How a language writes about passwords. The first two are expressions, the last two are separated by blanks."""

    names: str
    """Words for "password", from the part at which an anchor finds them."""
    verbs: str
    """Words between the name and the password, such as "is"; empty if there are none."""
    ordinary: str = ""
    """Words that follow the verb in ordinary text, such as "required"."""
    endings: str = ""
    """Ends of participles and adjectives that follow the verb in ordinary text."""


_KEY_TO = r"(?: de(?: la|l)? (?:acceso|wi-?fi|red|router|cuenta|usuario|servidor|correo|banco|cajero|administrador))"
LANGUAGES = (
    PasswordWords(
        "passe|mdp|(?<=code d['’])accès|(?:clé|code) wi-?fi",
        "est|c['’]est|était|sera",
        """incorrect obligatoire requis oublié invalide actuel nouveau un une le la les en à au aux de du des pour
        par dans sur plus moins trop très toujours vide faux correct bon mauvais faible fort court long même déjà
        encore aussi bien pas ici donc alors stocké sensible identique différent secret nécessaire facultatif
        inactif actif expiré""",
        "é ée és ées able ible ant ante",
    ),
    PasswordWords(
        rf"contrase[ñn]y?a|clave{_KEY_TO}?|contra{_KEY_TO}|contrasinal|código wi-?fi",
        "es|era|será|sea",
        """incorrecta incorrecto incorrectas obligatoria obligatorio requerida requerido errónea inválida inválido
        olvidada actual nueva un una el la los las lo de del en para por con sin muy más menos demasiado igual vacía
        vacío débil fuerte corta larga segura necesaria opcional correcta la misma única secreta sensible que""",
        "ada ado ido ida able ible ante ente",
    ),
    PasswordWords(
        "password|chiave wi-?fi|(?<=parola d.)ordine|(?<=(?:parola|codice|chiave) d.)accesso",
        "è|era|sarà",
        """errata obbligatoria richiesta dimenticata un una il la lo i gli le di del della in per con senza molto
        più meno troppo uguale vuota debole forte corta lunga sicura necessaria corretta sbagliata nuova stessa
        unica segreta non scaduta scritta protetta""",
        "ata ato ita ito uta uto abile ibile ante ente",
    ),
    PasswordWords(
        "passe|senha",
        "é|era|será",
        """incorreta incorreto obrigatória obrigatório inválida inválido atual nova um uma o a os as de do da em
        para por com sem muito mais menos igual vazia fraca forte curta longa segura necessária opcional correta
        errada mesma única secreta sensível""",
        "ada ado ida ido ável ível ante ente",
    ),
    PasswordWords(
        "wachtwoord",
        "is|was|luidt",
        """onjuist verplicht vergeten ongeldig nieuw een het de van voor in op met zonder te niet geen leeg zwak
        sterk kort lang veilig nodig optioneel juist fout hetzelfde verlopen gewijzigd veranderd verouderd vervallen
        mislukt versleuteld opgeslagen ingesteld al nog ook alleen vereist""",
        "baar elijk",
    ),
    PasswordWords(
        "has[łl]o",
        "jest|to|brzmi|było",
        """wymagane nieprawidłowe zapomniane nowe puste słabe silne krótkie długie bezpieczne błędne takie samo za
        zbyt w na do od dla nie już tylko bardzo poprawne ciąg""",
        "ane one ony any wy we owe owy ste wne",
    ),
    PasswordWords(
        "парол[ьяюаі]|лозинка",
        "это|є|это:|[—–-]|был|будет|был:",
        """неверный неправильный обязательно обязателен забыли должен не и или для от это новый текущий невірний
        обовʼязково это набор строка слово секретное ваш мой его самый слишком очень пуст пустой верный верен
        неверен необходим нужен обязательное минимум только так как он она в на по из с для без""",
        "ый ий ой ен ён ан но на ны та то ты им ім ется ется ится ает ует ать ить ять ова",
    ),
    PasswordWords(
        "(?<=[öo])senord(?:et)?|passord(?:et)?|kodeord(?:et)?|adgangskoden?",
        "är|er|var|lyder",
        """felaktigt obligatoriskt glömt fel forkert påkrævet glemt feil för for ett et en den det inte ikke alltför
        svagt stark kort kortt kort langt tomt tom ugyldig ogiltigt ugyldigt nytt ny nyt samma samme uændret
        oförändrat rett rätt krävs påkrevd svakt svag korrekt riktig allerede redan ofte ofta utløpt udløbet
        utgånget endra endret ændret""",
        "at ad et ed bart bar ivt igt ert ede ade",
    ),
    PasswordWords(
        "heslo|geslo|lozinka|zaporka",
        "je|bylo|bolo|bilo|znie|zní",
        """chybné povinné zapomenuté nesprávné neplatné příliš vypnuto predolgo prekratko prázdné slabé silné krátké
        dlouhé nové v na pro za od do z se si bolo bylo stejné rovnaké správné napačno obvezno pogrešna obavezna
        netočna prazna preslaba prekratka""",
        "né ná ný eno ano ena ana en an vne vno vna",
    ),
    PasswordWords(
        "salasana", "on|oli", "väärä pakollinen liian tyhjä sama oikea uusi vanha vanhentunut", "ttu tty llinen"
    ),
    PasswordWords("(?<=[şs])ifre(?:si|niz|m|yi)?|parola", ""),
    PasswordWords(
        "parol[aă]",
        "este|era",
        "greșită obligatorie incorectă prea goală nouă veche un o în la de pentru",
        "ată ită ută",
    ),
    PasswordWords(
        "jelsz(?:[óo]t?|av(?:a[md]?|unk|atok|uk))",
        "az|ez|volt|lesz",
        """hibás helytelen kötelező rossz túl nem egy új régi üres gyenge erős rövid hosszú titkos azonos ugyanaz jó
        lejárt elfelejtett megváltozott módosítva alapértelmezett szükséges""",
        "ott ett ött ható hető",
    ),
    PasswordWords(
        "κωδικός(?: πρόσβασης)?|συνθηματικό",
        "είναι|ήταν",
        "λάθος πολύ ο η το σε για με κενός κενό",
        "μένος μένο ός ό ικό τό τός",
    ),
    PasswordWords("סיסמ[האת]", "היא|הוא|זה", "שגויה חובה ריקה לא חלשה חזקה קצרה ארוכה נכונה"),
    PasswordWords("كلمة (?:المرور|السر)|رمز عبور", "هي|هو", "خاطئة مطلوبة فارغة غير ضعيفة قوية قصيرة صحيحة إلزامية"),
    PasswordWords("(?<=mat )khau|(?<=mật )khẩu", "là", "bắt sai một không rất quá bắt_buộc trống yếu mạnh các"),
    PasswordWords("(?<=kata )sandi", "adalah|ialah", "salah wajib kosong terlalu sangat sebuah tidak yang lemah kuat"),
    PasswordWords("पासवर्ड|รหัสผ่าน", "है|คือ"),
    PasswordWords("(?:wlan-?|netzwerk|lizenz|produkt)schlüssel|zugangscode", "ist|war|lautet", "", "t"),
    PasswordWords(
        "passwort|kennwort|passphrase|(?<![a-z/:*.])p(?:ass|asswd|wd?)",
        "is|was|ist|war|lautet",
        """due overdue pending ready common alphanumeric numeric temporary permanent complex sensitive case-sensitive
        important critical essential identical similar equivalent weaker safer shorter arbitrary yours mine ours theirs
        broken inactive meant chosen written plain plaintext cleartext nothing everything anything whatever somewhere
        elsewhere everywhere often sometimes perhaps maybe rather quite almost one-time read-only fällig kurz dasselbe
        gleich anders neu alt einfach komplex sensibel wichtig egal nötig üblich sichtbar lesbar temporär vorläufig
        dauerhaft zufällig etwa""",
    ),
)
"""Languages with blanks between words. The last is English and German, whose words other patterns find."""

ANCHORS = (
    *("clé ", "chiave wi", "contra d", "code wi", "código wi"),
    *"""pass pw pwd kennwort mdp accès contrase clave ordine accesso senha wachtwoord kodeord adgangskode senord hasło
    haslo heslo salasana jelsz ifre parol lozinka zaporka geslo khau khẩu sandi парол лозинка κωδικός συνθηματικό סיסמ
    كلمة رمز पासवर्ड รหัสผ่าน wlan-schl wlanschl netzwerkschl lizenzschl produktschl zugangscode""".split(),
)
"""Beginnings of the names in `LANGUAGES`."""

NAMES = "|".join(language.names for language in LANGUAGES)
_VERBS = "|".join(language.verbs for language in LANGUAGES if language.verbs)
_PREPOSITIONS = (
    "de|du|des|pour|del|da|do|di|della|dello|para|per|van|voor|op|dla|do|od|k|ke|na|fürs?|pro|za|от|для|к|на|від|до|till|til|för|for"
    "|på|pentru|για|vom|von|beim"
)
"""Words between the name and what the password is for, as in "contraseña del router"."""
_NETWORK = (
    r"(?:[ \t]{1,4}(?:\w{1,4}[ \t]{1,4}){0,2}"
    r"(?i:wi-?fi|wlan|router\w{0,2}|fritz!?box|вай-?фая?|вайфаю|роутера?|red|réseau|rete|banco|banca|banque|correo|nas|vpn))"
)
"""Words for a network, a bank or mail, between "password" and the password: "contraseña del wifi Sol2024"."""
_CHANGED = r"(?:[ \t]{1,4}\w{1,16}){0,3}?[ \t]{1,4}(?:to|auf|a|à|en|para|in|naar|na|на|til|till|pe|în)(?=[ \t])"
"""Words between "password" and what it was changed to."""
FOREIGN_LINK = (
    rf"(?i:(?:(?:[ ](?:root|admin|ssh|vpn|sudo|wi-?fi|wlan|nas|bdd))?"
    rf"[ \t]{{1,4}}(?:(?:{_PREPOSITIONS})\b|d['’])[^.:;!?={LINE_END}]{{1,60}}?"
    rf"|[ \t]{{1,4}}(?:root|admin|ssh|vpn|sudo|wi-?fi|wlan|nas|bdd|provisoire|temporaire|temporal)\b"
    rf"|[ \t]\([^(){LINE_END}]{{1,40}}\)"
    rf"|[ \t](?:nueva|actual|nouveau|actuel|nova|atual|nuova|attuale|nowe|новый)"
    rf"(?:[ ](?:{_PREPOSITIONS})\b[^.:;!?={LINE_END}]{{1,60}}?)?(?=[ ]?:))?"
    rf"(?:[ \t]{{0,4}}[:\uff1a][ \t]{{0,4}}|[ \t]{{1,4}}(?P<verb>{_VERBS})(?!\w)[ \t]{{0,4}}:?[ \t]{{0,4}})"
    rf"|{_NETWORK}?(?:{_CHANGED})?[ \t]{{1,4}}(?=\S*[0-9])(?P<adjacent>))"
)
"""Link between the name and the password: a colon, a verb, or only a blank, as in languages that omit "is", and in "the
password was changed to"."""

DENIALS = frozenset(
    """es est son sind is är er on jest je este é è är är não no non nie ne nicht ikke inte incorrecta incorrecto
    obligatoria obligatorio requerida requerido errónea inválida inválido olvidada actual nueva incorrect
    obligatoire requis oublié invalide actuel nouveau incorreta incorreto obrigatória obrigatório inválida atual
    nova errata obbligatoria richiesta dimenticata onjuist verplicht vergeten ongeldig nieuw nieprawidłowe
    wymagane zapomniane nowe felaktigt obligatoriskt glömt fel forkert påkrævet glemt feil salasana väärä
    pakollinen chybné povinné zapomenuté helytelen kötelező gerekli zorunlu unuttum неверный неправильный
    обязательное обязательно обязателен забыли должен не и или для от это новый текущий невірний обовʼязково must
    required optional valor para por per pour pro til för de del della du la el le et y e o ou""".split()
)
"""Words that follow a password's name in ordinary text of other languages."""

AS_PASSWORD = (
    *("als passwort", "als kennwort", "als wachtwoord", "comme mot de passe", "como contraseña", "como clave"),
    *("como senha", "come password", "jako hasło", "jako hasła", "jako heslo", "som lösenord"),
    *("som passord", "som adgangskode", "şifre olarak", "как пароль", "качестве пароля", "作为密码", "作为口令"),
    *("当密码", "當密碼", "をパスワード", "를 비밀번호", "을 비밀번호"),
)
"""Words after a password that say that it is one, in other languages than English."""
AS_ENGLISH_PASSWORD = (
    r"as (?:(?:the|my|your|our|his|her|a|an) )?(?:(?!for |of |in |to )[\w-]{1,14} ){0,2}"
    r"(?:password|pwd?|pass(?:phras|cod)e)"
)
CHOSEN = lazy_pattern(
    r"(?:\b(?:(?:I|he|she|we|they)(?:['’]?(?:ve|d|ll))?(?: (?:have|had|just|now|then|will|simply))? "
    r"(?:used|typed|type|entered|enter|set|chose|picked|put|gave)|just use|I use|I['’]m using|please use|let['’]s use)"
    r"|j['’]ai (?:mis|pris|choisi|utilisé)|he (?:puesto|usado|elegido)|puse|usei|coloquei|escolhi"
    r"|ho (?:messo|usato|scelto)|ik (?:heb|gebruik|koos)|ich (?:habe|hab|nahm|nehme|nutze|verwende|wählte))"
    r"[ ][\"'`“„]?\S{3,32}[ ]\Z",
    re.IGNORECASE,
)
"""Before `as the password`: someone says which word was chosen."""
IDEOGRAPHIC_NAMES = "密码|密碼|口令|暗証番号|合言葉|パスワード|パスフレーズ|비밀번호|패스워드|암호|비번"
ANY_PASSWORD = rf"passw(?:or[dt]|d)|passphrase|passcode|pass|pw|psk|kennwort|pwd|{NAMES}|{IDEOGRAPHIC_NAMES}"
"""Expression for password names in all languages."""
PASSWORD_ANCHORS = ("psk", *ANCHORS, *IDEOGRAPHIC_NAMES.split("|"))
_IDEOGRAPHIC_DENIALS = lazy_pattern(
    "必|须|須|空|错|錯|誤|误|間違|无效|無效|無効|字符|字元|文字|数字|數字|字母|长度|長|以上|以下|不|未|过期|過期|失效|期限|更改|変更|改|設定|设定|设置"
    "|忘|输入|輸入|入力|保存|加密|暗号|安全|正[确確し]|同じ|相同|一致|需要|要求|可[以能选選]|[用使]于|使用|対|为了|指定|何|什么|什麼|默认|默認|明文"
    "|随机|隨機|短|弱|强|強|的|を|が|あと|アカウント|され|さい|させ|ない|なし|ません|という"
    "|필수|틀|잘못|비어|이상|이하|변경|설정|입력|저장|안전|같|다르|없|있|자리|자 |너무|하지|하세|합니|하여|해야|되"
)

# --- English and German, and names in programs -----------------------------------------------------------------------

TYPES = frozenset(
    """none null nil undefined true false str string bytes bytearray int integer number float double bool boolean any
    unknown object never void secretstr optional union list dict text char varchar buffer symbol type function
    lambda self cls value default tuple set frozenset uuid datetime date decimal path json callable iterable
    iterator sequence mapping enum array usize isize u8 u16 u32 u64 i32 i64 f32 f64 char uint size_t long short
    byte rune error context record bigint smallint timestamp blob""".split()
)
"""Values that are types or constants of a programming language."""

WORDS = frozenset(
    """a about above absent accepted active added after again all already also always an and anonymous another any are
    as at available bad based be because been before being below better between blank both but by can cannot case
    changing compared correct could cracked current currently defined derived different do does don't easy either empty
    enough enter equal ever every exactly expiring exposed false fetched field fields fine first for forgot from
    generated get given gone good guess guessable handled hard hashed here hidden how however if in incorrect input
    insecure invalid is it its itself just kept known leaked left less like limit long longer lost made masked may me
    mandatory match matched missing more most must my needed never new no non-empty none not now null obvious of off ok
    okay old on one only optional or other our out passed please present protected provided public random read rejected
    required reset right safe same saved secret secure sent set shared short should shown simple so some something
    still stored strong stronger such supplied taken than that the their them then there these they this those through
    to too true trivial typed unchanged under undefined unique unknown unless unset until up updated use used useful
    user valid verified very visible was weak what when where whether which who why will with within without working
    would wrong yes yet you your password passwords passwd passphrase token secret key keys username login example
    placeholder confirm confirmation show hide change repeat retype choose forgotten verify click manager managers hash
    hashes prompt length option options flag flags argument parameter variable header setting file files strings per
    via ever into over onto upon inside outside during against among across back next end start part abgelaufen aber
    alle als auch auf aus bei bekannt bereits das dem den der des die durch ein eine einem einen einer falsch fehlt für
    geheim gespeichert gesetzt gut hier ich ihr im immer in ist ja jetzt kein keine leer lang mit nach nein nicht nie
    noch notwendig nur ob oder optional richtig schon schwach sehr sein sicher sind so stark um und ungültig unbekannt
    verloren verschlüsselt gehasht geändert zurückgesetzt aktiv inaktiv von vom wenn wie wird wurde zu zum zur zwingend
    erforderlich korrekt ändern später later soon keepass keepassxc bitwarden""".split()
)
"""Words that follow "password is", "token:" and similar in ordinary text."""

SECRET_KEYS = frozenset(
    """api access secret private auth encryption signing sign master app application client account license licence
    subscription service shared deploy admin openai anthropic aws azure google gemini github gitlab stripe
    sendgrid twilio mistral voyage cohere groq signature hmac jwt webhook bot security crypt decryption wlan wifi
    wpa wep psk network recovery""".split()
)
"""Parts of a name before "key" that make it a secret's name."""

PLAIN_KEYS = frozenset(
    """public pub primary foreign sort cache partition unique composite registry object row index hash dict map shortcut
    hot arrow return enter escape locale translation react lookup group order idempotency routing config answer
    next page max min num eos bos pad unk sep cls mask special start end first last prev previous current per by
    each continuation stop property output input""".split()
)
"""Parts of a name before "key" or "token" that make it a harmless name."""

PASSES = frozenset(
    """by com tres sur under over en render first second third one two single multi low high band all shadow depth base
    color forward backward back next last prev num max min cur current boarding test tests build compiler
    optimization main extra final half full is did has can will n""".split()
)
"""Parts of a name before "pass" that make it no password."""

JOINED_NAME = lazy_pattern(
    r"(?i)wpapsk|(?:account|admin|api|auth|backup|bind|client|cluster|db|disk|ftp|host|imap|jdbc|ldap|login|luks|mail"
    r"|master|mongo|(?:my)?sql|nas|net|pg|pop3?|postgres|proxy|redis|remote|root|router|server|service|smb|smtp|ssh"
    r"|sudo|svn|user|vnc|vpn|web|wifi|zip)(?:pass|pw)"
)
"""Names of passwords without a sign between their parts."""

STORES = frozenset(
    """storage local session state event data theme feature flag entity model user item node record document store query
    mutation channel topic metric log env environment variable header param form field column attribute json name
    setting settings option preference prefs i18n label message error status type kind category tag metadata meta
    context scope""".split()
)
"""Parts of a name before "key" for which a word as the value is a name, not a secret."""

AUTHORIZATION_SCHEMES = frozenset(
    """bearer basic token apikey api-key bot digest negotiate ntlm splunk ssws geniekey dpop hmac hawk oauth key
    discogs sharedkey sharedaccesssignature snyk zoho-oauthtoken aws4-hmac-sha256 private-token jwt""".split()
)


def language_of(match: re.Match[str]) -> PasswordWords | None:
    """Return the language of the match's `name` and `verb`; none if they belong to different ones."""
    languages = _languages_with(match["verb"].lower())
    return next(
        (language for language in languages if _compiled(language.names).fullmatch(match.string, *match.span("name"))),
        None,
    )


@lru_cache(256)
def _languages_with(verb: str) -> tuple[PasswordWords, ...]:
    return tuple(language for language in LANGUAGES if _compiled(language.verbs).fullmatch(verb))


def is_english_name(match: re.Match[str]) -> bool:
    """Whether the match's `name` is English or German, and belongs to no other language."""
    return _compiled(LANGUAGES[-1].names).fullmatch(match.string, *match.span("name")) is not None


def describes_password(language: PasswordWords, value: str) -> bool:
    """Whether a word after "is" describes the password ("long", "required") and is not the password itself."""
    ordinary, endings = _descriptions(language)
    return value.casefold() in ordinary or value.casefold().endswith(endings)


@cache
def _descriptions(language: PasswordWords) -> tuple[frozenset[str], tuple[str, ...]]:
    return frozenset(language.ordinary.casefold().split()), tuple(language.endings.split())


def is_description_in_ideographs(value: str) -> bool:
    """Whether the text after a password's name in Chinese, Japanese or Korean describes it."""
    return _IDEOGRAPHIC_DENIALS.search(value) is not None


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


PLACEHOLDER = lazy_pattern(
    r"""=?\{\{.*|\$\{.*|\$\(.*|\$[A-Z_][A-Z0-9_]*|\$\w*(?:pass|pwd|token|key|secret)\w*|%\w+%|%l?[sdu]|\{\w*\}|<[^<>]*>?|&(?:lt|#x3c|#60)\b.*"""
    rf"""|\{{\?.*|\[[a-z _-]+\]|[.…]+|[xX*•.…]{{3,}}|your[-_ ].*|\W{{1,3}}|{READING_TAG}""",
    re.IGNORECASE | re.DOTALL,
)
EDGES = "\"'`“”„\u2018\u2019«»()[]{}<>.,;:!?"


def is_ordinary(value: str) -> bool:
    """Whether the value is empty, a placeholder, or a word of ordinary text."""
    words = [word.strip(EDGES) for word in value.strip(EDGES + "*_").casefold().split(maxsplit=4)[:4]]
    if not words or PLACEHOLDER.fullmatch(value):
        return True
    if words[0] in WORDS:  # in "correct horse battery staple" too
        return len(words) == 1 or any(word in WORDS for word in words[1:])
    return words[0] in TYPES or TECHNICAL.match(words[0]) is not None


_LONGEST_PHRASE = 30  # words
_PHRASE_WORD = lazy_pattern(r"\w+(?:['’-]\w+)*")
PARTICIPLE = lazy_pattern(r"[a-z]{2,}(?:ed|ly|able|ible|ert|iert)")
TECHNICAL = lazy_pattern(
    r"(?:https?://(?![^/\s]*@)|sha-?\d|base(?:32|58|64)|utf-?\d|oauth|md5|pbkdf2|argon2|rfc-?\d|[rhe]s\d{3}|uuid|\d+-(?:bit|byte|char|hex|digit|day|hour|minute|word)|\d+(?:px|r?em|pt|v[hw])\Z)"
)


def is_phrase(text: str) -> bool:
    """Whether the text can be a passphrase: several words, at most a third of them ordinary or descriptions of one."""
    words = text.split()
    if not 1 < len(words) <= _LONGEST_PHRASE or not all(_PHRASE_WORD.fullmatch(word) for word in words):
        return False
    return sum(describes(word.casefold()) for word in words) * 3 <= len(words)


@lru_cache(4096)
def describes(word: str) -> bool:
    """Whether a word describes a password in any of the languages."""
    if word in WORDS or word in DENIALS or word in TYPES:
        return True
    ordinary = any(word in _descriptions(language)[0] for language in LANGUAGES[:-1])
    return ordinary or bool(PARTICIPLE.fullmatch(word) or TECHNICAL.match(word))


PROSE_LINK = (
    rf"(?i:(?:[ ]\([^(){LINE_END}]{{1,40}}\)(?=[ ]))?"
    rf"(?:[ \t]{{1,4}}(?:for|of|to|on|in|at|from|with|fürs?|vo[nm]|beim?|zu[mr]?|[ai]m)\b[^.:;!?{LINE_END}]"
    r"{1,60}?)?[ \t]{1,4}(?P<sign>is|was|used to be|ha[sd] been|will be|should be|must be"
    r"|ist|war|lautet|heißt|heisst|wird|to|auf)\b[ \t]{0,4}:?[ \t]{0,4}"
    r"(?:(?:now|still|currently|just|simply|actually|set to|changed to|jetzt|nun|noch|übrigens)\b"
    r"[ \t]{1,4}:?[ \t]{0,4})?)"
)
QUALIFIER = (
    rf"(?:(?:\([^(){LINE_END}]{{1,40}}\)|(?<=[ ])(?i:for|from|of|on|to|at|fürs?|vo[nm]|zu[mr])[ ]"
    rf"(?:'[^'{LINE_END}]{{1,80}}'|[^.:;!?={LINE_END}]{{1,40}}?))"
    rf"[ ]{{0,2}}(?=[:=][ ]{{1,2}}(?:[^\s:]{{4,64}}|\"[^\"{LINE_END}]{{4,80}}\")[ \t]*(?:[{LINE_END}]|\Z))"
    rf"|[ ][^.:;!?=()\"'`{LINE_END}]{{2,60}}"
    rf"(?=:[ ](?=[^\s:]*[a-z])[^\s:@~\"'`(/]{{3,60}}\d[^\s:@]{{0,20}}[ \t]*(?:[{LINE_END}]|\Z))"
    r"|(?<=[a-z])[ ](?!(?:Hash|Length|Manager|Policy|Reset|Strength|Type)\b)[A-ZÄÖÜ][\w-]{2,24}"
    rf"(?=:[ ](?=\S*\d)(?=\S*[A-Za-z])[^\s:]{{6,64}}[ \t]*(?:[{LINE_END}]|\Z)))?"
)
"""After a name: "(again)", "for the router" or "Router", if one word follows up to the end of the line."""
GENERATED = (
    rf"(?:[ \t]to[ ][^:{LINE_END}]{{1,60}}:\s{{1,4}}(?=[0-9a-f]{{32}}(?!\w))|"
    rf"[ \t](?:is|was|has been)[ \t](?:generated|created|set)\b[^:{LINE_END}]{{0,60}}:[ \t]{{1,2}}"
    r"(?=\S*[A-Za-z])(?=\S*[\d!#$%&*+?^])(?![a-z]{2,8}://|[/~]|\S+@\S+\.[a-z])(?=\S+\s*?(?:\n|\Z)))"
)
NEW_ONE = (
    rf"[^.;{LINE_END}]{{1,60}}(?:[,;]|(?=[ ]but[ ]))[ ](?i:(?:and|but|und|aber)?[ ]?"
    r"(?:(?:the new one|now it|it)(?:[ ]is|['’]s)(?:[ ]now)?+|das neue (?:ist|lautet)|jetzt ist es))[ ]"
)
"""After a password's name: "is generated for ada:", and the second password in "was x, the new one is y"."""

LOGIN_NAMES = (
    r"log-?ins?|credentials?|creds|zugang(?:sdaten)?|identifiants?|credencia(?:le|i)s|credenziali|ssh(?=[ ]\w{2,13}:)"
    "|(?:inlog|login)gegevens|(?:smtp|imap|ftp)[ -]auth|auth-user-pass"
    "|(?:log-?in|nutzer(?:name)?|user(?:name)?)[ ]?/[ ]?(?:password|passwort|kennwort|pass|pwd?)"
    "|auth_?basic|логин|уч[её]тные данные|ログイン(?:情報)?|登[录入]|로그인|basic_?auth"
)
ROOTS = "root|admin|administrator|pi|ubuntu|postgres"
"""Users whose password follows after a colon, also without a digit."""
LOGIN_ANCHORS = (
    *(f"ssh {user}:" for user in ROOTS.split("|")),
    *("user / p", "username / p", "nutzer / p", "nutzername / p", "user/p", "username/p", "nutzer/p", "nutzername/p"),
    *("smtp auth", "smtp-auth", "imap auth", "imap-auth", "ftp auth", "ftp-auth"),
    *"""login log-in credential creds zugang identifiant credencia credenziali inloggegevens logingegevens
    auth-user-pass auth_basic логин учетные учётные ログイン 登录 登入 로그인 basic_auth basicauth""".split(),
)
GROUPS_AND_TAGS = frozenset(
    """wheel staff users system daemon latest stable slim alpine edge rolling stretch buster bullseye bookworm trixie
    xenial bionic focal jammy noble""".split()
)
"""Words after "root:", "ubuntu:" or "postgres:" that are a group or in the tag of an image, no password."""
THINGS = frozenset(
    """app backup branch build channel device driver feature file folder host image issue model network node plugin
    project release repo server service share task test ticket tool user version volume""".split()
)
"""Words before a name with digits, such as "server" in "plex server Movie2024Remux", that are no account."""
LOGIN_WORDS = frozenset(
    """email e-mail mail phone mobile google github gitlab facebook apple twitter microsoft sso ldap oauth oidc saml
    mobil register registration signup sign-up logout logoff log-out profile join account session cookie form submit
    page screen view home index api web cli gui ssh http https sudo create delete anonymous get post put see link url
    telefon""".split()
)
"""Words in "login: email / phone" that aren't passwords."""

_SK_KINDS = frozenset("proj ant or svcacct admin live test api lf user".split())
# Parts of class names that begin with `sk-`, of scikit-learn's pages and of SpinKit.
_SK_STYLES = frozenset(
    """toggleable container estimator parallel fallback rotating bouncing wandering spinner spinners chasing circle
    fading folding visually hidden content control""".split()
)


def is_sk_key(before: str, match: re.Match[str]) -> bool:
    """Whether `sk-…` is a key, in lower case too if it isn't the name of a style or a package."""
    body = match[1][len("sk-") :]
    if any(letter.isdigit() or letter.isupper() for letter in body[:80]):
        return True
    parts = re.split("[-_]", body)
    if parts[0] in _SK_KINDS:
        return sum(map(len, parts[1:])) >= 8
    return len(parts) == 1 and parts[0] not in _SK_STYLES and before[-1:] not in (".", "#")
