"""Patterns for codes and keys that people copy, such as seed phrases and recovery codes, and for secrets in addresses.

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re

from engine.base import lazy_pattern
from engine.redaction.non_secrets import is_argument
from engine.redaction.secret_pattern import (
    LAST_WORD,
    LINE_END,
    LINE_PREFIX,
    NOT_IN_PASSWORD,
    SIGN_WITHIN,
    SecretPattern,
    alternates,
    mixes_digits,
    resembles_password,
    value_of,
)
from engine.redaction.secret_words import PLACEHOLDER, ROOTS, THINGS, describes, is_ordinary, is_phrase


def is_seed(before: str, match: re.Match[str]) -> bool:
    """Whether the words after `seed phrase:` are a seed phrase: few of them are words of a description."""
    words = re.findall("[a-z]+", value_of(match).casefold())
    return sum(map(describes, words)) * (6 if match["sign"] is None else 4) <= len(words)


def is_address_password(before: str, match: re.Match[str]) -> bool:
    """Whether the text in `scheme://user:…@` is a password; with a slash in it, only in a database's address."""
    if match[1] is not None:
        return alternates(match[1]) and mixes_digits(match[1])
    if match[2] is None and not _DATABASE.search(before):
        return False
    return not PLACEHOLDER.fullmatch(value_of(match))


def is_address_login(before: str, match: re.Match[str]) -> bool:
    """Whether `…/user:x@host` has a password, not the tag of an image or the line of a file."""
    of_drive = before[-1:] == "/"  # two slashes
    at_host = _HOST.match(match.string, match.end() - 1) is not None or _IMPACKET.search(before) is not None
    clear = of_drive or match["quote"] is not None or (at_host and mixes_digits(value_of(match)))
    return clear and is_argument(before, match)


def is_signature(before: str, match: re.Match[str]) -> bool:
    """Whether `sig=…` or a similar URL parameter is random, or `response=…` belongs to HTTP digest authentication."""
    if match["digest"] is not None:
        start = max(0, match.start() - _LOOK_BACK)
        return "digest" in match.string[start : match.start()].rpartition("\n")[2].lower()
    value = value_of(match)
    if match["random"] is None or (mixes_digits(value) and _HEX.fullmatch(value)):
        return True
    return alternates(value) and sum(map(len, _WORD_OF_NAME.findall(value))) * 2 < len(value)


def is_key_in_groups(before: str, match: re.Match[str]) -> bool:
    """Whether the groups after "key:" are a secret, not a public key's fingerprint, a number or words."""
    value = value_of(match)
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    if not letters:
        return len(value) > len("123456-") * 7
    fingerprint = len(value) > len("ABCD ") * 8 and all(sign in "0123456789abcdefABCDEF -" for sign in value)
    mixed = value.isupper() or any(mixes_digits(f"{group}-") for group in re.split("[ -]", value))
    return (
        digits >= 2
        and mixed
        and not fingerprint
        and re.search(r"(?i:public|primary|foreign|product)[ _-]?\Z", before) is None
    )


def is_network_key(before: str, match: re.Match[str]) -> bool:
    """Whether the word after the name of a wireless network is its key, not a product, a version or a sentence."""
    value = value_of(match)
    if is_ordinary(value) or PLACEHOLDER.fullmatch(value):
        return False
    if match["named"] is not None:
        return mixes_digits(value) or value.isdigit() or match["called"] is not None
    apart = match["apart"] is not None and (mixes_digits(value) or value.isdigit())
    return apart or (mixes_digits(value) and _CHOSEN.fullmatch(value) is not None)


def is_in_brackets(before: str, match: re.Match[str]) -> bool:
    """Whether `password (x)` has a password, not a remark on passwords."""
    value = value_of(match)
    digits, plain = sum(map(str.isdigit, value)), value.isalnum()
    mixed = mixes_digits(value) and (digits > 1 or not plain or len(value) > len("OAuth2") + 1)
    return (
        mixed
        and not (value.islower() and digits == 1)
        and not describes(value.casefold())
        and not _NAMED.fullmatch(value)
    )


