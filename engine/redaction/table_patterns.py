"""Patterns for passwords of databases and devices, in a column of a table or a file of values, and in lists of logins.

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from engine.base import lazy_pattern
from engine.redaction.non_secrets import is_argument
from engine.redaction.secret_pattern import (
    ARGUMENT,
    BLANK,
    LINE_END,
    LINE_PREFIX,
    SecretPattern,
    alternates,
    mixes_digits,
    value_of,
)
from engine.redaction.secret_words import (
    ANY_PASSWORD,
    LOGIN_WORDS,
    PARTICIPLE,
    PASSWORD_ANCHORS,
    describes,
    is_ordinary,
)

_NAMES = """password|passwort|passwörter|passwd|passphrase|kennwort|pwd|pw|psk|mot de passe|contraseña|senha|wachtwoord
    |hasło|пароль|密码|密碼|パスワード|비밀번호|pass""".replace("\n    ", "")
"""Names of columns. Other words for a password are also names of pins, tests or words in a table."""
_LONGEST_LINE = 64 * 1024
_LINE = lazy_pattern(r"([^\r\n]*+)\r?\n?")
_PREFIX = lazy_pattern(LINE_PREFIX)
_OUTER = lazy_pattern(r"[ \t>]*+(?:[+-](?=[ \t]*\|))?+[ \t>]*+\|?")  # before the first cell
_CELL = lazy_pattern(r"((?:[^|\\]|\\.?)*+)(?:\||\Z)")
_MARKS = " \t>*`"  # around the value of a cell
_QUOTES = "\"':"  # also around the name of a column
_NAME = lazy_pattern(rf"[{_MARKS}{_QUOTES}]*+((?:{_NAMES})s?)[{_MARKS}{_QUOTES}\r]*+[|,;\t]?\Z", re.IGNORECASE)
_ACCOUNT = lazy_pattern(rf"[{_MARKS}{_QUOTES}]*(?:user|log-?in|account|e-?mail|benutzer|konto|usuario)", re.IGNORECASE)
_SEPARATORS = rf"{LINE_PREFIX}(?=[ \t>]*+(?:\|[ \t]*+)?:?-)(?=[^|{LINE_END}]*\|)[ \t>|:-]{{2,400}}(?:\r?\n|\Z)"
_SEPARATOR = lazy_pattern(rf"\r?\n{_SEPARATORS}")
_SQL_NAME = lazy_pattern(rf"[`\"\[]?(?:\w{{1,40}}_)?(?:{_NAMES})[`\"\]]?", re.IGNORECASE)
_SQL_ROW = lazy_pattern(r"\s{0,40},?\s{0,400}\(((?:'(?:[^'\\]|''|\\.)*+'|[^'()\\]|\\(?!')|\([^'()]*\))*+)\)")
_SQL_VALUE = lazy_pattern(r"\s*(?:[NEne]?'((?:[^'\\]|''|\\.)*+)'|(?:[^',()]|\([^'()]*\))*+)\s*(?:,|\Z)")
_HEADER = {
    delimiter: lazy_pattern(rf"(?:\"?[^\W\d][\w .()-]{{0,40}}(?<! )\"?(?:{delimiter}(?! )|\Z)){{2,60}}")
    for delimiter in ",;\t"
}
_FIELD = {
    delimiter: lazy_pattern(rf"(?:\"((?:[^\"\r\n]|\"\")*+)\"|([^{delimiter}\"\r\n]*+))(?:{delimiter}|\Z)")
    for delimiter in ",;\t"
}


def is_listed_password(before: str, match: re.Match[str]) -> bool:
    """Whether the word after `ada@example.com:` is a password, not a port or a file on that machine.

    Lists have a login alone on its line, in a cell or after other logins; commands and sentences have words before it.
    """
    value = value_of(match)
    if not (mixes_digits(value) or match["relay"] is not None) or is_ordinary(value) or _FILE.search(value):
        return False
    if match["pair"] is not None or match["login"] is not None:
        return _ITEM_END.match(match.string, match.end()) is not None
    if match[0][0] != "@":
        alone = not _WORD_AFTER.match(match.string, match.end()) or not _NUMBERED.fullmatch(value)
        return alone and sum(map(str.isdigit, value)) > 1 and before[-1:] in (*" \t\n\"'`*|(", "")
    line = match.string[max(0, match.start() - _LOGIN) : match.start()].rpartition("\n")[2]
    cell = _BETWEEN_CELLS.split(line)[-1]
    return _LISTED.search(cell) is not None and _ITEM_END.match(match.string, match.end()) is not None


def is_login_in_words(before: str, match: re.Match[str]) -> bool:
    """Whether the word after "the password" is a password: the sentence uses it, or names an account before it."""
    value = value_of(match)
    if is_ordinary(value) or value.casefold() in _FEATURES or PARTICIPLE.fullmatch(value):
        return False
    used = _USED.search(before)
    return used is not None and not is_ordinary(used["account"] or "x") and is_argument(before, match)


_USED = lazy_pattern(
    r"(?:(?<!\w)(?:use|using|try|type|enter|entered|typed|nimm|nutze|with|mit) (?:the|this|my|das|dem) (?:\w{2,12} )?"
    r"|(?<!\w)(?:as|user|als|nutzer) [\w.@+-]{2,40} (?:with|mit) "
    r"|(?<!\w)(?:user(?:name)?|login|account|network|ssid|wi-?fi|wlan|netz|nutzer|benutzer|usuario|usuário|utente|identifiant"
    r"|utilisateur|gebruiker|id)(?: is| ist)?:? "
    r"(?P<account>[^\s,;:]{2,40})(?:,|;| and| und| y| et| e| en)(?: the| la| le| a| il)? )\Z",
    re.IGNORECASE,
)


def is_command_password(before: str, match: re.Match[str]) -> bool:
    """Whether the last word of a command, alone on its line, is a password and no feature that is turned on."""
    line, words = before.rpartition("\n")[2], match[0].lower().split()
    ends = _COMMAND_END.match(match.string, match.end()) is not None or words[0] in ("set", "snmp-server")
    described = words[-1] in _FEATURES or (words[-2] == "authentication" and PARTICIPLE.fullmatch(words[-1]))
    return ends and not described and _PROMPT.fullmatch(line) is not None and is_argument(before, match)


_PROMPT = lazy_pattern(
    r"(?:[ \t]*\d{1,6}(?:\t|→|\|[ ]?))?+(?:\+|-(?![ ](?![ ])))?+[ \t>]*+(?:[\w.@()-]{0,40}[#>$][ ]{0,2})?"
)
"""Before a command: the number of a line, a sign of a difference and a prompt."""


def is_device_password(before: str, match: re.Match[str]) -> bool:
    """Whether a word in the configuration of a device or a network is a password."""
    value, line = value_of(match), before.rpartition("\n")[2]
    name, in_file = match[0].split()[0].lower(), not line.strip(" \t#>") or line.startswith("set ")
    ends = _ITEM_END.match(match.string, match.end()) is not None
    if match["encoded"] is not None:
        return True
    if name == "*":  # in chap-secrets, and no product or list
        listed = line.strip() == "*" or _ADDRESSES.match(match.string, match.end()) is not None
        return listed and bool(_BEFORE_SERVER.fullmatch(line)) and mixes_digits(value) and is_argument(before, match)
    if name in ("secret", "password") and match["enc"] is None:
        typed = match[0].split()[1].isdigit()
        on_line = typed and line.isspace() and ends  # below "line vty"
        if not on_line:
            return False
    elif name in ("auth", "priv") and not mixes_digits(value):
        return False
    elif name in ("option", "pre-shared-key", "key-string"):
        if not in_file or not (ends or name == "option") or _CHORD.match(value):
            return False
    elif name[0] == ":" and _AFTER_NUMBER.search(line):
        return False
    elif name == "shared-secret":
        if not ends or not (in_file or line.endswith("pre-") or mixes_digits(value)):
            return False
    elif name == '"' and (not line.startswith('"') or line.count('"') != 1 or (len(value) < 6 and value.isalpha())):
        return False  # "a" * "count"
    return is_argument(before, match)


_FEATURES = frozenset(
    """authentication autofill check complexity encryption expiration field generation hashing hints history login
    logins management manager masking policies policy prompt protection recovery requirements reset rotation rules
    saving scanning sharing storage strength support sync informs traps version visibility twice hint prompt dialog box
    form screen page entry string grant backend hasher database auth again itself length toggle changes attempts
    settings prompts forms fields pair combination variables verbatim below instead first before
    respectively match matches works""".split()
)
"""Words in place of a password, as after "enable password", that are a feature or an option."""
_CHORD = lazy_pattern(r"(?:ctrl|control|alt|shift|cmd|command|meta|super|win)[+-]", re.IGNORECASE)
_BEFORE_SERVER = lazy_pattern(r"(?:[\w.@\\-]{1,40}|\*)[ \t]{1,8}")
_ADDRESSES = lazy_pattern(r"[ \t]{1,8}(?:\*|[\d.]{7,15})[ \t]*(?:\r?\n|\Z)")
_AFTER_NUMBER = lazy_pattern(r"(?:\A|\s)\d+\Z")
_NUMBERED = lazy_pattern(r"[a-z]+\d+")
_WORD_AFTER = lazy_pattern("[ ][a-z]")
_FILE = lazy_pattern(r"\.[A-Za-z]\w{0,3}\Z")
_BETWEEN_CELLS = lazy_pattern(r"[|\t]|[,;](?=\S)")
_LOGIN = 200
"""Characters of the login before."""
_LISTED = lazy_pattern(
    r"(?:\A[ >*+\[\"'`<(-]*+(?:\d{1,4}[.)][ ])?"
    r"(?:\[?[\w-]{1,40}(?:\.[\w-]{1,40}){1,4}\]?(?::\d{2,5})?[ ]{1,4})?"
    r"|[\w.-]@[\w.-]{4,80}:[^\s,;]{1,80}[,;][ ]{1,4})[\"'`<(*]*+"
    r"(?!(?:git|gitea|gitlab|forgejo|aur|hg)\Z)[\w.+-]+\Z"  # repositories' hosts have users without password
)
_COMMAND_END = lazy_pattern(r"[\"'`>)*\]]*+[ ]{0,40}+(?:[,;|\t\r\n]|\Z|(?<=[ ])(?:[!#]|role[ ]\S))")
_ITEM_END = lazy_pattern(r"[\"'`>)*\]]*+[ ]{0,40}+(?:[,;|\t\r\n]|\Z)")

_LOGIN_PASSWORD = "password|passphrase|passwort|kennwort|pw|mot de passe|contraseña|senha|wachtwoord"
_PAIR = r"(?<![\w.])[uU](?:se?r)?[ ]?[:=][ ]?[^\s:=]{1,32}[\s,;/]{1,3}[pP][ ]?[:=]"
_RELAY = r"(?m:^)(?:\[(?=[\w.-]{4,40}\][:\s])|(?:smtp|mail|relay|mx)[\w-]{0,12}\.(?=[a-z]))"
# Searching for a letter or sign first is ten times as fast as for a place and a choice of letters.
_PAIR_ANCHORS = tuple(rf"{sign}(?<![\w.]{sign})(?:se?r)?[ ]?[:=](?=[ ]?[^\s:=])" for sign in "uU")
_RELAY_STARTS = dict.fromkeys(("smtp", "mail", "relay", "mx"), r"[\w-]{0,12}\.[a-z]") | {r"\[": r"[\w.-]{4,40}\][:\s]"}
_RELAY_ANCHORS = tuple(rf"{start}(?<![^\n]{start})(?={rest})" for start, rest in _RELAY_STARTS.items())
_GO_PASSWORD = "|".join(rf"""(?<=[^\s:/"'`]:([^\s:"'`]{{{length}}}))""" for length in range(1, 65))


def is_word_below(before: str, match: re.Match[str]) -> bool:
    """Whether a word alone on its line, below the name of a secret, is a secret."""
    value = value_of(match)
    if match["password"] is None and not (len(value) >= 12 and alternates(value)):
        return False
    if value.islower() and value.isalpha() and match["password"] is not None:  # alone below "password:"
        between = match.string[match.end("password") : match.start() + match[0].rindex(value)]
        alone = (
            (":" in between or between[-1] == "`")
            and between.count("\n") == 1
            and _NOTHING_BELOW.match(match.string, match.end())
        )
        return bool(alone) and not (is_ordinary(value) or describes(value) or value in LOGIN_WORDS)
    return mixes_digits(value) and is_argument(before, match)


_NOTHING_BELOW = lazy_pattern(r"[`\"']?[ \t]*(?:\r?\n[ \t]*(?:\r?\n|\Z)|\Z)")


TABLE_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Column of passwords",
        tuple(_NAMES.split("|")),
        rf"(?i:(?:{_NAMES})s?)(?:[{_MARKS}{_QUOTES}]{{0,40}}(?:\|[^{LINE_END}]{{0,400}}+)?+\r?\n"
        rf"{_SEPARATORS}|(?P<csv>\"?(?:[,;\t][^{LINE_END}]{{0,400}}+)?+\r?\n))",
        "whole",
        block="column",
    ),
    SecretPattern(
        "Login in a list",
        (r"@(?=[\w.-]{4,80}(?::[^\s/]|[ \t]{1,4}\S))", "admin / ", "root / ", *_PAIR_ANCHORS, *_RELAY_ANCHORS),
        rf"(?:(?i:admin|root) / |{_PAIR}[ ]?(?P<pair>)|{_RELAY}[\w.-]{{1,80}}(?:\](?P<relay>:\d{{2,5}})?)?"
        r"(?::\d{2,5})?[ \t]{1,40}[^\s:@]{1,64}(?:@[\w.-]{1,60})?:(?P<login>)"
        r"|@[\w-]{1,40}(?:\.[\w-]{1,40}){0,3}\.[a-z]{2,8}(?::|[ \t]{1,4}(?=\S{0,40}[!#$%&*+?^])))"
        r"([^\s/:\"'`<>()\[\]{},;|@]{5,40})(?=[\s\"'`<,;|]|\Z)",
        "whole",
        is_listed_password,
    ),
    SecretPattern(
        "Login in words",
        tuple(f"{name} " for name in _LOGIN_PASSWORD.split("|")),
        rf"(?i:(?<!\w)(?:{_LOGIN_PASSWORD}))[ ]"
        r"([^\s\"'`=:,;()<>\[\]{}|/]{4,32}[^\s\"'`=:,;()<>\[\]{}|/.!?])"
        rf"(?=[.,;!?)]{{1,2}}(?:\s|\Z)|[ \t]*(?:[{LINE_END}]|\Z)|[ ](?:and|to log|on|for|und)\b)",
        "whole",
        is_login_in_words,
    ),
    SecretPattern(
        "Login of a database",
        ("sqlplus ", "expdp ", "impdp ", "sqlldr ", ":thin:", "@tcp", "@unix"),
        rf"""(?i:(?:sqlplus|expdp|impdp|sqlldr){BLANK}(?:userid=)?(?:-\w{{1,4}}{BLANK}){{0,3}}["']?|:thin:)[^\s/@"'-][^\s/@"']{{0,60}}/"""
        rf"""(?:\\?"([^"\n]{{1,60}}?)\\?"|([^\s@"'/]{{1,60}}))(?=[@\s"']|\Z)|(?:{_GO_PASSWORD})@(?:tcp6?|unix)\(""",
        "whole",
        is_argument,
    ),
    SecretPattern(
        "Password in a row of SQL",
        ("insert into ",),
        r"(?i:insert[ ]into[ ]{1,4}[^\s()]{1,120}\s{0,8})\((?P<names>[^()]{1,2000})\)\s{0,40}(?i:values)(?=\s{0,40}\()",
        "whole",
        block="column",
    ),
    SecretPattern(
        "Command of a router or a switch",
        (
            *("enable password ", "enable secret ", "vtp password ", "ppp chap ", "ppp pap ", "username ", "set user "),
            *("neighbor ", "snmp-server host ", "set snmp ", "standby ", "vrrp ", "glbp "),
        ),
        rf"(?i:(?:enable|vtp|ppp{BLANK}(?:chap|pap{BLANK}\S{{1,20}}{BLANK}\S{{1,64}})"
        rf"|(?:neighbor|(?:set{BLANK})?user(?:name)?){BLANK}(?!(?:and|or|und|oder|et|y|e){BLANK})\S{{1,64}}"
        rf"(?:{BLANK}(?:privilege|role){BLANK}[\w-]{{1,24}})?){BLANK}(?:password|secret){BLANK}(?:(?:\d{{1,2}}|sha\d{{3}}){BLANK})?"
        rf"|snmp-server{BLANK}host{BLANK}\S{{1,60}}{BLANK}(?:(?:traps|informs){BLANK})?"
        rf"(?:version{BLANK}(?:1|2c|3{BLANK}\w{{4,6}}){BLANK})?|set{BLANK}snmp{BLANK}community{BLANK}"
        rf"|(?:standby|vrrp|glbp){BLANK}\d{{1,4}}{BLANK}authentication{BLANK}"
        rf"(?:md5{BLANK}key-string{BLANK}(?:\d{BLANK})?|text{BLANK}|(?!md5\b))){ARGUMENT}",
        "whole",
        is_command_password,
    ),
    SecretPattern(
        "Password of a device or a network",
        (
            *("server community ", "rwcommunity ", "rocommunity ", "secret", "psk", "wifi:", "key content"),
            *("keymaterial", "password-value ", '" * "', "option key ", "option wpakey "),
            *(":5432:", ":5433:", ":6432:", ":*:", "cs-server ", "us-server ", "message-digest-key ", "key-string "),
            *("pre-shared-key ", "isakmp key ", "wireless.", "auth_pass ", 'eap "', 'xauth "', "pptpd", "l2tpd"),
            r"\*(?<=[\w*][ \t]\*)(?=[ \t]{1,8}[^\s*])",
            *("password 0 ", "password 5 ", "password 7 ", "key 7 ", "server-private ", "authentication-key "),
            *("radius server ", "tacacs server ", "auth sha", "auth md5", "priv aes", "priv des", "priv 3des"),
            *("psksecret ", "shared-secret ", "passwd enc ", "password enc "),
        ),
        rf"(?i:(?:server{BLANK}|r[ow])community{BLANK}|secret{BLANK}(?:\d{BLANK})?"
        rf"|(?:(?<=: )(?:psk|eap|xauth){BLANK}(?=\")"
        rf"|(?<=(?:ty|fi|ec)\.)psk{BLANK}|(?<=wpa-)psk ascii{BLANK}(?:\d{BLANK})?)"
        rf"|\*[ \t]{{1,8}}(?=\S{{5,64}}[ \t]*(?:\*|[\d.]{{7,15}})?[ \t]*(?:[{LINE_END}]|\Z))|auth_pass{BLANK}"
        rf"|(?:ppt|l2t)pd[ \t]{{1,8}}(?=\S+[ \t]+(?:\*|[\d.]{{7,15}})[ \t]*(?:[{LINE_END}]|\Z))"
        rf"|key content[ ]{{0,20}}:[ ]|keymaterial[>=]"
        rf"|:(?:543\d|6432|\*):[^\s:]{{1,64}}:[^\s:]{{1,64}}:(?=[^\s:]{{1,80}}[ \t]*(?:[{LINE_END}]|\Z))"
        rf"|(?:c|i?u)s-server{BLANK}(?:host{BLANK}\S{{1,60}}{BLANK}(?:[a-z-]{{1,20}}{BLANK}\d{{1,6}}{BLANK}){{0,4}})?"
        rf"key{BLANK}(?:\d{BLANK})?|server-private{BLANK}\S{{1,60}}(?:{BLANK}[a-z-]{{1,20}}{BLANK}\d{{1,6}}){{0,4}}"
        rf"{BLANK}key{BLANK}(?:\d{BLANK})?|(?:radius|tacacs)[ ]server[ ]\S{{1,60}}"
        rf"(?:\r?\n[ \t]{{1,8}}[^{LINE_END}]{{1,120}}){{0,6}}?\r?\n[ \t]{{1,8}}key{BLANK}(?:\d{BLANK})?"
        rf"(?=\S{{1,100}}[ \t]*(?:[{LINE_END}]|\Z))|authentication-key{BLANK}"
        rf"(?:(?<=ospf authentication-key[ ])|\d{{1,10}}{BLANK}(?:md5|sha\d?){BLANK})(?:\d{BLANK})?"
        rf"|(?P<encoded>)(?:password|key){BLANK}7{BLANK}(?=\d\d[0-9a-f]{{4,100}}(?!\w))"
        rf"|message-digest-key{BLANK}\d{{1,3}}{BLANK}md5{BLANK}(?:\d{BLANK})?"
        rf"|(?:key-string{BLANK}|pre-shared-key{BLANK}"
        rf"(?:(?:(?:ascii-text|local|remote|address{BLANK}[\d./ ]{{7,34}}{BLANK}key){BLANK}){{1,2}}"
        rf"|(?=(?:\d[ ])?\S*\d|[\"'])))(?:\d{BLANK})?+"
        rf"|isakmp{BLANK}key{BLANK}(?:\d{BLANK})?(?=\S{{1,80}}{BLANK}(?:address|hostname)\b)"
        rf"|option{BLANK}(?:wpa)?key{BLANK}(?=['\"]\S{{8}})|wireless\.(?:[\w@\[\]-]{{1,40}}\.)?key=|(?<=text-)password-value{BLANK}"
        rf"|\"{BLANK}\*{BLANK}(?=\")|password{BLANK}[057]{BLANK}|(?:psk|shared-)secret{BLANK}(?:enc{BLANK})?"
        rf"|passw(?:or)?d{BLANK}(?P<enc>enc){BLANK}"
        rf"|(?:auth{BLANK}(?:sha|md5)|priv{BLANK}(?:aes|3?des))(?:[ -]?\d{{3}})?{BLANK}"
        rf"|wifi:(?=\S{{0,20}}S:)[^{LINE_END}]{{0,80}}?(?<=[:;])p:){ARGUMENT}",
        "whole",
        is_device_password,
    ),
    SecretPattern(
        "Secret on the next line",
        (*PASSWORD_ANCHORS, "token", "secret", "key"),
        rf"(?=[^\n\\:=*]{{2,60}}+(?:[:=*][^\n\\]{{0,24}}+)?[\n\\])(?:(?P<password>(?i:{ANY_PASSWORD}))|(?i:token|secret|key))"
        r"(?:[\"'`]?(?:[ ][^\n:.;!?=]{1,40})?\*{0,2}[ \t]?[:=\uff1a]\*{0,2}|:?\*\*"
        r"|(?<=(?i:[\n#*+-][ ]passwor.))|(?<=(?i:passwor.))(?<!(?i:[^\n]passwor.)))"
        r"[ \t]*(?:\"{3}|'{3}|<<[~-]?[\"']?\w{1,20}[\"']?)?[ \t]*"
        rf"(?:(?:\r?\n|\\n){LINE_PREFIX}[ \t]*(?:`{{3}}\w{{0,12}}|(?:[#:*-]|//)[ ])?[ \t]*){{1,4}}"
        r"[`\"']?([\w!%^&*+?.-]{6,64}+)(?=[`\"']?[ \t]*(?:\r?\n|\\n|\"|\Z))",
        "whole",
        is_word_below,
    ),
)


