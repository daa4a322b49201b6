"""Patterns for secrets in the syntax of code, SQL, a file format, a header or an address.

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re
from functools import cache

from engine.base import lazy_pattern
from engine.redaction.non_secrets import (
    is_argument,
    is_auth_field,
    is_authorization,
    is_block,
    is_code,
    is_element,
    is_named_value,
    is_token,
)
from engine.redaction.secret_pattern import (
    BARE_TOKEN,
    BLANK,
    LINE_END,
    NAME_END,
    QUOTED,
    SIGN,
    SecretPattern,
    alternates,
    mixes_digits,
    value_of,
)
from engine.redaction.secret_words import ANY_PASSWORD, LOGIN_WORDS, PASSWORD_ANCHORS, PLACEHOLDER, is_ordinary
from engine.redaction.service_tokens import LONG_AFTER_COLON, NAMED_SERVICES

_LOOK_BACK = 400
_USER_ABOVE = lazy_pattern(r"(?:\A|\n)[ \t]*(?:user(?:name)?|login|account)[ \t]{1,8}\S{1,40}[ \t]*\r?\n[ \t]*\Z")
_LINE_END = lazy_pattern(r"[ \t]*(?:\r?\n|\Z)")
_MACHINE = lazy_pattern(
    r"\b(?:machine\s{1,8}\S{1,253}|default\s{1,8}login\s{1,8}\S{1,128})(?:\s{1,8}(?:login|account)\s{1,8}\S{1,128}){0,2}\s{1,8}\Z"
)


def is_cookie(before: str, match: re.Match[str]) -> bool:
    """Whether a session's id is the value of a cookie: elsewhere, it gives no access to the session."""
    line = match.string[max(0, match.start() - _LOOK_BACK) : match.start()].rpartition("\n")[2]
    return _COOKIE.search(line) is not None and sum(map(str.isdigit, value_of(match))) > 1


def is_second_argument(before: str, match: re.Match[str]) -> bool:
    """Whether a string after the name of a user is a password."""
    value = value_of(match).lower()
    if match[0].lower().startswith(("login", "authenticate")) and value.rstrip("0123456789") in LOGIN_WORDS:
        return False
    return is_argument(before, match) and value != match["user"][1:-1].lower() and not value.startswith("pass")


def is_argument_of_function(before: str, match: re.Match[str]) -> bool:
    """Whether a string in a call is a password, or a token that is random."""
    value = value_of(match)
    if match["random"] is not None:
        return len(value) >= len("abcdef123456") and mixes_digits(value) and alternates(value)
    described = match[0][:9].lower() == "password(" and before[-1:] == "." and " " in value
    return not described and value[:1] != " " and is_argument(before, match)


def is_form_password(before: str, match: re.Match[str]) -> bool:
    """Whether a string is typed into the field for a password."""
    typed = match["listed"] is None or _TYPING.search(before + match[0][:1]) is not None or "with:" in match[0]
    return typed and is_argument(before, match) and not (match["json"] is not None and " " in value_of(match))


def is_named_service(before: str, match: re.Match[str]) -> bool:
    """Whether a value has the length and alphabet of the keys of the service that is named before it."""
    value = value_of(match)
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    name = _service_name().search(before)
    if name is None:
        return False
    signs, lengths = NAMED_SERVICES[name[1].lower()]
    return len(value) in lengths and re.fullmatch(f"[{signs}]+", value) is not None


@cache
def _service_name() -> re.Pattern[str]:
    names = "|".join(sorted(NAMED_SERVICES, key=len, reverse=True))
    return re.compile(rf"(?<![a-z])({names})[ \t\w.-]{{0,20}}[\"'\s]{{0,3}}\Z", re.IGNORECASE | re.ASCII)