def is_answer(before: str, match: re.Match[str]) -> bool:
    """Whether the words after `security answer:` are an answer: a name, or a few words that don't describe answers."""
    words = value_of(match).replace(". ", " ").split()
    return len(words) <= 4 and not is_ordinary(words[0]) and (len(words) == 1 or is_phrase(" ".join(words)))


def is_last_of_login(before: str, match: re.Match[str]) -> bool:
    """Whether the last word of a line, or of three lines, is the password of the account named before it."""
    line = before.rpartition("\n")[2]
    if '"' in line or "\\" in line:
        line = _IN_LINE.split(line)[-1]
    if len(line) >= _LONGEST_ACCOUNT or not (line.strip() or match[0][0] == "\n"):
        return False
    value = value_of(match)
    mixed = alternates(value) and mixes_digits(value)
    if not (mixed or resembles_password(value, known=True)) or _NO_PASSWORD.fullmatch(value):
        return False
    if match[0][0] == "\n":
        lines = _TWO_LINES.search(before)
        line = "" if lines is None else f"{lines[1]} {lines[2]}"
    if line.strip(" \t>*+-:").lower() in _ACCOUNTS.split("|"):
        return mixed or (mixes_digits(value) and SIGN_WITHIN.search(value) is not None)
    account = _ACCOUNT.fullmatch(line)
    if account is None or is_ordinary(account["user"] or "x") or account["user"] in THINGS:
        return False
    known = account["name"] or account["apart"] or account["address"] or account["user"] in ROOTS.split("|")
    return resembles_password(value, known=bool(known))


