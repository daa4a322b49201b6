"""Patterns for secrets that are recognised by the text around them.

That is a name before a sign, an option or a sentence. Any text may be a secret there, so a function checks each match.
`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re

from engine.redaction.non_secrets import (
    is_code,
    is_entry_of_words,
    is_foreign_password,
    is_ideographic_password,
    is_key,
    is_option_password,
    is_option_token,
    is_password,
    is_password_in_prose,
    is_personal_token,
    is_short_password,
    is_token,
    is_token_in_prose,
)
from engine.redaction.secret_pattern import (
    BARE_PASSWORD,
    BARE_TOKEN,
    BLANK,
    LINE_END,
    NAME_END,
    QUOTED,
    SIGN,
    SecretPattern,
    alternates,
    is_path,
    is_random,
    mixes_digits,
    secret_span,
    value_of,
)
from engine.redaction.secret_words import (
    ANCHORS,
    ANY_PASSWORD,
    AS_ENGLISH_PASSWORD,
    AS_PASSWORD,
    CHOSEN,
    FOREIGN_LINK,
    GENERATED,
    GROUPS_AND_TAGS,
    IDEOGRAPHIC_NAMES,
    LOGIN_ANCHORS,
    LOGIN_NAMES,
    LOGIN_WORDS,
    NAMES,
    NEW_ONE,
    PASSWORD_ANCHORS,
    PROSE_LINK,
    QUALIFIER,
    ROOTS,
    is_ordinary,
)

_PASSWORD_NAME = r"(?i:passw(?:or[dt]|d)|passphrase|passcode|kennwort|pwd|(?<!\w)pw(?=[ ]))"
_OPTION = rf"""(?:{BLANK}|(?P<next>["'],\s{{0,20}})(?=["']))"""
_CHOICE = (
    r"(?:(?<=(?i:als passwort|als kennwort))[ ](?:einfach|bitte|habe? ich|nahm ich|nehme ich|nutze ich|verwende ich)[ ]"
    r"|[ ]be\?[\"']?[ ]?(?:[·:→=]|->)[ ]?|(?P<before>)[ ](?=[\"“„'`]))"
)
"""Between the name of a password and a word that was chosen, such as the answer to a query."""
_PIN = r"(?:(?<![a-z])(?:pin(?:[ -]?(?:code|number))?|(?-i:PIN[12]))|(?<!\w)пин(?:-?код)?)"
_TYPED = r"(?!\*{3}(?![\w*]))[“\u2018„«*_(\[]{0,4}"
_IDEOGRAPHS = r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
_IDEOGRAPHIC_END = (
    r"(?=です|でした|だ[よね]?(?!\w)|입니다|이에요|예요|이야|[ \t]*(?:[\r\n]|\Z)|[\u3000-\u3002\uff01-\uff1b!,.;)])"
)
_VALUE_BEFORE = "|".join(
    form.replace("4", str(length))
    for form in (
        rf"""(?<=(?<![^\s(])["'`“„«\u2018]([^"'`“”„«»{LINE_END}]{{4}})["'`”“»\u2019][ ])""",
        r"""(?<=(?<![^\s(])(\S{4})[ ])|(?<=(?<![!-~])([!-~]{4}))(?![ -~])""",
    )
    for length in range(4, 26)
)
"""A word or a quoted string before the anchor: a look-behind has one length."""
_BARE_IN_PROSE = r"""([^\s"`]*[^\s"`.,;:!?…*_)\]”»\\])"""
_END_OF_PHRASE = (
    rf"(?=[\"'`”»]?(?:[.,;:!?)]{{0,3}}[ \t]*(?:[{LINE_END}]|\Z)|[.,;:!?)]{{1,3}}\s"
    r"|[ \t](?i:after|am|and|at|auf|bei|but|for|from|für|i[fmn]|nach|o[nr]|then|to|und|when|while|yesterday)\b))"
)
"""Follows a value that isn't part of a name, as `ed25519` in `ed25519 key` is."""
_VERSION = re.compile(r"[A-Z]{2,6}\d[\d.]*|(?i:android|exchange|ios|mac ?os|microsoft|office|windows)\d[\d.]*")
"""Matches names of standards and products with their version, such as SAML2.0 and Office365."""


def is_password_before(before: str, match: re.Match[str]) -> bool:
    """Whether the word or string before `as the password` is a password."""
    value, start = value_of(match).strip("()[],.;:"), secret_span(match)[0]
    if is_ordinary(value) or is_code(value):
        return False
    quoted = match.string[max(0, start - 1)] in "\"'`“„«\u2018"
    return quoted or (not is_path(value) and (mixes_digits(value) or CHOSEN.search(before) is not None))


def is_change(before: str, match: re.Match[str]) -> bool:
    """Whether a sentence names an old and a new password: one of them has a digit or is in quotes."""
    both = match["old"], match["new"]
    plain = any(is_ordinary(word) or is_code(word) or is_path(word) for word in both)
    return not plain and any(mixes_digits(word) or word[0] in "\"'`“„«" for word in both)


def is_login(before: str, match: re.Match[str]) -> bool:
    """Whether the word after `login: user / …` can be a password: no file, no address, no other way to log in."""
    value, user = value_of(match), match["user"]
    if is_ordinary(value) or is_code(value) or "/" in value or "@" in value or value.isdigit():
        return False
    of_root = user in ROOTS.split("|") and match["sign"] == ":"
    if of_root and not GROUPS_AND_TAGS.isdisjoint(re.split(r"[-.\d]+", value)):
        return False
    if value.rstrip("0123456789").casefold() in LOGIN_WORDS:
        return False
    if mixes_digits(value):
        bare = match["told"] is not None or (match["bare"] is not None and match["sign"] == "/")
        return not bare or not value[:-1].isalpha()  # a word with one digit at its end, as in `login user/page2`
    if "@" in user:
        return match["bare"] is None
    if of_root:
        return value.isalpha() and len(value) >= 5
    plain = (
        user.isalpha()
        and value.isalpha()
        and value.isascii()
        and {user.casefold(), value.casefold()}.isdisjoint(LOGIN_WORDS)
    )
    plain = plain and match["said"] is None  # logged in with Chrome / Firefox
    return plain and not is_ordinary(user) and match["sign"].endswith("/") and len(value) >= 4 and value[1:].islower()


CONTEXT_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Password by name",
        ("pass", "kennwort", "pwd"),
        rf"{_PASSWORD_NAME}(?:{NAME_END}{QUALIFIER}{SIGN}|(?<=:password)(?<!:type :password)[ \t]{{1,4}}(?=[\"'])"
        r"|(?P<lisp>)[ ](?=\"[^\"\n]{3,100}\"\))"
        rf"|(?P<property>)[ \t]{{1,40}}(?=\S{{4,100}}[ \t]*(?:[{LINE_END}]|\Z)))"
        r"(?P<instead>[\w.$]{1,60}+(?:[(\[][\"'][\w.-]{1,60}[\"'][)\]]?)?(?:[ \t](?:\|\||\?\?|or)|,)[ \t]?(?=[\"'`]))?"
        rf"(?:\{{\s{{0,20}}[\"']value[\"']:\s?|(?:String::from|(?:non)?sensitive|base64encode|Secret(?:Str(?:ing)?)?(?:::new)?|[\w.]{{0,40}}(?:[hH]ash|[cC]rypt|make_password)\w{{0,16}}(?=\([\"']))\()?"
        rf"(?:{QUOTED}|{BARE_PASSWORD})",
        "whole",
        is_password,
    ),
    SecretPattern(
        "Token or secret by name",
        ("token", "secret"),
        rf"(?i:token|secret(?P<id>_id)?)(?:{NAME_END}|[ ]\([^(){LINE_END}]{{1,24}}\)"
        rf"|[ ][\"'`][\w.-]{{1,24}}[\"'`](?=:)){SIGN}(?:{QUOTED}|{BARE_TOKEN})",
        judge=lambda before, match: is_token(before, match) if match["id"] is None else is_random(value_of(match), 6),
    ),
    SecretPattern(
        "Key by name",
        ("key",),
        rf"(?i:key(?:_base)?){NAME_END}(?:\((?:hex|base64|raw)\)|\[(?:None|\*[\w*]{{0,24}})\])?{SIGN}(?:[\"']?base64:(?=[A-Za-z0-9+/]{{20}}))?(?:{QUOTED}|{BARE_TOKEN})",
        judge=is_key,
    ),
    SecretPattern(
        "Password on a command line",
        ("pass", "-pw "),
        rf"(?<=[-_])(?i:passwo?r?d|passphrase|(?<=-)-pw|(?:(?<=--)pass|(?-i:(?<=_)PASS))(?=[ \t\"'][^\d\s]))"
        rf"{_OPTION}(?:{QUOTED}|{BARE_PASSWORD})",
        "whole",
        is_option_password,
    ),
    SecretPattern(
        "Token on a command line",
        ("token", "secret", "key"),
        rf"(?:(?<=[-_])|(?<=--auth)|(?<=[a-z])(?=[STK]))(?<!config set --)(?i:token|secret|key)"
        rf"{_OPTION}(?:{QUOTED}|{BARE_TOKEN})",
        judge=is_option_token,
    ),
    SecretPattern(
        "Password in speech",
        ("pass", "kennwort", "pwd", "pw"),
        rf"{_PASSWORD_NAME}(?:{GENERATED}|{NEW_ONE}|[\"'`]?{PROSE_LINK}|{_CHOICE}){_TYPED}(?:{QUOTED}|(?<=[„“«])(?P<typed>[^”“»{LINE_END}]{{1,200}}+)[”“»]"
        rf"|{_BARE_IN_PROSE})",
        "whole",
        is_password_in_prose,
    ),
    SecretPattern(
        "Changed password",
        ("pass", "kennwort", "pwd"),
        rf"{_PASSWORD_NAME}(?:[ ](?:was[ ])?(?:changed|updated|reset|rotated))?[ \t]{{1,2}}(?:from|von)[ \t]{{1,2}}"
        rf"(?=(?P<old>[^\s,;:]{{4,64}})[ \t]{{1,2}}(?:to|auf|in|zu)[ \t]{{1,2}}(?P<new>[^\s,;:]{{4,64}}))"
        r"(\S+[ \t]+\S+[ \t]+[\"'“„«]?[^\s,;:\"'”»\\]*[^\s,;:.!?)\"'”»\\])",
        "whole",
        is_change,
    ),
    SecretPattern(
        "Passphrase in speech",
        ("pass",),
        rf"(?i:pass[ -]?phrase)(?:(?:[ ](?i:for|of|to|für)[ ][^:=.'\"{LINE_END}]{{1,40}}(?:'[^'{LINE_END}]{{1,80}}')?)?"
        rf"[ \t]{{0,4}}(?P<sign>[:=])[ \t]{{0,4}}|{PROSE_LINK.replace('<sign>', '<verb>')})"
        rf"(?![\"'`„“«*_])((?:[^{LINE_END}.!?;\"“”»]|[.!?;](?=[^\s\"'“”»])){{1,400}}+)",
        "whole",
        is_password_in_prose,
    ),
    SecretPattern(
        "Login in speech",
        (*LOGIN_ANCHORS, "log in with ", "logged in "),
        rf"(?:(?P<told>(?i:log-?in)[ ](?=[a-z][\w.-]{{1,31}}(?:[ ]/[ ]|:)"
        rf"(?=\S*[a-z])(?=\S*\d)\S{{6}}))|(?i:log(?:ged)?[ ]in[ ]with\b|logged[ ]in(?=[ ]\()|{LOGIN_NAMES})"
        rf"(?:(?P<said>(?<=with)|[ ](?:(?:failed|denied|error|fehlgeschlagen)(?:[ ]for)?[ :]{{1,2}})?\()"
        rf"|(?:[ ](?i:for|to|fürs?|zum|beim?|am|of)\b[^:=\n]{{1,40}}?)?[ \t]{{0,4}}[:=\uff1a]"
        rf"|[ \t]{{1,4}}(?i:is|are|with|ist|sind|mit|sont|avec|son|sono|con)\b"
        rf"|[ \t]{{1,4}}(?=(?:{ROOTS}):|(?P<bare>(?:{ROOTS})/\S*\d"
        rf"|[\w.+-]{{1,64}}@[\w-]{{1,40}}\.[\w.-]{{2,40}}(?::|[ ]/[ ])))))"
        rf"[ \t]{{0,4}}[\"'`]?(?P<user>[^\s/:,;=\"'`()<>]{{1,64}})"
        rf"(?P<sign>[ \t]{{0,2}}/|:|(?:(?<=[a-z]\.[a-z]{{2}})|(?<=[a-z]\.[a-z]{{3}}))(?:,|[ ]:(?=[ ])))[ \t]{{0,2}}"
        rf"(?:([^\s@]{{4,64}}+)(?=@\w)"
        rf"|{_BARE_IN_PROSE}(?=[!?]{{0,3}}[\"'`]?(?:(?(bare)[ \t]|(?(told)[ \t]|"
        rf"(?(said)[ ](?:and|but|on|at|und|auf)\b|(?!))))"
        rf"|[ \t]*(?:[{LINE_END}.,;)]|\Z))))",
        "whole",
        is_login,
    ),
    SecretPattern(
        "Login of two words",
        ("login ",),
        rf"(?i:login)[ ]([a-z][\w.-]{{1,31}})[ ](?=\S*[A-Z])(?=\S*[a-z])"
        rf"(?=[^\s\d]*\d\S*[\d!#$%&*+?^_]|[^\s!#$%&*+?^_]*[!#$%&*+?^_]\S*\d)"
        rf"([^\s\"'`()<>/]{{6,64}})(?=[ \t]*(?:[{LINE_END}]|\Z))",
        "whole",
        lambda _, match: (
            not (match[1] in LOGIN_WORDS or is_ordinary(match[1]) or is_path(match[2]) or _VERSION.fullmatch(match[2]))
        ),
    ),
    SecretPattern(
        "Login in a sentence",
        ("in as ", "angemeldet als ", "anmelden als "),
        rf"(?i:in as|anmelden als|angemeldet als)[ ][\"'`]?[\w.@+-]{{1,64}}[\"'`]?[ ]"
        rf"(?i:(?:with|using|mit)[ ](?:(?:the|das|dem)[ ])?(?:pass(?:word|wort)[ ])?"
        rf"|(?:and|und)[ ](?:(?:the|das|dem)[ ])?pass(?:word|wort)[ ])[\"'`]?{_BARE_IN_PROSE}{_END_OF_PHRASE}",
        "whole",
        lambda _, match: (
            mixes_digits(value_of(match))
            and not (is_path(value_of(match)) or value_of(match)[:-1].isalpha() or _VERSION.fullmatch(value_of(match)))
        ),
    ),
    SecretPattern(
        "Password before its name",
        ("as (?=(?:[A-Za-z-]{1,14} ){0,3}(?:passw|passphr|passco|pwd?\\b))", *AS_PASSWORD),
        rf"(?:{_VALUE_BEFORE})(?i:{AS_ENGLISH_PASSWORD}|{'|'.join(AS_PASSWORD)})(?![a-z])"
        r"(?![ \t-](?:hash|field|manager|prompt|input|file|grant|store|back|algorithm|protect"
        r"|encrypt|recover|reset|option|policy))",
        "whole",
        is_password_before,
    ),
    SecretPattern(
        "Token in other languages",
        ("clé ", "clave ", "chave ", "chiave ", "token", *"токен ключ 令牌 密钥 密鑰 キー トークン 토큰 키는".split()),
        r"(?i:(?:cl(?:é|ave|iave)|ch(?:ave|iave)(?=[ \t]))(?:[ \t]\w{1,24}(?:['’]\w{0,12})?){0,4}?"
        r"|token|токен\w?|ключ(?:[ \t]api)?|令牌|密[钥鑰]|キー|トークン|토큰|키(?=는))"
        r"[\"'`*]{0,3}[ \t]{0,4}(?:[:=\uff1a]|是|[为為]|は|는|은|(?<=[ \t])[—–-](?=[ \t])"
        r"|(?:es|est|é|è|это)(?=[ \t]))[ \t]{0,4}[\"'`«]?"
        r"([A-Za-z0-9_-]{8,}+)",
        judge=lambda _, match: mixes_digits(value_of(match)) and alternates(value_of(match)),
    ),
    SecretPattern(
        "Password of several words",
        PASSWORD_ANCHORS,
        rf"(?!passwd:)(?i:{ANY_PASSWORD})[\"'*]{{0,3}}[ \t]{{0,4}}[:\uff1a]\*{{0,2}}[ \t]{{1,8}}"
        rf"((?:[^\s\"'`:]{{1,40}}+[ \t]{{1,3}}){{1,29}}[^\s\"'`:]{{1,40}}+)(?=[ \t]{{0,4}}(?:[{LINE_END}]|\Z))",
        "whole",
        is_entry_of_words,
    ),
    SecretPattern(
        "Token or pin in speech",
        ("token", "key", "secret", "seed", "pin", "pincode", "пин"),
        rf"(?i:token|key|secret|{_PIN}){PROSE_LINK}{_TYPED}(?:{QUOTED}|{_BARE_IN_PROSE})"
        rf"|(?i:{_PIN})(?:[ ]\([^(){LINE_END}]{{1,24}}\))?[ \t]{{0,4}}[:=][ \t]{{0,4}}([0-9]{{4,12}}+)(?![\w.:,;-])"
        rf"|(?i:{_PIN})(?:[ \t][^\W\d][\w-]{{1,15}}){{0,4}}(?:[ \t]?:|[ \t](?:es|est|è|é|is|ist|lautet|to|auf))"
        r"[ \t]{1,2}([0-9]{4,8}+)(?![\w:-]|[.,]\d)"
        r"|(?:PIN(?:[ ][A-Z]\w{2,16})?|(?i:pin-?code|(?<!\w)пин(?:-?код)?(?:[ ]\w{2,12})?))[ \t]{1,2}"
        rf"(?!(?:19|20)\d\d\b)([0-9]{{4,8}}+)(?![\w:-]|[.,]\d)"
        rf"|(?<![a-z_])pin[ ](?!(?:19|20)\d\d\b)([0-9]{{4,8}}+)(?=[ \t]*(?:[{LINE_END},;)]|\.(?!\d)|\Z))"
        rf"|(?i:token|key|secret|(?<=fa[ ])seed|(?<=otp[ ])seed)(?P<adjacent>)"
        rf"(?:[ ](?:for|from|of|on|to|you|we|I|für|vom|von|zum)[ ][^.:;!?=,(\"{LINE_END}]{{1,40}}:)?"
        rf"[ \t]{{1,4}}[\"'`]?([A-Za-z0-9][\w~.-]{{10,}}+(?<=\w))(?![\w/-])",
        judge=is_token_in_prose,
    ),
    SecretPattern(
        "Short password name",
        ("pass", "pw", "psk", "authtok"),
        rf"(?i:pass|pw|psk|authtok){NAME_END}{QUALIFIER}{SIGN}(?:{QUOTED}|{BARE_PASSWORD})",
        "whole",
        is_short_password,
    ),
    SecretPattern(
        "Password in other languages",
        ANCHORS,
        rf"(?P<name>(?i:{NAMES})){NAME_END}(?:{SIGN}|{FOREIGN_LINK})(?:{QUOTED}|{BARE_PASSWORD})",
        "whole",
        is_foreign_password,
    ),
    SecretPattern(
        "Password in Chinese, Japanese or Korean",
        tuple(IDEOGRAPHIC_NAMES.split("|")),
        rf"""(?:{IDEOGRAPHIC_NAMES})["'`*]{{0,3}}[ \t]{{0,4}}"""
        r"""(?:(?P<weak>が|を|이|가|를)|は|就?是|[设設改]?[为為]|[改换換变變]成了?|는|은|[:=\uff1a\uff1d]"""
        r"""|(?P<adjacent>)(?=[ \t]{0,4}[「『“]?(?!\\)[!-~]{0,40}[0-9]))[ \t]{0,4}\*{0,2}"""
        rf"""(?:[「『“]([^」』”{LINE_END}]{{1,100}}+)[」』”]|["'`]?((?:[!#-&(-+\--_a-~])++)"""
        rf"""|(?(weak)(?!))(?P<native>{_IDEOGRAPHS}{{1,20}}?(?:(?<={_IDEOGRAPHS}{{2}})|[!#-+\--~]{{2,20}}+)){_IDEOGRAPHIC_END})""",
        "whole",
        is_ideographic_password,
    ),
    SecretPattern(
        "Personal access token by name",
        ("_pat", "_credentials"),
        rf"(?<=[A-Za-z0-9])_(?i:pat|credentials){NAME_END}{SIGN}(?:{QUOTED}|{BARE_TOKEN})",
        judge=is_personal_token,
    ),
)
