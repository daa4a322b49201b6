"""Recognize values that are not secrets despite the name before them: placeholders, code, ordinary words."""

import re

from engine.base import lazy_pattern
from engine.redaction.secret_pattern import (
    PATH,
    alternates,
    is_random,
    mixes_digits,
    secret_span,
    value_of,
)
from engine.redaction.secret_words import (
    AUTHORIZATION_SCHEMES,
    DENIALS,
    EDGES,
    JOINED_NAME,
    LANGUAGES,
    PARTICIPLE,
    PASSES,
    PLAIN_KEYS,
    SECRET_KEYS,
    STORES,
    TYPES,
    WORDS,
    describes_password,
    is_description_in_ideographs,
    is_english_name,
    is_ordinary,
    is_phrase,
    language_of,
)

_WORD = r"[^\W\d]+"
# A call, a subscript, a member of a settings object, a generic type.
_EXPRESSION = lazy_pattern(
    rf"""[&*!(]*(?:new\s|await\s)?{_WORD}(?:(?:\.|::|->|\?\.){_WORD})*(?:[(\[]|<[A-Za-z])"""
    r"""|(?:self|this|os|process|env|config|cfg|settings|options|opts|args|argv|request|req|params|ctx|context|data|form"""
    rf"""|props|state|user|body|event|secrets|vars|import\.meta|app|cls|response|res|result|row|account)(?:\.{_WORD})+\W*"""
    r"""|[({\[].*""",
    re.ASCII | re.DOTALL,
)
_UNIT = lazy_pattern(
    r"\s*(?:char|letter|byte|bit|digit|day|hour|minute|month|week|year|word|time|zeichen|stellen|tage)", re.IGNORECASE
)
_MEASURE = lazy_pattern(r"[ ]?(?:[mcµkn]?m|mil|in(?:ch)?|[kmµ]?[VAW]|[kMG]?Hz|[mµ]?s|px|[kM]?Ω|[°%])(?!\w)")
_OTHER_NAME = lazy_pattern(r"(?:(?<!\w)NO|(?<!\w)ht)\Z")  # NOPASSWD of sudo, htpasswd
_OF_ONE = lazy_pattern(
    r"\b(?:the|my|our|his|her|their|this|das|dem|mein|unser)[ ](?:[\w-]{2,14}[ ])?(?:pass[ ])?\Z", re.IGNORECASE
)
_SET_TO = lazy_pattern(r"auf (?!An\w+|Basis|Standard|Werk|Wunsch)\S+ (?:(?:zurück)?gesetzt|geändert|umgestellt)\b")
_TOWARDS = ("to", "auf", "wird", "will be", "should be", "must be")
_NAME = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_NAME_PARTS = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CAMEL = lazy_pattern("[a-z][A-Z]")
# A variable or a field that holds one: token, user_token, apiKey, self.password.
_HOLDER = lazy_pattern(
    r"[a-z_.$]*(?:passwor[dt]|kennwort|passwd|passphrase|pwd|token|secret|key)s?", re.IGNORECASE | re.ASCII
)
_PROPERTY = lazy_pattern(r"[ \t]*[A-Za-z][\w-]*\.([\w-]+\.[\w.-]*)?")  # of "form.password hints" only with digits
# The second string in config.get("smtp", "x") is the name of an option.
_TARGETS = lazy_pattern(r"[ \t]*(?:\w+,[ ]?)+(?:\w+_)?")  # of "user, password = split"
_LISP = lazy_pattern(r"\((?:setq(?:-default)?|setf|set!|def(?:var|const|parameter|ine|custom)?)\s{1,8}[\w:/*-]*\Z")
_OPTION_OF = lazy_pattern(r"[\w.$]*(?:conf|cfg|pars|(?<![a-z])ini)[\w.$]*[(\[].*,", re.IGNORECASE)
_COMPOUND = lazy_pattern(  # one word that ends so, and is more than that: wifipassword
    r"[a-z]{2,}(?:password|passwd|passphrase|pwd|token|secret|key)|[A-Z]{2,}(?:PASSWORD|PASS|TOKEN)"
)
_HEADER = lazy_pattern(r"(?:^|[\n\"'`])[ \t]*(?:[Pp]roxy-)?\Z")
_HEADER_OPTION = lazy_pattern(r"(?:-H|--header)[ =][\"'][\w-]*\Z")
_HEADER_END = lazy_pattern(r"[\"'`]|[ \t]*(?:[\r\n]|\Z)")
_NOT_BEFORE_ENTRY = lazy_pattern(r"[^\w \t*>#|-]|\w[ \t]+\w+[ \t]+\w")
_SENTENCE_END = lazy_pattern(
    r"[*_»”\"')\]]{0,4}(?:[.,;!?…](?=\s|\Z)|[ \t]*(?:[\r\n]|\Z)"
    r"|[ \t]+(?:and|und|et|y|e|en|i|и|та|och|og|ja|și|ve|és|και)\b)"
)
_DOTTED = lazy_pattern(rf"{_WORD}\d?(?:(?:\.|::|->){_WORD}\d?)+", re.ASCII)
_NUMBER = lazy_pattern(r"[\d.,_%+-]+|0x[0-9a-fA-F]{1,4}:?")
_SHORTEST_BASE32, _AWS_SECRET_LENGTH = 16, 40  # a secret of AWS may begin with a slash and look like a path
# Not after the sign in a mask, whose end would be the name of a command.
_SETTING = lazy_pattern(
    r"(?<![\w…])(?:(?i:config(?:ure)?[ \t]{1,4}set|setx)|ENV|set[ ]-[gxU]{1,3})[ \t]{1,4}(?://\S{1,80}:)?\Z"
)
_PLAIN_VALUE = lazy_pattern(r"[A-Za-z0-9+/=_.~:-]+")
_USER = lazy_pattern(
    r"(?:user|login|username|e-?mail|account|usr|host|usu[aá]rio|utente|correo)\b[^\n]{0,40}\n?\Z", re.IGNORECASE
)
_OF_PASS = lazy_pattern(r"(?:de|palavra)[ _-]?\Z", re.IGNORECASE)
_NAMED_ELEMENT = lazy_pattern(r"\b(?:name|key)\s?=\s?[\"'][\w.-]*\Z", re.IGNORECASE)
_NAMED = lazy_pattern(
    r"""(?:name|key|variable|field|id|env)\\{0,8}["']?\s{0,4}[:=]\s{0,4}\\{0,8}["']?[\w.-]*\Z""", re.IGNORECASE
)
_DEFINED = lazy_pattern(
    r"""\b(?:define|put|\w{0,3}env|environ\.get|[sS]et(?:EnvironmentVariable|Item|_config|Property|default)"""
    r"""|(?i:values)[ ]?)\((?:\d{1,9},)?\s{0,4}["'][\w.-]*\Z"""
)
_AMOUNT = lazy_pattern(r"\d{1,3}[-\u2011]?[^\W\d]+")  # 8-stellig, 12chars
_TYPED = lazy_pattern(r"[A-Za-z0-9!@#$%^&*+?]+")
_HYPHENATED = lazy_pattern(r"[a-z]+(?:[-_][a-z0-9]+)+")
_OWNER = lazy_pattern(r"(?:root|admin|ssh|sudo|wi-?fi|wlan|router|nas|vpn)\b[^\n:;]{0,30}\Z", re.IGNORECASE)
_CALL = lazy_pattern(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*\Z", re.ASCII)
_IN_MANUAL = lazy_pattern(r"\[.*|<.*|[A-Z_]+|(?:user)?(?:name|pass)|\$(?!\d\w?\$).*|-.*|\*", re.DOTALL)


def is_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `password = …` is a secret: not code, a placeholder or a word of ordinary text."""
    value, groups = value_of(match), match.groupdict()
    if (groups.get("sign") or "")[:2] in ("??", "||") and not mixes_digits(value):  # a label: password || "Password"
        return False
    plain = (match[0][:3].lower() == "pwd" and PATH.fullmatch(value)) or value.startswith("//")  # of an address
    if plain or _OTHER_NAME.search(before) or (groups.get("lisp") is not None and not _LISP.search(before)):
        return False
    if match["quoted"] is None and (
        (value.isdigit() and len(value) < 4)
        or match.string.startswith(" | None", match.end())
        or ("=" in match[0] and _TARGETS.fullmatch(before.rpartition("\n")[2]))
    ):
        return False
    name = groups.get("property") is not None and _PROPERTY.fullmatch(before.rpartition("\n")[2])
    if name is None or (name and not (name[1] or mixes_digits(value))):
        return False
    if instead := groups.get("instead"):
        is_key_of_dict = match.string[match.end() : match.end() + 2].lstrip().startswith(":")
        if is_key_of_dict or " " in value or is_code(value) or _OPTION_OF.match(instead):
            return False
    return not (is_ordinary(value) or (match["quoted"] is None and is_code(value) and not _is_plain(before, match)))


def is_option_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `--password …`, or after it in a list of arguments, is a secret."""
    is_value = not value_of(match).startswith("--")  # otherwise it is the next option
    return is_value and _is_option(before) and _in_list(before, match) and is_password(before, match)


def is_password_in_prose(before: str, match: re.Match[str]) -> bool:
    """Whether the word in `the password is …` is a secret."""
    value = value_of(match).rstrip(EDGES + "%").lstrip(EDGES)  # "%" at the end of a template's block
    groups = match.groupdict()
    if groups.get("quoted") and value.count(" ") > 2 and "phrase" in match[0][: len("passphrase")].lower():
        return True
    if is_ordinary(value) or is_code(value) or (len(value) <= 3 and _UNIT.match(match.string, match.end())):
        return False
    of_one = before.rpartition("\n")[2].strip(" \t") in {*"-*+>"} or _OF_ONE.search(before) is not None
    if groups.get("before") is not None and (not of_one or value.casefold() in WORDS):
        return False
    if groups.get("quoted") or groups.get("typed"):
        return True
    first, *others = value.split()
    described = describes_password(LANGUAGES[-1], first) and (not others or any(word in WORDS for word in others))
    if described or PARTICIPLE.fullmatch(first):
        return False
    if (groups.get("sign") or "").lower() not in _TOWARDS or not value.isalpha():
        return True
    if match["sign"] == "auf" and _SET_TO.match(match.string, match.start("sign")):
        return True
    return match[0][:2].isupper() and before[-1:] == "_"  # a variable: set DB_PASSWORD to x


def is_token(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `token = …` or `secret = …` is a secret."""
    name, parts = _name(before, match), _parts(before)
    if not _may_be_token(value_of(match), parts, 3 if _in_quotes(match) else 4):
        return False
    if ")" in match.string[match.start() : match.start("sign")]:  # text in brackets describes a parameter
        return is_random(value_of(match), 12)
    if _is_call(match):
        return False
    clear_name = bool(parts) or name.isupper() or _in_quotes(match) or (match["sign"] == "=" and _is_option(before))
    return is_random(value_of(match), 6) or _is_written_out(before, match, name, clear_name=clear_name)


def is_key(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `… key = …` is a secret, not the key of a dictionary, a table or a sort order."""
    name, parts = _name(before, match), _parts(before)
    if not _may_be_token(value_of(match), parts, 3 if _in_quotes(match) else 4):
        return False
    if is_random(value_of(match), 12):
        return not _is_call(match)
    last = parts[-1] if parts else ""
    variable = name.isupper() and "=" in match[0] and not any(map(str.isspace, match[0]))  # in a shell: NAME=value
    clear_name = last in SECRET_KEYS or (variable and last not in STORES)
    return clear_name and _is_written_out(before, match, name, clear_name=True)


def is_short_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `pass = …`, `pw: …` or `psk=…` is a secret, not a word or the result of a test."""
    value, word = value_of(match), match[0][: len("psk")].lower()
    if not is_password(before, match) or (_NUMBER.fullmatch(value) and sum(map(str.isdigit, value)) < 4):
        return False
    name, parts = _name(before, match), _parts(before)
    if before[-1:].isalnum() and (match[0][0].islower() or before[-1].isupper()):
        return JOINED_NAME.fullmatch(name) is not None
    sign = match["sign"]
    if ("==" in sign or "!" in sign) and (match["quoted"] is None or not parts):
        return False
    if len(name) > len(word) + 1 or word == "psk":
        written = match["quoted"] is not None or sign == "=" or ":" in sign or name.isupper() or is_random(value, 5)
        written |= mixes_digits(value) and _fills_line(before, match)
        return written and (not parts or parts[-1] not in PASSES)
    if _in_quotes(match) or match["quoted"] is not None:
        return len(value) >= 3 and " " not in value
    if ":" in sign:
        alone = not before.rpartition("\n")[2].strip(" \t-*>#|")
        clear = (alone and _fills_line(before, match)) or (
            before[-1:] == "(" and match.string[match.end() :][:1] == ")"
        )
        ends = _HEADER_END.match(match.string, match.end()) is not None
        owned = (ends or _OWNER.search(before) is not None) and not PARTICIPLE.fullmatch(value)
        clear |= word[:2] == "pw" and (mixes_digits(value) or owned)
        return name != "PASS" and (clear or _USER.search(before) is not None)
    return sign == "=" or is_random(value, 5) or (word[:2] == "pw" and mixes_digits(value))


def is_foreign_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value after a password's name in another language, and a sign or a verb, is a secret."""
    value, name = value_of(match).strip(EDGES), match["name"].lower()
    if name == "passe" and not _OF_PASS.search(before):
        return False
    few = _NUMBER.fullmatch(value) and sum(map(str.isdigit, value)) < 4
    if few or len(value) < 3 or value.casefold() in DENIALS or not is_password(before, match):
        return False
    clear = match["sign"] == "=" or mixes_digits(value) or _is_entry(before, match) or _USER.search(before)
    if name == "clave" and not clear:
        return False  # "la clave" is any kind of key
    plain = not mixes_digits(value) or PATH.fullmatch(value) or _AMOUNT.fullmatch(value) or "://" in value
    if (match["adjacent"] is not None and plain) or (
        is_english_name(match) and not _follows_english_name(before, match)
    ):
        return False
    language = None if match["verb"] is None else language_of(match)
    if match["verb"] is not None and language is None:
        return False
    colon = language is not None and ":" in match.string[match.end("verb") : secret_span(match)[0]]
    if colon or match["sign"] is not None or match["quoted"] is not None or not value.isalpha():
        return True
    ends = _SENTENCE_END.match(match.string, match.end()) is not None
    return ends and not (language and describes_password(language, value))


def _follows_english_name(before: str, match: re.Match[str]) -> bool:
    """Whether a value with digits is a secret after an English or German name of a password.

    Other patterns check words and symbols.
    """
    value = value_of(match)
    if not mixes_digits(value) or _HYPHENATED.fullmatch(value) or match["sign"] is not None:
        return False
    if match["name"].lower() != "pass":
        return True
    passes = not PASSES.isdisjoint(before.lower().split()[-1:])
    if passes or (match["verb"] is None and match.string[match.end("name") : secret_span(match)[0]].strip()):
        return False
    random = _TYPED.fullmatch(value) is not None and alternates(value)
    return match["verb"] is not None or _USER.search(before) is not None or random


def is_ideographic_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value after a password's name in Chinese, Japanese or Korean is a secret."""
    value = value_of(match).strip(EDGES)
    if match["native"] is not None:
        return not is_description_in_ideographs(value)
    digits = sum(map(str.isdigit, value))
    adjacent = match["adjacent"] is not None and not (mixes_digits(value) or digits == len(value) >= 6)
    return not adjacent and len(value) >= 3 and not is_ordinary(value) and not (_NUMBER.fullmatch(value) and digits < 4)


def is_personal_token(before: str, match: re.Match[str]) -> bool:
    """Whether the value after a name that ends in `_PAT` is a personal access token."""
    value = value_of(match)
    if len(value) < 6 or is_ordinary(value) or PATH.fullmatch(value) or not _PLAIN_VALUE.fullmatch(value):
        return False
    is_clear = _name(before, match).isupper() and match["sign"] in ("=", ": ", ":")
    return is_random(value, 12) or (is_clear and (match[0][1:2] in "pP" or mixes_digits(value)))


def is_auth_field(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `"auth": "…"` or `_auth=…` is a login in base64."""
    value = value_of(match)
    of_npm = match[0].startswith("_auth") and (not before or before[-1] in ":\n") and match["sign"] == "="
    clear = of_npm or '"auths"' in before
    if match[0].startswith("_auth:") and match["quoted"] is None and value.isidentifier():  # a type
        return False
    return (
        len(value) >= (5 if clear else 8)
        and _PLAIN_VALUE.fullmatch(value) is not None
        and not is_ordinary(value)
        and not ("_" in value and value.isidentifier())
        and (clear or any(map(str.isdigit, value)) or value.endswith("=") or bool(_CAMEL.search(value)))
    )


def is_element(before: str, match: re.Match[str]) -> bool:
    """Whether a match is the text of an XML element such as `<password>…</password>`, or a value of a property list."""
    if not _is_opened(before, match):
        return False
    value, parts = value_of(match).strip(), _parts(before)
    word = match[0][:4].lower()
    if word.startswith(("pass", "pwd", "kenn", "psk")):
        return not is_ordinary(value) and not PATH.fullmatch(value)
    if not _may_be_token(value, parts) or (word[:3] == "key" and (not parts or parts[-1] not in SECRET_KEYS)):
        return False
    return word[:3] == "key" or bool(parts) or is_random(value, 6) or value.isalnum()


def _is_opened(before: str, match: re.Match[str]) -> bool:
    """Whether the name is that of an element, of an attribute that names it, or the key of a property list."""
    opening = before.rpartition("<")[2] if "<" in before else ">"
    if "</key>" in match[0].lower():
        return opening[:4].lower() == "key>"
    if match["cell"] is not None:
        return opening.lower().startswith((f"{match['cell'].lower()}>", f"{match['cell'].lower()} "))
    if ">" in opening or opening[:2].lower() == "a ":
        return False
    return '">' not in match[0] or " " in match[0].partition(">")[0] or _NAMED_ELEMENT.search(opening) is not None


def is_block(before: str, match: re.Match[str]) -> bool:
    """Whether the lines after `token: |` can be a secret."""
    if match[0][:5].lower() == "passe" and not _OF_PASS.search(before):
        return False
    return match[0][:3].lower() != "key" or not SECRET_KEYS.isdisjoint(_parts(before)[-1:])


def is_entry_of_words(before: str, match: re.Match[str]) -> bool:
    """Whether the words in `password: correct horse battery`, alone on a line, are a secret."""
    if match[0][:5].lower() == "passe" and not _OF_PASS.search(before):
        return False
    named = before.rpartition("\n")[2]
    if _NOT_BEFORE_ENTRY.search(named) or (match[0][:5].lower() == "clave" and named.strip(" \t-*>#|")):
        return False
    return is_phrase(value_of(match))


def is_named_value(before: str, match: re.Match[str]) -> bool:
    """Whether the value in a pair of a name and a value is a secret; `define('…', '…')` is such a pair, too."""
    if not (_NAMED if match["listed"] is None else _DEFINED).search(before):
        return False
    parts = _parts(before)
    if (match[0][:3].lower() == "key" and not (parts and parts[-1] in SECRET_KEYS)) or PATH.fullmatch(value_of(match)):
        return False
    if _NUMBER.fullmatch(value_of(match)) and (match[0][:1].lower() != "p" or len(value_of(match)) < 4):
        return False
    return is_argument(before, match) and not (parts and parts[-1] in PLAIN_KEYS)


def is_argument(before: str, match: re.Match[str]) -> bool:
    """Whether a value in the position of a secret is a secret: no variable, no placeholder and no word of a manual."""
    return not (is_ordinary(value_of(match)) or _IN_MANUAL.fullmatch(value_of(match)))


def is_option_token(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `--token …`, `--secret …` or `--api-key …` is a secret."""
    parts = _parts(before)
    if not (_is_option(before) and _in_list(before, match) and _may_be_token(value_of(match), parts)):
        return False
    is_key_of_what = match[0][:3].lower() == "key" and parts[-1:] and parts[-1] not in SECRET_KEYS
    return not is_key_of_what or is_random(value_of(match), 12)


def _in_list(before: str, match: re.Match[str]) -> bool:
    """Whether an option and its value, if both are strings, are entries of a list.

    In a call, they declare the option.
    """
    return match["next"] is None or before.rfind("[") > before.rfind("(")


def is_authorization(before: str, match: re.Match[str]) -> bool:
    """Whether the value of an authorization header is a secret."""
    value, scheme = value_of(match), (match["scheme"] or "").lower()
    if is_ordinary(value) or (value.endswith("=") and not _is_padded(value, scheme)):
        return False
    if scheme and scheme not in WORDS and _HEADER.search(before) and _HEADER_END.match(match.string, match.end()):
        return True
    return not scheme or scheme in AUTHORIZATION_SCHEMES or is_random(value, 8) or len(value) >= 24


def _is_padded(value: str, scheme: str) -> bool:
    """Whether a value ending in `=` is base64 with its padding, not a parameter's name as in `Token token="…"`."""
    code = value.rpartition(":")[2]  # an account name may precede it
    content = code.rstrip("=")
    return len(code) % 4 == 0 and (is_random(content, 6) or (scheme in AUTHORIZATION_SCHEMES and not content.islower()))


def is_token_in_prose(before: str, match: re.Match[str]) -> bool:
    """Whether the word in `the token is …`, `API key is …` or `PIN is …` looks random, and so is a secret."""
    value = value_of(match).strip(EDGES)
    if match[0][:3].lower() in ("pin", "пин"):
        return value.isdigit() and 4 <= len(value) <= 12 and not _MEASURE.match(match.string, match.end())
    if match["adjacent"] is not None:
        digits, name, parts = sum(map(str.isdigit, value)), match[0][:3].lower(), _parts(before)
        named = name != "key" or (parts and parts[-1] in SECRET_KEYS)
        encoded = digits and len(value) >= _SHORTEST_BASE32 and value.isupper()
        plain = "".join(filter(str.isalnum, value))
        random = 3 <= digits <= len(plain) - 3 and (
            plain == value or alternates(plain) or (":" in match[0] and alternates(value))
        )
        return bool(named) and _may_be_token(value, parts) and bool(encoded or random)
    return _may_be_token(value, _parts(before)) and not is_code(value) and is_random(value, 6)


def is_code(value: str) -> bool:
    """Whether an unquoted value is an expression or a variable that holds the secret rather than the secret."""
    plain = value.strip(EDGES + "&*?|")
    return _EXPRESSION.match(value) is not None or plain.lower() in TYPES or _HOLDER.fullmatch(plain) is not None


def _is_plain(before: str, match: re.Match[str]) -> bool:
    """Return whether a value such as `wifipassword` is the whole value of an entry, and therefore not a variable."""
    value, sign = value_of(match), match.groupdict().get("sign")
    if not _COMPOUND.fullmatch(value) or (sign and "=" in sign and sign != "="):
        return False
    name = _name(before, match)
    different = value.casefold() != name.casefold().replace("_", "").replace("-", "")
    return different and (sign is None or name.isupper() or _fills_line(before, match))


def _is_entry(before: str, match: re.Match[str]) -> bool:
    """Return whether name and value are alone on their line, as in YAML."""
    return _fills_line(before, match) and not before.rpartition("\n")[2].strip(" \t-*>#|")


def _may_be_token(value: str, parts: list[str], least: int = 4) -> bool:
    """Return whether a token or key of this name can have this form."""
    few = _NUMBER.fullmatch(value) and sum(map(str.isdigit, value)) < 6
    if few or len(value) < least or " " in value or is_ordinary(value) or (parts and parts[-1] in PLAIN_KEYS):
        return False
    plain = PATH.fullmatch(value) or _DOTTED.fullmatch(value)
    return len(value) == _AWS_SECRET_LENGTH or value.endswith("=") or not plain


def _is_written_out(before: str, match: re.Match[str], name: str, *, clear_name: bool) -> bool:
    """Return whether the value is a literal, not a variable. `clear_name`: the name alone is strong evidence."""
    value, sign = value_of(match), match["sign"].rstrip(" \t*")
    compares = "==" in sign or "!" in sign
    if match["quoted"] is not None:
        return sign[:2] not in ("??", "||") and (clear_name or (not compares and value.isalnum()))
    following = match.string[match.end() : match.end() + 1]
    code = is_code(value) and not _is_plain(before, match)
    if code or following in ("(", "[") or (value.endswith(".") and following.strip()):
        return False
    if compares and value.rstrip(":;,.").isidentifier():
        return False
    may_be_name = value.isidentifier() and (len(value) < 10 or "_" in value or _CAMEL.search(value))
    assigned = sign == "=" and (_is_option(before) or "-" in name or (_in_query(before, match) and mixes_digits(value)))
    is_literal = _HEADER_OPTION.search(before) is not None or name.isupper() or not may_be_name or assigned
    if clear_name and is_literal:
        return True
    if not value.islower() or compares:
        return False
    spaced = "=" in sign and match["sign"] != "=" and name[-6:].lower() != "secret"
    return not spaced and (_fills_line(before, match) or _in_query(before, match) or _in_one_string(before, match))


def _name(before: str, match: re.Match[str]) -> str:
    """Return the whole name, such as `app.db.password`, for a match that contains only its last part."""
    last = _LETTERS.match(match[0].lstrip("_"))
    return before[len(before.rstrip(_NAME)) :] + (last[0] if last else "")


def _parts(before: str) -> list[str]:
    """Return the name without its last part, in lower case; if that is empty, the word before the name."""
    attached = before[len(before.rstrip(_NAME)) :]
    if not attached and before.endswith((" ", "-")):
        attached = before[:-1][len(before[:-1].rstrip(_NAME)) :]
    return [part.lower() for part in _NAME_PARTS.findall(attached)]


def _is_call(match: re.Match[str]) -> bool:
    """Return whether the value is the name of a function that is called."""
    return match.string[match.end() : match.end() + 1] == "(" and _CALL.fullmatch(value_of(match)) is not None


def _in_quotes(match: re.Match[str]) -> bool:
    """Return whether the name is the key of a JSON object."""
    name = _LETTERS.match(match[0])
    return name is not None and match[0][name.end() :].lstrip("\\")[:1] in ('"', "'")


def _fills_line(before: str, match: re.Match[str]) -> bool:
    """Return whether the line contains only name and value, as in a configuration file."""
    rest = match.string[match.end() : match.end() + 1]
    return rest in ("", "\n", "\r") and not before.rpartition("\n")[2].strip(_NAME + " \t*>•")


def _in_query(before: str, match: re.Match[str]) -> bool:
    """Return whether it is a URL parameter."""
    return match["sign"] == "=" and before[len(before.rstrip(_NAME)) - 1 :][:1] in ("?", "&")


def _in_one_string(before: str, match: re.Match[str]) -> bool:
    """Return whether name and value are the whole content of a string, as in `-H "X-Api-Key: …"`."""
    quote = before.rstrip(_NAME)[-1:]
    return quote in ('"', "'") and match.string[match.end() : match.end() + 1] == quote


def _is_option(before: str) -> bool:
    named = before.rstrip(_NAME)
    return before[len(named) :].startswith("-") or (named != before and _SETTING.search(named) is not None)