_LONGEST_ACCOUNT = 48
_NO_PASSWORD = lazy_pattern(
    r"[~^$@/].*|.*@.*|.*\d(?:[GMT]i?B|[kMG]?Hz|[kMG]bit|fps|[kK])(?![a-z]).*|.*%[0-9A-F]{2}.*|\d\d?-\w{3}-\d{4}|[A-Z]?[a-z]+\d{1,3}|[A-Z]{2,6}-?\d[\d.-]*|[a-z\d._/-]+#.*"
    r"|.*[./].*#.*|[*_].*|.*[*_.]|(?:Alt|Cmd|Ctrl|Meta|Shift|Strg|Super|Win)\+.*"
)
"""Names, addresses, dates, anchors, marked text and keyboard shortcuts."""
_ACCOUNTS = (
    "e-mail|mail|gmail|icloud|outlook|paypal|netflix|amazon|ebay|spotify|dropbox|nextcloud|owncloud|nas|wifi|wlan|vpn"
    "|bitwarden|emby|fritzbox|ftp|gitea|gitlab|grafana|imap|jellyfin|jira|keycloak|moodle|mqtt|openwrt|paperless|pihole"
    "|plex|portainer|proxmox|qnap|router|sftp|smtp|steam|synology|truenas|unifi|vaultwarden|webmail|wordpress"
)
_ACCOUNT = lazy_pattern(
    rf"{LINE_PREFIX}"
    r"[ \t>*+\u2022-]*+(?:\d{1,2}[.)][ ]|\[[ x]\][ ])?"
    rf"(?:(?:(?P<name>(?i:{_ACCOUNTS}))(?![\w-])|[\w.:-]+)(?:[ ][\w.-]+){{0,2}}?"
    r"(?:[ ]?[:/,\u2192]|[ ](?:->?|[\u2013\u2014])|)[ \t]{1,3}(?P<user>[a-z][\w.+-]{1,32}+(?!@)|\d{5,12}(?=[ ]/))?)?"
    r"(?(user)|(?P<address>[\w.+-]+@[\w-]+(?:\.[\w-]+)*))(?P<apart>[ ][/\u2013\u2014-])?[ ]?[,:]?[ \t]{0,3}"
)
_TWO_LINES = lazy_pattern(r"(?:\A|\n)[ \t]*([A-Za-z][\w.-]{1,24})[ \t\r]*\n[ \t]*([\w.@+-]{2,40})[ \t\r]*\Z")
_AT_END = r"(?=[\"'`]?[ \t]*(?:[\r\n]|\\+n|\\*\"|\Z))"
_IN_LINE = lazy_pattern(r'\\+n|"')
_RECOVERY_CODES = (
    *(f"{kind}{sign}code" for kind in ("recovery", "backup") for sign in " -_"),
    *("wiederherstellungscode", "notfallcode", "codes de secours", "códigos de respaldo", "códigos de recuperación"),
    *("codici di backup", "kody zapasowe", "резервные коды"),
    *("2fa recovery", "коды восстановления", "备用码", "恢复码", "バックアップコード", "백업 코드"),
)
_BEFORE_CODE = "|".join(
    rf"(?<=(?<!\w){word}code)"
    for word in (
        *(
            f"{kind} "
            for kind in "one-time verification confirmation security authentication login sign-in sms 2fa mfa "
            "two-factor otp door gate alarm garage entry keypad safe lock locker lockbox unlock bike "
            "garage-door alarmanlage homekit setup pairing tablet phone handy voicemail parking "
            "office cellar".split()
        ),
        *"bestätigungs einmal sicherheits verifizierungs anmelde zugangs verificatie digi pass".split(),
        *"einrichtungs kopplungs".split(),
        *(
            f"{of}{sign}"
            for of in "tür haustür tor garagen alarm tresor safe entsperr homekit".split()
            for sign in ("", "-")
        ),
        *("schließfach ", "spind "),
    )
)
_CODE_OF = (
    "de (?:vérification|validation|sécurité|la porte|l['’](?:immeuble|alarme))|immeuble|d['’]entrée|(?:du )?portail"
    "|(?:du )?coffre|porte|alarme"
    "|für (?:die|das|den) (?:haustür|tür|garage|alarmanlage|tor|hoftor|schlüsselsafe|tresor|keller)"
)
_OTHER_CODES = (
    *("clave de la alarma", "code de la carte", "code de la cb"),
    *("one-time password", "one time password", "geheimzahl", "kartenpin"),
    *"验证码 驗證碼 门禁码 認証コード 確認コード 인증번호 인증코드".split(),
)
_FOREIGN_CODES = ("código ", "codigo ", "codice ", "kod ", "код ")
_OPENED = (
    "verifica|seguridad|puerta|portal|portão|porta|alarm|allarme|cassaforte|caja fuerte|cofre|garag|garaj|garaż"
    "|cancello|ingresso|entrada|weryfikacyjny|drzwi|bram|подтверждения|двер|домофон|подъезд|сигнализац|гараж|сейф|domofon"
)
"""Beginnings of words after a code's name in other languages: the thing that the code opens or verifies."""
_A_CODE = (
    r"(\d{4,8}[#*]?|\d{2,4}[#*]\d{2,4}|\d{3}[ -](?:\d\d-)?\d{3}|(?:\d{1,2}[ -]){2}\d{1,2}"
    r"|(?=\d{0,4}[A-Z]\d)[A-Z0-9]{4,6})"
    r"(?![\w-]|[.,:/]\d)"
)
_BEFORE_ITS_NAME = "|".join(rf"(?<=(?<![\d.,:/])(\d{{{length}}})[ ]i)" for length in range(4, 9))
_NAME_WORD = (
    r"(?!(?:for|the|of|on|in|to|and|or|a|as|at|from|with|zip|post|postal|area|country|source|error|status)(?:code)?\b)"
    r"(?:[\w'’-]|\.(?=\w))"
)
"""A character of a word from "is your" up to "code", if the word there does not make it another code."""