def cells_below(text: str, headers: Mapping[int, re.Match[str]], most: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets below headers, which are given by their end, in at most `most` rows of each.

    A header has all its columns read together, and no row is read for two headers.
    """
    done = 0
    for end in sorted(headers):
        match = headers[end]
        if match.start() < done:
            continue
        if match.groupdict().get("names"):
            cells = _sql_values(text, match, most)
        else:
            start = text.rfind("\n", 0, match.start()) + 1
            prefix = _PREFIX.match(text, start, match.end())
            header = _Header(match, start if prefix is None else prefix.end(), prefix is not None and bool(prefix[0]))
            cells = (_markdown_cells if match["csv"] is None else _fields)(text, header, most)
        for start, stop in cells:
            done = start
            if start < stop and not is_ordinary(text[start:stop]):
                yield start, stop


class _Header(NamedTuple):
    match: re.Match[str]
    start: int
    """Position after the number of the line or the sign of a difference."""
    prefixed: bool
    """Whether the line has such a number or sign."""


def _rows(text: str, header: _Header, most: int) -> Iterator[tuple[int, int]]:
    """Yield the lines below the header, without the number of a line or the sign of a difference."""
    position = header.match.end()
    for _ in range(most):
        line = _LINE.match(text, position, position + _LONGEST_LINE)
        if line is None or not line[1]:
            return
        prefix = _PREFIX.match(text, position, line.end(1)) if header.prefixed else None
        yield (position if prefix is None else prefix.end()), line.end(1)
        position = line.end()


def _password_columns(cells: Iterable[re.Match[str]]) -> dict[int, int]:
    """Return the columns with the name of a password, with the position of the name."""
    columns, of_account, uncertain = {}, False, []
    for column, cell in enumerate(cells):
        name = _NAME.match(cell[0])
        of_account |= _ACCOUNT.match(cell[0]) is not None
        if name is not None:
            columns[column] = cell.start() + name.start(1)
            uncertain += [column] * (name[1].lower() == "pass")  # also the result of a test
    return columns if of_account else {column: at for column, at in columns.items() if column not in uncertain}


def _markdown_cells(text: str, header: _Header, most: int) -> Iterator[tuple[int, int]]:
    """Yield the cells of the columns of passwords, up to the end of the table or to a second header with one."""
    begin = _first_cell(text, header.start, header.match.end())
    outer = text[begin - 1 : begin] == "|"
    columns = _password_columns(_CELL.finditer(text, begin, text.find("\n", begin)))
    last = max(columns, default=-1)
    for position, end in _rows(text, header, most if columns else 0):
        if text.find("|", position, end) < 0:
            return
        first = _first_cell(text, position, end)
        if _SEPARATOR.match(text, end) is not None:
            names = _password_columns(_CELL.finditer(text, first, end)).values()
            if any(header.match.re.match(text, name) for name in names):  # it is searched for itself
                return
        # A single pipe before the row may also end an empty cell.
        unclear = not outer and text[first - 1] == "|" and not text[first:end].rstrip().endswith("|")
        for column, cell in enumerate(islice(_CELL.finditer(text, first, end), last + 1)):
            if column in columns or (unclear and column + 1 in columns):
                value = cell[1].strip(_MARKS)
                start = text.index(value, cell.start())
                yield start, start + len(value)


def _first_cell(text: str, position: int, end: int) -> int:
    outer = _OUTER.match(text, position, end)
    return position if outer is None else outer.end()


def _fields(text: str, header: _Header, most: int) -> Iterator[tuple[int, int]]:
    """Yield the fields of the columns of passwords in a CSV file, up to a line with another number of fields.

    A value may also be the name of a password, so a second header only adds its columns.
    """
    line = text[header.start : header.match.end()].rstrip("\r\n")
    delimiter = next((sign for sign, form in _HEADER.items() if sign in line and form.fullmatch(line)), None)
    if delimiter is None:
        return
    field, form = _FIELD[delimiter], _HEADER[delimiter]
    columns = set(_password_columns(field.finditer(text, header.start, header.start + len(line))))
    number = line.count(delimiter) + 1
    for position, end in _rows(text, header, most if columns else 0):
        fields = list(islice(field.finditer(text, position, end), number + 2))
        if fields and fields[-1].start() == end and text[end - 1] != delimiter:
            fields.pop()  # the empty match at the end
        if len(fields) != number or all(text.startswith(" ", fields[column].start()) for column in columns):
            return  # the next line of a sentence
        names = _password_columns(fields)
        if names and form.fullmatch(text, position, end):
            columns.update(names)
            yield end, end
        else:
            names = {}
        for column in columns - names.keys():
            yield fields[column].span(fields[column].lastindex or 0)


def _sql_values(text: str, match: re.Match[str], most: int) -> Iterator[tuple[int, int]]:
    """Yield the strings of the columns of passwords in the rows after `VALUES`."""
    names = [name.strip() for name in match["names"].split(",")]
    columns = {column for column, name in enumerate(names) if _SQL_NAME.fullmatch(name)}
    position = match.end()
    for _ in range(most if columns else 0):
        row = _SQL_ROW.match(text, position, position + _LONGEST_LINE)
        if row is None:
            return
        for column, value in enumerate(_SQL_VALUE.finditer(text, *row.span(1))):
            if column in columns and value[1]:
                yield value.span(1)
        position = row.end()