def is_netrc(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `machine … login … password …` (the netrc format) is a secret."""
    text, start, end = match.string, max(0, match.start() - _LOOK_BACK), match.start()
    if _USER_ABOVE.search(before):  # as in the files of msmtp and PPP
        return _LINE_END.match(text, match.end()) is not None and is_argument(before, match)
    if text.rfind("machine", start, end) < 0 and text.rfind("default", start, end) < 0:
        return False  # much faster than the expression
    return _MACHINE.search(text, start, end) is not None and not is_ordinary(value_of(match))


def is_salt(before: str, match: re.Match[str]) -> bool:
    """Whether the value of a salt or a seed is written literally, not as a variable or a call."""
    value = value_of(match)
    if match["sign"] is None:
        return mixes_digits(value) or value.isupper()
    return len(value) >= 6 and value.isascii() and not is_code(value) and is_token(before, match)


_TYPING = lazy_pattern(r"\b(?i:fill|type|enter|set_?value)\w*\([^\n]*\Z")
_STRING = rf"(?:\"[^\"{LINE_END}]{{1,80}}\"|'[^'{LINE_END}]{{1,80}}')"
_LONG_VALUE = r"(?=[\s\"'`=>]{0,5}+(?=[A-Za-z0-9+/=_-]{15})[A-Za-z_/+-]{0,24}[0-9])"
_COOKIE = lazy_pattern(r"(?i:cookie)\\{0,8}[\"']?:|\bcurl\b.{0,300}(?:-b|--cookie)[ \t='\"]{1,3}[^ ]{0,200}\Z")
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_FIELDS = r"(?:\"\w{1,20}\":[ ]?(?:true|false|null|\d{1,9}|\"[^\"\n]{0,60}\"),\s{0,40}){0,4}"
_SECRET_NAME = r"(?i:passw(?:or[dt]|d)|passphrase|passcode|pass|kennwort|pwd|token|secret|key|salt)"

_SQL = lazy_pattern(
    r"\b(?:with|encrypted|user|role|login|set|alter|create|grant|identified)\b[^\n]{0,40}\Z", re.IGNORECASE
)
_ACCOUNT = lazy_pattern(r"\b(?:create|alter|grant)\b", re.IGNORECASE)


def is_sql_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `PASSWORD '…'` in SQL is a secret."""
    value = value_of(match)
    described = match[0].islower() and match["quote"] == '"' and is_ordinary(value)
    return _SQL.search(before) is not None and not described and not PLACEHOLDER.fullmatch(value)


def is_identified(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `IDENTIFIED BY …` in SQL is a secret."""
    value = value_of(match)
    if PLACEHOLDER.fullmatch(value) or (match["quoted"] is None and is_ordinary(value)):
        return False
    return match[0].startswith("IDENTIFIED") or _ACCOUNT.search(before) is not None


SYNTAX_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Password in a .netrc file",
        ("pass", "pwd", "pw"),
        r"(?i:pass(?:w(?:or[dt]|d))?|pwd?)\s{1,8}([^\s\"'`]{1,200}+)(?=[\s\"'`]|\Z)",
        "whole",
        is_netrc,
    ),
    SecretPattern(
        "Secret in XML",
        ("pass", "pwd", "kennwort", "psk", "token", "secret", "key"),
        rf"(?i:passw(?:or[dt]|d)|passphrase|passcode|pass|kennwort|pwd|psk|token|secret|key)"
        rf"(?:\"?(?:[ \t][^<>{LINE_END}]{{1,80}}+)?>\s{{0,40}}(?:<[Vv]alue>)?(?P<quoted>[^<>{LINE_END}]{{1,200}}+)"
        rf"\s{{0,40}}</"
        rf"|</key>\s{{0,40}}<string>([^<>{LINE_END}]{{1,200}}+)</string>"
        r"|</(?P<cell>t[dh]|dt|b|strong|label)>:?\s{0,40}<(?:td|dd|code|span)\b[^<>\n]{0,60}>(?:<code>)?([^<>\s]{3,100})(?=</)"
        rf"|\"[ \t]{{1,4}}value[ \t]?=[ \t]?\"([^\"{LINE_END}]{{1,200}}+)\")",
        "whole",
        is_element,
    ),
    SecretPattern(
        "Secret in a YAML block",
        (*PASSWORD_ANCHORS, "token", "secret", "key"),
        rf"(?=[^:\n]{{2,40}}+:[ \t]{{0,4}}[|>])(?i:{ANY_PASSWORD}|token|secret|key)[\"']?[ \t]{{0,4}}:[ \t]{{0,4}}"
        r"[|>][+-]?[0-9]?[+-]?[ \t]{0,8}\r?\n",
        "whole",
        is_block,
        block="yaml",
    ),
    SecretPattern(
        "List of secrets",
        (
            *("passw", "kennwörter", "zugangsdaten", "tokens", "secrets", "api_key", "api-key", "apikey", "api keys"),
            *("access_keys", "secret_keys"),
        ),
        r"(?i:(?P<password>passw(?:or[dt]s?|ds?|örter)|kennwörter|zugangsdaten)|tokens|secrets"
        r"|(?:api|access|secret)[_ -]?keys?)[\"'`*]{0,3}"
        r"(?:(?:[ \t]{0,4}:[ \t]{0,4}[\w<>\[\]., |]{3,40}(?==))?[ \t]{0,4}:?[:=][ \t]{0,4}"
        r"(?:\[\]string|(?:new[ ])?String\[\]|Set\.of|List\.of|Arrays\.asList|array|set)?[ ]?[\[({]"
        r"(?=\s{0,80}\\{0,8}[\"'`])"
        r"|(?P<below>:?\*{0,2}:?[ \t]{0,8}\r?\n(?:[=-]{3,80}[ \t]{0,8}\r?\n)?(?:[ \t]{0,8}\r?\n)?)"
        r"(?=[ \t>+]{0,40}(?:[*+-][ ]|[A-Za-z])[^\n]{4}))",
        "whole",
        block="list",
    ),
    SecretPattern(
        "Logins of cloud-init",
        ("chpasswd:",),
        r"chpasswd:[ \t]*\r?\n(?:[ \t]{1,8}expire:[ ]\w{4,5}[ \t]*\r?\n)?[ \t]{1,8}list:[ ]?[|>]?-?[ \t]*\r?\n",
        "whole",
        block="yaml",
    ),
    SecretPattern(
        "Secret of Kubernetes",
        ("secret",),
        r"Secret(?:(?:(?<=kind:[ ]Secret)|(?<=kind:[ ][\"']Secret)[\"'])[ \t]*(?:#[^\r\n]*)?(?:\r?\n|\Z)"
        r"|(?:(?<=kind\":\"Secret)|(?<=kind\":[ ]\"Secret)|(?<=kind\\\":\\\"Secret)|(?<=kind\\\":[ ]\\\"Secret))"
        r"\\?\"(?P<json>))",
        "whole",
        block="manifest",
    ),
    SecretPattern(
        "Secret of Kubernetes",
        ("secret",),
        r"Secret(?P<escaped>)(?:(?<=kind:[ ]Secret)|(?<=kind:[ ]'Secret)'|(?<=kind:[ ]\\\"Secret)\\\""
        r"|(?<=kind:[ ]\\\\\\\"Secret)\\\\\\\")[ \t]*(?:#(?:[^\"\\\r\n]|\\+(?![nr\\])[^\r\n]){0,200}+)?(?=\\+[nr]|\")",
        "whole",
        block="manifest",
    ),
    SecretPattern(
        "Login in base64",
        ('"auth"', "_auth", "dockerconfigjson", "sonar.login", "BW_SESSION"),
        rf"(?:sonar\.login|BW_SESSION|_auth(?i:token)?|\"auth|dockerconfigjson){NAME_END}{SIGN}(?:{QUOTED}|{BARE_TOKEN})",
        "whole",
        is_auth_field,
    ),
    SecretPattern(
        "Pair of a name and a value",
        ("pass", "kennwort", "pwd", "token", "secret", "key", "salt"),
        rf"""{_SECRET_NAME}(?:[_-]?\d{{1,2}})?\\{{0,8}}(?:["']?,?\s{{1,40}}|["'],){_FIELDS}\\{{0,8}}["']?(?:(?i:value)\\{{0,8}}["']?"""
        rf"""[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{QUOTED}|([^\s"'`,{{}}\[\]]++))"""
        rf"""|(?<=['"])(?P<listed>)(?P<string>[^'"{LINE_END}]{{4,200}}+)['"][ \t]{{0,4}}[,)])""",
        "whole",
        is_named_value,
    ),
    SecretPattern(
        "Session cookie",
        ("session=", "sessionid=", "session_id=", "sessid=", "sid="),
        r"(?i:session(?:_?id)?|sessid|sid)=([A-Za-z0-9%._~+/:-]{12,}+)",
        judge=is_cookie,
    ),
    SecretPattern(
        "Password in a call",
        (
            *"auth= basicauth networkcredential login authenticate set_password username_pw_set wifi.begin".split(),
            *"mysqli_connect drivermanager ::connect ldap_bind ldap3.connection sql.connect sqldb.connect".split(),
            *("sp_addlogin ", "new pdo", "new sequelize", "new mysqli", ".auth = "),
        ),
        rf"(?i:auth=\(|\.auth = \(|basicauth\(|networkcredential\(|\b(?:login|authenticate)\(|sp_addlogin "
        rf"|username_pw_set\(|wifi\.begin\("
        rf"|set_password\((?:\"[^\"{LINE_END}]{{1,80}}\"|'[^'{LINE_END}]{{1,80}}'|\w{{1,40}}),[ ]?"
        rf"|(?:new pdo|new (?:sequelize|mysqli)|mysqli_connect|ldap_bind|ldap3\.connection"
        rf"|drivermanager\.getconnection|::connect|sql(?:db)?\.connect)"
        rf"\([^,()\"'{LINE_END}]{{0,80}}"
        rf"(?:\"[^\"{LINE_END}]{{1,120}}\""
        rf"|'[^'{LINE_END}]{{1,120}}')?,)[ \t]{{0,4}}(?P<user>\"[^\"{LINE_END}]{{1,64}}\"|'[^'{LINE_END}]{{1,64}}'),"
        rf"[ \t]{{0,4}}{QUOTED}(?=[ \t]{{0,4}}[,);{LINE_END}]|\Z)",
        "whole",
        is_second_argument,
    ),
    SecretPattern(
        "Password for a function",
        (
            *"password .token .apikey .api_key hashpw bcrypt. argon2. create_user create_superuser createuser".split(),
            *"hmac.new createhmac jwt. hash_hmac fernet aes.new".split(),
        ),
        rf"(?i:(?:(?<=make_)|(?<=hash_)|(?<=generate_)|(?<=hash))password(?:_hash)?\(|password_hash\(|hashpw\("
        rf"|(?:bcrypt|argon2)\.(?:hash|verify|compare)(?:sync)?\("
        rf"|hmac\.new\(|fernet\(|aes\.new\("
        rf"|(?:createhmac|jwt\.(?:encode|decode|sign|verify))\((?:{_STRING}|[^,()\"'{LINE_END}]{{1,80}}),[ ]?"
        rf"|hash_hmac\((?:{_STRING},[ ]?|[^,()\"'{LINE_END}]{{1,80}},[ ]?){{2}}"
        rf"|create_?(?:super)?user\((?:{_STRING},[ ]?){{2}}"
        rf"|(?:(?<=set_)|(?<=check_)|(?<=verify_)|(?<=set))password\("
        rf"(?:{_STRING},[ ]?(?=[\"'])){{0,2}}"
        rf"|(?:(?<=\.)|(?<=string[ ]))password\(|\.(?P<random>)(?:api_?key|token)\()"
        rf"{QUOTED}(?=[ ]?[,)])",
        "whole",
        is_argument_of_function,
    ),
    SecretPattern(
        "Password for a form",
        ("pass", "pwd", "kennwort"),
        rf"(?i:passw(?:or[dt]|d)|pass|pwd|kennwort)(?:[_-]?\w{{1,9}})?"
        rf"(?:(?:[ ]\w{{1,12}}){{0,2}}\"(?P<json>)(?:,[ ]?\"\w{{1,12}}\":[ ]?\"[^\"{LINE_END}]{{0,60}}\"){{0,4}}"
        rf",[ ]?\"(?:value|text)\":[ ]?(?=\")"
        rf"|\]?(?:/i|[\"'`]\]?[\"'`]?)\)?(?:(?P<listed>),[ ](?:with:[ ]?|(?:value|text)=)?"
        rf"|\)?\.(?i:fill|type|send_?keys|set_?value|val"
        rf"|press_?sequentially)\([ ]?|\)?\.value[ ]?=[ ]?)){QUOTED}",
        "whole",
        is_form_password,
    ),
    SecretPattern(
        "Salt or seed of one-time passwords",
        ("salt", "seed"),
        rf"(?:SALT|(?i:(?:(?<=(?:otp|mfa|2fa)[_ -])|(?<=otp))seed))(?:{NAME_END}{SIGN}|[ ]is[ ](?=\S{{16}}))"
        rf"(?:{QUOTED}|{BARE_TOKEN})",
        judge=is_salt,
    ),
    SecretPattern(
        "Login of Emacs",
        ("auth-credentials",),
        rf"auth-credentials\s{{1,8}}'?\(\((?:\"[^\"{LINE_END}]{{1,80}}\"|\d{{1,5}})\s{{1,8}}(?:\d{{1,5}}\s{{1,8}})?"
        rf"\"[^\"{LINE_END}]{{1,80}}\"\s{{1,8}}{QUOTED}",
        "whole",
        is_argument,
    ),
    SecretPattern(
        "Login in a map of Postfix",
        ("static:", "inline:"),
        rf"(?<![\w:])(?:static:|inline:\{{[ ]?[^{{}}={LINE_END}]{{1,100}}=)[\w.@+-]{{1,64}}:([^\s:{{}}\"']{{4,}}+)",
        "whole",
        is_argument,
    ),
    SecretPattern(
        "Key of a wallet or of one-time passwords",
        (
            *("otpauth-migration:", r"\{(?=S?SHA|SMD5)", *(f"{kind}prv" for kind in "xyzt")),
            rf"5(?<![A-Za-z0-9]5)[HJK](?={_BASE58}{{49}}(?![A-Za-z0-9]))",
        ),
        rf"(?:5{_BASE58}{{50}}|[xyzt]prv{_BASE58}{{107}}|otpauth-migration://offline\?data=([A-Za-z0-9%+/=_-]{{16,}}+)"
        r"|\{(?:SHA|SSHA(?:256|512)?|SMD5)\}([A-Za-z0-9+/]{20,}+={0,2}))",
        "whole",
    ),
    SecretPattern(
        "Password in SQL",
        ("pass",),
        rf"(?i:pass(?:word(?:[ \t]{{1,4}}for[ \t]{{1,4}}\S{{1,128}})?|wd|(?=[ ]?=[ ]?(?:md5|sha\d{{0,3}})\()))"
        rf"[ \t]{{0,4}}(?:\([ \t]{{0,4}}|=[ \t]{{0,4}}(?:(?i:md5|sha\d{{0,3}}|(?:en|pwden)?crypt)\()?"
        rf"|\s{{1,2}}[ \t]{{0,40}})N?{QUOTED}",
        "whole",
        is_sql_password,
    ),
    SecretPattern(
        "Password after IDENTIFIED BY",
        ("identified ",),
        r"(?i:identified\s{1,8}(?:with\s{1,4}\S{1,64}\s{1,4})?by\s{1,8}(?:(?:values|password)\s{1,4})?)"
        rf"(?:{QUOTED}|([^\s\"'`;,()]++))",
        "whole",
        is_identified,
    ),
    SecretPattern(
        "Key of an encrypted database",
        ("pragma ", "attach ", "create secret", "create persistent secret", "pgp_sym_", "aes_encrypt", "aes_decrypt"),
        rf"(?i:pragma{BLANK}(?:re)?key[ ]{{0,4}}=[ ]{{0,4}}"
        rf"|(?:pgp_sym|aes)_(?:en|de)crypt\((?:{_STRING}|[^,'\"{LINE_END}]{{1,80}}),[ ]?"
        rf"|attach{BLANK}(?:database{BLANK})?['\"]?[^\s'\"]{{1,200}}['\"]?{BLANK}as{BLANK}\S{{1,60}}{BLANK}key{BLANK}"
        rf"|create[ ](?:persistent[ ])?secret\b[^;]{{1,400}}?[(,]\s{{0,40}}secret[ ]){QUOTED}",
        "whole",
        lambda _, match: not PLACEHOLDER.fullmatch(value_of(match)),
    ),
    SecretPattern(
        "Authorization header",
        ("authorization",),
        r"""(?i:authorization)\\{0,8}["'`]?[ \t]{0,8}[:=][ \t]{0,8}\\{0,8}["'`]?"""
        r"""(?:(?P<scheme>[A-Za-z][A-Za-z0-9-]{1,30})(?:[ \t]{1,8}(?=\S)|\r?\n[ \t]{1,8}(?=\S{16}))"""
        r"""|(?=[^\s"']{0,80}?[0-9]))"""
        r"""([^\s"'`\\,;<>{}$]{4,}+)""",
        judge=is_authorization,
    ),
    SecretPattern(
        "Key by the name of its service",
        (f"={_LONG_VALUE}", LONG_AFTER_COLON),
        r"[=:][\s\"'`=>]{0,5}+([A-Za-z0-9+/=_-]{15,91}+)",
        judge=is_named_service,
    ),
)