_LOCK = lazy_pattern(
    "safe|lock|vault|suitcase|luggage|tresor|schlo[sß]|koffer|spind|coffre|cadenas|caja|candado|cassaforte|lucchetto"
    "|cofre|cadeado",
    re.IGNORECASE,
)
_SEED_WORD = r"(?<![A-Za-z])(?:[A-Za-z][a-z]{2,7}+|[A-Z]{3,8}+)(?![A-Za-z])"
_ITEM = r"(?:(?:\d\d?[.)]|[*•-](?=[ ]))[ ]{0,2})?+[\"'`]?"

_DATABASE = lazy_pattern(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse)(?:\+\w+)?\Z",
    re.IGNORECASE,
)
_HOST = lazy_pattern(r"[\w-]*[\d.][\w.-]*(?![\w(])")
_IMPACKET = lazy_pattern(r"(?:\.py|impacket-\w+|netexec|nxc)[ ][^\n]*\Z")
_LOOK_BACK = 400
_HEX = lazy_pattern(r"[0-9a-f]{16,}")
_WORD_OF_NAME = lazy_pattern(r"[A-Z]?[a-z]{3,}")  # of "InvalidUserNameV2", and rarely of a random value

_WIFI_PRODUCTS = (
    "(?i:access|adapter|antenna|card|chip(?:set)?|controller|dongle|driver|extender|firmware|karte|mod(?:el|em|ule?)|point"
    "|repeater|router|standard|stick|treiber|usb|version)"
)
"""Words after "wifi" before a name of a product or a version."""
_CHOSEN = lazy_pattern(r"[A-Za-z]{5,}\d{2,}|[^/]*[!#$%&*+?^@][^/]*|(?=.*[A-Z])(?=.*[a-z])[^/]*")
_NAMED = lazy_pattern(r"[A-Z]{2,6}-?\d[\d.-]*|.*@.*|\d+[-\u2011]?[a-z]+|v?\d+(?:\.\d+)+\w*")
"""Names of standards, addresses, amounts and versions."""
_LOCKS = "|".join(
    (
        *(
            rf"(?<=(?<!\w){kind})[ -]lock"
            for kind in "bike bicycle gym luggage suitcase cable garage gate door".split()
        ),
        *("keypad", r"(?<![\w-])(?<!be )(?<!fail )safe(?=:)", "lock ?box", "key ?(?:box|safe)", "padlock"),
        *("unlock (?:code|pattern)", "(?:(?<=phone )|(?<=sim )|(?<=tablet ))unlock(?=:)", "fahrradschloss"),
        *("spindschloss", "koffer(?:schloss|code)", "schlüssel(?:box|safe|kasten)"),
    )
)

