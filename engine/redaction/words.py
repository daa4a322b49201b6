"""Words that tell secrets from other text, in English and other languages."""

TYPES = frozenset(
    """none null nil undefined true false str string bytes bytearray int integer number float double bool boolean any
    unknown object never void secretstr optional union list dict text char varchar buffer symbol type function lambda
    self cls value default
    tuple set frozenset uuid datetime date decimal path json callable iterable iterator sequence mapping enum array
    usize isize u8 u16 u32 u64 i32 i64 f32 f64 char uint size_t long short byte rune error context record bigint
    smallint timestamp blob""".split()
)
"""Values that are types or constants of a programming language."""

WORDS = frozenset(
    """a about above absent accepted active added after again all already also always an and another any are as at
    available bad based be because been before being below better between blank both but by can cannot case changing
    compared correct could cracked current currently defined derived different do does don't easy either empty enough
    enter equal ever every exactly expiring exposed false fetched field fields fine first for forgot from generated get
    given gone good guess guessable handled hard hashed here hidden how however if in incorrect input insecure invalid
    is it its itself just kept known leaked left less like limit long longer lost made masked may me mandatory match
    matched missing more most must my needed never new no non-empty none not now null obvious of off ok okay old on one
    only optional or other our out passed please present protected provided public random read rejected required reset
    right safe same saved secret secure sent set shared short should shown simple so some something still stored strong
    stronger such supplied taken than that the their them then there these they this those through to too true trivial
    typed unchanged under undefined unique unknown unless unset until up updated used useful user valid verified very
    visible was weak what when where whether which who why will with within without working would wrong yes yet you
    your password passwords passwd passphrase token secret key keys username login example placeholder confirm
    confirmation show hide change repeat retype choose forgotten verify manager managers hash hashes prompt length
    option options flag flags argument parameter variable header setting file files strings
    per via ever into over onto upon inside outside during against among across back next end start part
    abgelaufen aber alle als auch auf aus bei bekannt bereits das dem den der des die durch ein eine einem einen einer
    falsch fehlt für geheim gespeichert gesetzt gut hier ich ihr im immer in ist ja jetzt kein keine leer lang mit nach
    nein nicht nie noch notwendig nur ob oder optional richtig schon schwach sehr sein sicher sind so stark um und
    ungültig unbekannt verloren von vom wenn wie wird wurde zu zum zur zwingend erforderlich korrekt""".split()
)
"""Words that follow "password is", "token:" and similar in ordinary text."""

SECRET_KEYS = frozenset(
    """api access secret private auth encryption signing sign master app application client account license licence
    subscription service shared deploy admin openai anthropic aws azure google gemini github gitlab stripe
    sendgrid twilio mistral voyage cohere groq signature hmac jwt webhook bot security crypt decryption""".split()
)
"""The last part of a name before "key" that makes it a secret's name."""

PLAIN_KEYS = frozenset(
    """public pub primary foreign sort cache partition unique composite registry object row index hash dict map shortcut
    hot arrow return enter escape locale translation react lookup group order idempotency routing config answer next
    page max min num eos bos pad unk sep cls mask special start end first last prev previous current per by each
    continuation stop property output input""".split()
)
"""The last part of a name before "key" or "token" that makes it none."""

DENIALS = frozenset(
    """es est son sind is är er on jest je este é è är är não no non nie ne nicht ikke inte
    incorrecta incorrecto obligatoria obligatorio requerida requerido errónea inválida inválido olvidada actual nueva
    incorrect obligatoire requis oublié invalide actuel nouveau incorreta incorreto obrigatória obrigatório inválida
    atual nova errata obbligatoria richiesta dimenticata onjuist verplicht vergeten ongeldig nieuw nieprawidłowe
    wymagane zapomniane nowe felaktigt obligatoriskt glömt fel forkert påkrævet glemt feil salasana väärä pakollinen
    chybné povinné zapomenuté helytelen kötelező gerekli zorunlu unuttum
    неверный неправильный обязательно обязателен забыли должен не и или для от это новый текущий невірний обовʼязково
    must required optional para por per pour pro til för de del della du la el le et y e o ou""".split()
)
"""Words that follow a password's name in ordinary text of other languages."""

FOREIGN_PASSWORD = (
    "passe|mdp|contrase[ñn]y?a|senha|wachtwoord|passord|kodeord|adgangskode|(?<=[öo])senord|has[łl]o|heslo|salasana"
    "|jelsz[óo]|(?<=[şs])ifre|parol[aă]|lozinka|geslo|(?<=mat )khau|(?<=mật )khẩu|(?<=kata )sandi|парол[ьяюаі]|лозинка"
    "|κωδικός(?: πρόσβασης)?|συνθηματικό|סיסמ[האת]|كلمة (?:المرور|السر)|رمز عبور|पासवर्ड|รหัสผ่าน"
)
"""An expression. Where a name has a part before it, that part is not matched."""
FOREIGN_PASSWORD_ANCHORS = tuple(
    """pass mdp contrase senha wachtwoord kodeord adgangskode senord hasło haslo heslo salasana jelsz ifre parol lozinka
    geslo khau khẩu sandi парол лозинка κωδικός συνθηματικό סיסמ كلمة رمز पासवर्ड รหัสผ่าน""".split()
)
IDEOGRAPHIC_PASSWORD = "密码|密碼|口令|暗証番号|合言葉|パスワード|パスフレーズ|비밀번호|패스워드|암호"

PASSES = frozenset(
    """by com tres sur under over en render first second third one two single multi low high band all shadow depth base
    color forward backward back next last prev num max min cur current boarding test tests build compiler optimization
    main extra final half full is did has can will n""".split()
)
"""The last part of a name before "pass" that makes it no password."""

STORES = frozenset(
    """storage local session state event data theme feature flag entity model user item node record document store query
    mutation channel topic metric log env environment variable header param form field column attribute json name
    setting settings option preference prefs i18n label message error status type kind category tag
    metadata meta context scope""".split()
)
"""The last part of a name before "key" where a word after it is the name of something."""

AUTHORIZATION_SCHEMES = frozenset(
    """bearer basic token apikey api-key bot digest negotiate ntlm splunk ssws geniekey dpop hmac hawk oauth key
    discogs sharedkey sharedaccesssignature snyk zoho-oauthtoken aws4-hmac-sha256 private-token jwt""".split()
)