CODE_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Code of a lock",
        (
            *" lock,-lock,keypad,lockbox,lock box,keybox,key box,keysafe,key safe,padlock,unlock ,unlock:,safe:".split(
                ","
            ),
            *"fahrradschloss spindschloss kofferschloss koffercode schlüsselbox schlüsselsafe schlüsselkasten".split(),
        ),
        rf"(?i:{_LOCKS})(?!\w)(?:[ ](?!(?:rev|model|version|part|item|no)\b)[A-Za-z][\w-]{{0,11}}){{0,3}}?"
        rf"(?:[ ]\d-(?:digit|stellig))?(?:[ ]/)?(?:[ ](?i:code|pin))?(?:[ ]?[:=]|[ ](?:is|ist))?[ ]{{1,2}}"
        rf"(?!(?:19|20)\d\d\b)(\d{{4,6}}[#*]?|\d{{1,2}}(?:-\d{{1,2}}){{2,3}})"
        rf"(?=[ \t]*(?:[{LINE_END}(),;]|\.(?!\d)|\Z))",
        "whole",
    ),
    SecretPattern(
        "Turns of a lock",
        ("left ", "links "),
        r"(?i:left|links)[ ]?(\d{1,2}[,;]?[ ](?i:right|rechts)[ ]?\d{1,2}[,;]?[ ](?i:left|links)[ ]?\d{1,2})(?!\w)",
        "whole",
    ),
    SecretPattern(
        "Answer to a security question",
        ("ty answer", "ret answer", "ty question", "heitsantwort", "heitsfrage"),
        rf"(?i:(?<=securi)ty answer|(?<=sec)ret answer|(?<=securi)ty question\)|(?<=sicher)heits(?:antwort|frage\)))"
        rf"[^:=?.\n]{{0,32}}[:=][ \t]{{1,4}}[\"'`]?([^\s\"'`=:<>{{}}()?][^\"'`=:<>{{}}()?{LINE_END}]{{2,40}}?)"
        rf"(?=[\"'`]?[ \t]*(?:[{LINE_END}]|\Z))",
        "whole",
        is_answer,
    ),
    SecretPattern(
        "Login on a line",
        (LAST_WORD,),
        rf"[ \t\n][\"'`]?([^{NOT_IN_PASSWORD}]{{6,40}}){_AT_END}",
        "whole",
        is_last_of_login,
    ),
    SecretPattern(
        "Password in brackets",
        ("pass", "kennwort"),
        r"(?i:passw(?:or[dt]|d)|passphrase|passcode|kennwort)[ ][(\[]([^\s()\[\]{}<>\"'`,;=:/\\]{6,40})[)\]]",
        "whole",
        is_in_brackets,
    ),
    SecretPattern(
        "Key of a wireless network",
        ("wifi", "wi-fi", "wlan", "ssid", "guest network", "gästenetz"),
        r"(?i:wi-?fi|wlan|ssid|guest network|gästenetz)(?:[ -](?i:code|key|schlüssel):?[ ](\d{8,20})(?!\w)"
        r"|(?:[ ](?:at|in|bei|guest|gast|[A-Z][\w'’]{1,12})){0,2}"
        r"(?:[ \t]?:|[ \t](?:is|ist|heißt|called|named|ssid|network|netz))?[ \t]{1,2}"
        rf"(?:(?P<called>\"[^\"{LINE_END}]{{1,32}}\")"
        rf"|(?!{_WIFI_PRODUCTS}[ \t]{{1,2}}[^/ ])[A-Z][\w.!-]{{1,31}}(?:[ ][\w-]{{1,12}}(?=[ \w-]{{0,26}}[ ]/)){{0,3}})"
        r"(?:(?P<apart>[ \t]/[ \t]|(?<=\")[ \t]{1,2}\")|[ \t]{1,2}|:[ \t]?|,?\s{1,2}(?=(?i:key|schl|clé|pw|psk|wpa)))"
        r"(?:(?P<named>(?i:key|schlüssel|clé|pw|psk|wpa2?))[ \t:]{1,3}[\"'`]?)?(?=\S{8})"
        rf"([^\s\"`]*[^\s\"`.,;:!?…*_)\]”»])(?=[\"'`]?[.,;)]?[ \t]*(?:[{LINE_END}]|\Z)))",
        "whole",
        lambda before, match: match[1] is not None or is_network_key(before, match),
    ),
    SecretPattern(
        "Seed phrase",
        ("seed", "mnemonic", "recovery phrase", "recovery words", "wallet", "bip39", "bip-39"),
        r"(?i:(?:seed|wallet)(?:['’]?s)?(?:[ _-]?(?:phrase|words|backup)|(?P<bare>))"
        r"|(?:mnemonic|bip-?39)(?:[ _-]?(?:phrase|words))?|recovery[ _-](?:phrase|words))"
        r"(?:(?P<sign>[\"']?[ \t]{0,4}[:=]|[ \t]{1,4}(?:is|are|was|ist|lautet)\b:?|\()[\s\"'`\[]{0,20}"
        rf"|[\s\"'`]{{1,8}})(?(bare)(?![*•-])){_ITEM}"
        rf"((?:{_SEED_WORD}[\"'`]?,?[ \t]{{0,3}}(?:\r?\n[ \t]{{0,12}}){{0,2}}{_ITEM}){{11,23}}{_SEED_WORD})(?![\w-])",
        "whole",
        is_seed,
    ),
    SecretPattern(
        "Recovery codes",
        _RECOVERY_CODES,
        rf"(?i:{'|'.join(_RECOVERY_CODES)})(?:e?[sn]|en)?"
        rf"(?:[ \t]{{1,2}}(?:(?:for|für|pour|de|van|of)[^:{LINE_END}]{{1,40}}|[A-Z][\w.-]{{1,20}}(?=:[ ])))?"
        r"(?:[ \t]{0,4}(?P<sign>[:=\uff1a])|[ \t]{1,4}(?P<verb>is|are|ist|lautet|sind|lauten|es|son|sont|est)\b"
        r"|(?=[ \t]{0,8}\r?\n)|(?=[ \t]{1,2}(?=\S*\d)[A-Z0-9][A-Z0-9-]{5}))",
        "whole",
        block="codes",
    ),
    SecretPattern(
        "Code for one use or for a door",
        (
            *("TAN ", "TAN:", "OTP ", "OTP:", "cvv", "cvc", "puk", " otp:"),
            "code:",
            *(f"{letter}code " for letter in " slrmi"),
            *("code d", "code für ", "code imm", "code por", "code cof", "code ala"),
            *_OTHER_CODES,
            *_FOREIGN_CODES,
        ),
        rf"(?:[ ]?(?<![A-Za-z])(?:TAN|(?i:puk|otp))(?![A-Za-z_-])(?P<short>)|(?i:cv[cv])2?(?P<card>)"
        rf"|(?i:{'|'.join(_OTHER_CODES)})"
        rf"|(?i:(?:{'|'.join(_FOREIGN_CODES)})(?:[^\W\d]{{1,6}}['’ ]){{0,2}}(?:{_OPENED}))\w{{0,5}}"
        rf"|[\w ]?(?i:code)(?=[^\n\d]{{1,24}}\d)(?i:{_BEFORE_CODE}|[ ](?:{_CODE_OF})))"
        r"(?P<link>(?:[ ](?i:for|of|to|fürs?|vom|zu[mr])(?:[ ][^\W\d]{2,16}){1,3}(?=[ ]\d{4,8}(?!\w)))"
        rf"|(?<=code)(?:[ ][A-ZÄÖÜ][^\W\d]{{2,16}}(?=[ ]\d{{4,8}}[#*]?(?!\w))"
        rf"|(?:[ ](?!(?i:line|page|path|review|size|length|offset|address)\b)[^\W\d]{{1,16}}){{1,3}}"
        rf"(?=[ ]#?(?!(?:19|20)\d\d\b)\d{{4,8}}[#*]?[ \t]*(?:[{LINE_END}]|\Z)))"
        r"|(?:[ ](?i:at|for|of|in|to|fürs?|am|im|vom|zu[mr])[ ][^:=.\n\d]{1,40}?)?(?:[ \t]{0,4}[:=\uff1a]"
        r"|,?[ ]c['’]est[ ]|[ \t]{1,4}(?:is|ist|lautet|est|es|é|è|jest|это|[—–-])(?=[ \t:]):?)"
        r"|是|[为為]|は|는|은)?[ \t]{0,4}"
        rf"[\"'`*«„“「#]{{0,2}}(?(link)|(?(short)(?=\d{{6}})|(?!(?:19|20)\d\d\b)))(?<![A-Za-z])(?(card)(\d{{3,4}})(?![\w-])|{_A_CODE})",
        "whole",
    ),
    SecretPattern(
        "Code before its name",
        ("s your ",),
        rf"(?:{_BEFORE_ITS_NAME})(?i:s your[ ](?:{_NAME_WORD}{{1,24}}[ ]){{0,4}}?"
        rf"(?:{_NAME_WORD}{{0,20}}code|tan|otp|pin)(?![a-z]))",
        "whole",
    ),
    SecretPattern(
        "Combination of a lock",
        ("ombina", " combo", "zahlenschlo", "armed with ", "unlock", "opens with ", "entsperr"),
        rf"(?i:ombina(?:tion|ison|ción|cion|zione|ção)|[ ]combo(?:[ ]code)?|zahlenschloss"
        rf"|(?P<opens>(?:armed|unlock(?:s|ed)?|opens|entsperr\w{{1,3}})"
        rf"(?:[ ][^\W\d]{{1,12}}){{0,3}}?[ ](?:with|mit)))"
        rf"(?:[ ](?:of|for|to|on|de[lrs]?|d[aou]s?|della|für|vom|zum)[ ][^:=.\d{LINE_END}]{{1,40}}?)?"
        rf"(?:[ \t]{{0,3}}[:=]|[ ](?:is|ist|est|es|è|é|lautet))?[ \t]{{1,2}}[\"'`*]{{0,2}}"
        rf"(\d{{4,8}}#?|(?:\d{{1,2}}[ -]){{2,3}}\d{{1,2}})"
        rf"(?=[\"'`*]{{0,2}}(?:[ \t]*(?:[{LINE_END}]|\Z)|[,;!?)]|\.(?!\d)))",
        "whole",
        lambda before, match: bool(match["opens"] or "-" in value_of(match) or _LOCK.search(before + match[0])),
    ),
    SecretPattern(
        "Key in groups",
        ("secret", "key", "wiederherstellungsschl"),
        rf"(?i:secret|key|wiederherstellungsschlüssel)[\"'*]{{0,2}}(?:[ ]\([^(){LINE_END}]{{1,24}}\))?"
        r"(?:[ \t]?[:=]\*{0,2}|[ ](?:is|ist)|(?=[ ](?:\d{6}-){7}))\s{1,4}[\"'`]?"
        r"((?:[A-Za-z0-9]{4}[ -]){2,15}[A-Za-z0-9]{2,4}|(?:\d{6}-){7}\d{6})(?![\w-])",
        "whole",
        is_key_in_groups,
    ),
    SecretPattern(
        "Password in an address",
        ("://", "sip:", "sips:"),
        r"""(?:://([A-Za-z0-9_-]{12,100}+)@|(?:://|(?<!\w)(?i:sips?):(?=[^\s:@]))[^\s/?#@:"'<>`\\]{0,128}:"""
        r"""(?:([^\s/?#"'<>`\\]{1,256})@|([^\s"'<>`\\@]{1,256})@))""",
        "whole",
        is_address_password,
    ),
    SecretPattern(
        "Login in an address without a scheme",
        (r"/(?=[\w.$-]{1,64}:(?:['\"]|[^\s:/@]{1,64}@[\w-]))",),
        r"/[\w.$-]{1,64}:(?:(?P<quote>['\"])([^'\"\n]{1,64})(?P=quote)|([^\s:/@'\"]{1,64}))@(?!sha\d)[\w-]",
        "whole",
        is_address_login,
    ),
    SecretPattern(
        "Signature of an address",
        (
            *("sig=", "signature=", "hmac=", "code=", "auth=", "ticket=", "jwt=", "session=", "sid=", "/private-"),
            "response=",
        ),
        r"(?:(?<=[?&;\s\"'])(?i:sig)=([A-Za-z0-9%+/=_-]{20,}+)"
        r"|(?:(?<=[?&~;])|(?<=[?&;]X-Amz-)|(?<=[?&;]X-Goog-)|(?<=, )|(?<=q-))(?i:signature|hmac)="
        r"(?=[A-Za-z0-9%+/=_~-]{0,80}?[0-9])([A-Za-z0-9%+/=_~-]{16,}+)"
        r"|(?<=[?&])(?P<random>)(?:code=(?=[^\s&]{16})|(?:sig|auth|ticket|jwt|session|sid)=)([A-Za-z0-9%._~/+-]{10,}+)"
        r"|/private-([0-9a-f]{12,64}+)(?=/)|(?P<digest>)response=\\?[\"']?([0-9a-f]{32,128}+))",
        judge=is_signature,
    ),
)
