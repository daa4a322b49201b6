"""Patterns for secrets in the commands of shells and of programs that read commands.

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re
from bisect import bisect_left
from functools import lru_cache

from engine.base import lazy_pattern
from engine.redaction.non_secrets import is_argument
from engine.redaction.secret_pattern import (
    ARGUMENT,
    BARE_PASSWORD,
    BLANK,
    CONTINUED,
    LINE_END,
    QUOTED,
    SecretPattern,
    mixes_digits,
    value_of,
)
from engine.redaction.secret_words import PARTICIPLE, PLACEHOLDER

_OPTIONS = {
    program: forms
    for programs, forms in (
        ("curl etcdctl ntfy", {":": "u U -user -proxy-user"}),
        ("http https xh jenkins*", {":": "a auth -auth"}),
        ("skopeo podman buildah", {":": "-creds -src-creds -dest-creds"}),
        ("mysql* mariadb* 7z* rar unrar", {"attached": "p hp"}),
        ("smbclient* smbget smbcacls smbtree smbpasswd smbspool rpcclient winexe net", {"%": "U"}),
        ("lftp", {",": "u"}),
        (
            "useradd usermod sshpass login mongo* cqlsh rdesktop psexec* ncftp* ftpput ftpget hdbsql evil-winrm"
            " crackmapexec netexec nxc smbmap certipy hydra veracrypt racadm oras rabbitmqadmin cypher-shell beeline"
            " couchbase-cli mydumper youtube-dl yt-dlp twine certutil",
            {"": "p"},
        ),
        ("redis-cli", {"": "a"}),
        ("sqlcmd mssql-cli bcp zip unzip ipmitool mosquitto_*", {"": "P"}),
        ("ssh-keygen", {"": "N P"}),
        ("ldap*", {"": "w"}),
        ("ldappasswd slappasswd", {"": "w s a"}),
        ("snmp*", {"": "A X"}),
        ("doctl nuget influx vercel", {"": "t k p"}),
        ("plink pscp psftp osslsigncode", {"": "pw pass"}),
        ("pdfto* pdfimages pdfinfo pdffonts pdfdetach pdfgrep", {"": "upw opw"}),
        ("openssl", {"pass:": "pass passin passout", "": "k K"}),
    )
    for program in programs.split()
}
"""The options that take a password, by program and the form of the password: after the name of a user and a sign, after
"pass:", without a blank ("attached"), or alone. An asterisk stands for the rest of a name."""
_OPTION_ANCHOR = (
    r"-(?<=[ \t\"']-)(?=[upPaUwkKNsAXht]|opw|[A-Za-z#]{1,8}u[ \t\"']|-user|-proxy|-auth|-(?:src-|dest-)?creds)"
)
_NEXT = rf"(?:[\"'],\s{{0,20}}(?=[\"'])|[ \t]{{1,2}}{CONTINUED})"  # between an option and its value
_LOOK_BACK = 400
_FAMILIES = [program[:-1] for program in _OPTIONS if program[-1] == "*"]
_COMMAND = lazy_pattern(
    rf"(?<![\w.-])(?:({'|'.join(program for program in _OPTIONS if program[-1] != '*')})"
    rf"|({'|'.join(_FAMILIES)})[\w-]{{0,12}}(?:\.jar)?)(?=[ \t\\\"'])(?<!\bnet(?![ ](?:ads|rpc)[ ]))"
)
_COMMAND_START = lazy_pattern(r"(?<!\\)(?<!\\\r)\n|[|;]|&&")
_BLOCK = 256
"""Options in one block of text share the search for their commands: many options would need as many searches."""
_OPTION_START = lazy_pattern(r"(?<!\S)--?\w*\Z")
_PASSWORD_PROMPT = lazy_pattern(r"(?i:expect)[^\n]{0,60}assword[^\n]{0,40}\n?[^\n]{0,40}\Z")
_PROMPT = lazy_pattern(r"(?:\A|[\n>$#;&|\"'`]|\bcmd /c)[ \t]*\Z")
_WINDOWS_PROGRAM = lazy_pattern("freerdp|schtasks", re.IGNORECASE)
_READER = lazy_pattern(
    r"\b(?:kinit|keepassxc-cli|vncpasswd|chpasswd|cryptsetup|passwd|sudo|--password-stdin|--with-token|gpg|pass insert"
    r"|p4 login|zfs|minisign|wrangler secret|ssh-add|keyring set|hdiutil"
    r"|read[ ][^\n<]{0,30}(?i:pass|pw|secret|token)\w*|vercel env)\b"
)
_NAMES_SECRET = lazy_pattern(r"(?i:passw(?:or)?d|passphrase|secrets?|token)(?![a-z])")
_FILTER = lazy_pattern(r"(?<![\w-])(?:grep|rg|sed|awk|jq|yq|tr|wc|cut|head|tail|sort|cat|xargs)\b")
_SETTER = lazy_pattern(r"(?<![\w-])(?:set|reset|change|update|create)(?:-[a-z]{1,12}){0,2}\Z")
_PASSWORD_COMMAND = lazy_pattern(
    r"(?:(?:pass(?:word|phrase)?[-_]?(?:command|cmd|eval)|extpass)\\?[\"']?[ \t=:]{1,4}\\?[\"']"
    r"|(?:key|pass(?:word|wd|phrase)?|pwd?|secret|token)(?:-?file)?[ =]<\()\Z",
    re.IGNORECASE,
)


def is_program_login(before: str, match: re.Match[str]) -> bool:
    """Whether the value of `-u user:…`, or of another option for name and password, is a secret."""
    sign = match["sign"] or match["bare_sign"]
    return _form(match) == sign and not PLACEHOLDER.fullmatch(value_of(match))


def is_program_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value of `-p…`, `-passin pass:…` or another option for a password is a secret."""
    form = _form(match)
    if form not in ("", "attached", "pass:") or PLACEHOLDER.fullmatch(value_of(match)):
        return False
    attached = form == "attached" or (form == "" and not match["gap"] and match["option"] not in "kK")
    return (form == "pass:") == bool(match["form"]) and (not match["gap"]) == attached


def _form(match: re.Match[str]) -> str | None:
    """Return the form of the password after the option, by the command to which this belongs; None for others."""
    first = max(0, match.start() - _LOOK_BACK)
    block = first - first % _BLOCK
    commands = _commands(match.string[block : block + _BLOCK + _LOOK_BACK + 1])
    last = bisect_left(commands, (match.start() - block,)) - 1
    if last < 0 or commands[last][0] < first - block:
        return None
    options = _OPTIONS.get(commands[last][1], {})
    return next((form for form, named in options.items() if match["option"] in named.split()), None)


@lru_cache(maxsize=2)
def _commands(text: str) -> list[tuple[int, str]]:
    """Return the positions of programs and of the starts of command lines, which have an empty name."""
    starts = [(match.start(), "") for match in _COMMAND_START.finditer(text)]
    return sorted(starts + [(match.start(), match[1] or f"{match[2]}*") for match in _COMMAND.finditer(text)])


def _command_before(match: re.Match[str]) -> str:
    """Return the part of a command line before the match, at most its last 400 characters."""
    start = max(0, match.start() - _LOOK_BACK)
    return _COMMAND_START.split(match.string[start : match.start()])[-1]


def is_auth_command(before: str, match: re.Match[str]) -> bool:
    """Whether the argument of `AUTH` is a password of Redis or a login of mail."""
    value, line = value_of(match), before.rpartition("\n")[2].strip()
    if match["login"] is not None or value.isupper() or PARTICIPLE.fullmatch(value) or not is_argument(before, match):
        return match["login"] is not None
    if not line.strip("> "):  # alone, perhaps in a quotation, it may begin a log's message
        return mixes_digits(value)
    return line.endswith(">") or "redis-cli" in line


def is_piped(before: str, match: re.Match[str]) -> bool:
    """Whether the text given to a command is the password that it reads."""
    if match[0][0] == "s":  # a script answers the prompt that it waited for
        return _PASSWORD_PROMPT.search(before) is not None and is_argument(before, match)
    if match["reader"] is None and not (match[0][0] == "<" and _reads_secret(_command_before(match))):
        return match[0][0] != "<" and _PASSWORD_COMMAND.search(before) is not None and is_argument(before, match)
    if match["coded"] is not None and not mixes_digits(value_of(match)):
        return False
    return is_argument(before, match)


def _reads_secret(command: str) -> bool:
    """Whether a command reads a secret, or is named after one and isn't a filter of text."""
    return _READER.search(command) is not None or (
        _NAMES_SECRET.search(command) is not None and _FILTER.search(command) is None
    )


def is_program_argument(before: str, match: re.Match[str]) -> bool:
    """Whether an argument at the position of a password is a secret."""
    named = match[0][: len("masterauth")].lower()
    if named == "vault logi" and len(value_of(match)) < 8 and not (match[0][0] == "v" and _PROMPT.search(before)):
        return False
    if named.startswith(("net", "isql")):
        plain = value_of(match).isalpha() and "/" not in match.string[match.start() : match.end() + 3]
        if plain or not _PROMPT.search(before):
            return False
    if named.startswith("-pass"):
        clear = match["quoted"] is not None or mixes_digits(value_of(match))
        return clear and _SETTER.search(before) is not None and is_argument(before, match)
    if named[0] == "/" and not _WINDOWS_PROGRAM.search(_command_before(match)):
        return False
    if "pass " in named or named == "masterauth" or named.startswith(("bindpw", "rootpw")):
        line = before.rpartition("\n")[2]
        if not (_OPTION_START.search(line) or line.strip(" \t>$") in ("", "CONFIG SET")):
            return False
    return is_argument(before, match)


def _argument(anchors: tuple[str, ...], before: str) -> SecretPattern:
    """Return the pattern for the argument after `before`, an expression without regard to case."""
    regex = rf"(?i:{before}){ARGUMENT}"
    return SecretPattern("Password as an argument", anchors, regex, "whole", is_program_argument)


_USER = rf"\S{{1,64}}{BLANK}"
_SECRET_FILE = (
    rf"[\"']?(?=\S*(?:pass|secret|token))[\w./~$-]{{1,100}}(?<=pass|sswd|word|cret|oken|file)(?:\.txt)?[\"']?"
    rf"(?=[ \t]*(?:[{LINE_END};&]|\Z))"
)
_REST = rf"[^{LINE_END};|]"

_ARGUMENTS: tuple[SecretPattern, ...] = (
    _argument(
        ("htpasswd ",),
        rf"htpasswd{BLANK}(?=(?:-\w{{1,9}}{BLANK}){{0,4}}-[a-z]{{0,4}}b)(?:-\w{{1,9}}{BLANK}|\d\d?{BLANK}){{1,5}}"
        rf"(?:[^\s-]\S{{0,200}}{BLANK}){{1,2}}?(?=\S+[ \t]*(?:[{LINE_END};|&]|\Z)|[\"'])",
    ),
    _argument(
        ("net use",),
        rf"net{BLANK}(?:use{BLANK}(?:[^{LINE_END}|;&]{{0,200}}?/user:\S{{1,100}}{BLANK}(?!/)"
        rf"|(?:\S{{1,3}}{BLANK})?\\\\\S{{1,200}}{BLANK}(?=[^\s/]\S{{0,100}}{BLANK}/user:))"
        rf"|user{BLANK}[^\s/]\S{{0,100}}{BLANK}(?!/))",
    ),
    _argument(
        ("/p:", "/rp ", "signtool"),
        rf"/p:|/rp{BLANK}|signtool(?:\.exe)?[\"']?{BLANK}{_REST}{{1,300}}?[ ]/p{BLANK}",
    ),
    _argument(
        ("requirepass ", "masterauth ", "bindpw ", "rootpw ", "setuser ", "sentinel auth-pass "),
        rf"(?:requirepass|masterauth|(?<![\w-])(?:bind|root)pw){BLANK}(?:--[a-z]{{4,12}}{BLANK})?"
        rf"|sentinel[ ]auth-pass{BLANK}\S{{1,64}}{BLANK}"
        rf"|setuser{BLANK}\S{{1,64}}{BLANK}(?:[^\s>\"']{{1,40}}{BLANK}){{0,6}}[\"']?>(?![>=])",
    ),
    _argument(
        ("storepass", "keypass"),
        rf"(?:store|key)pass(?:word{BLANK}(?=[\"'])|{BLANK})",
    ),
    _argument(
        ("encrypt_string ",),
        rf"encrypt_string{BLANK}(?=[\"']|[A-Za-z]\w*\d)",
    ),
    _argument(
        ("securestring ",),
        rf"securestring{BLANK}(?:-(?:string|asplaintext){BLANK})?(?=[\"']|[^\s$(]+{BLANK}-asplain)",
    ),
    _argument(
        ("wpa_passphrase ", "nmcli ", "iwconfig ", "set_network "),
        rf"wpa_passphrase{BLANK}(?:\"[^\"{LINE_END}]{{1,60}}\"|\S{{1,60}}){BLANK}(?=\S{{8}}|[\"'])"
        rf"|nmcli{BLANK}[^{LINE_END}]{{1,120}}?password{BLANK}"
        rf"|set_network{BLANK}\d{{1,3}}{BLANK}(?:psk|(?:sae_)?password|wep_key\d){BLANK}"
        rf"|iwconfig{BLANK}[^{LINE_END}]{{1,120}}?\bkey{BLANK}(?:s:|(?!s:|off\b|on\b|open\b|\[))",
    ),
    _argument(
        (
            *("vault login ", "kv put ", "bw unlock ", "bw login ", "authtoken ", "cargo login "),
            *("wandb login ", "service install "),
        ),
        rf"vault{BLANK}login{BLANK}(?:-\S{{1,60}}{BLANK}){{0,3}}(?=[^\s=-][^\s=]{{7}}"
        rf"|[^\s=-][^\s=]*[ \t]*(?:[{LINE_END};&|]|\Z))"
        rf"|kv{BLANK}put{BLANK}\S{{0,80}}(?:passw(?:or)?d|token|secret|key){BLANK}|bw{BLANK}(?:unlock|login{BLANK}[^\s-]\S{{0,100}}){BLANK}(?!-)"
        rf"|(?:authtoken|(?:cargo|wandb){BLANK}login|service install(?=[ ]eyJ)){BLANK}(?=[\w-]{{10}})",
    ),
    _argument(
        ("put_pw ", "owner_pw ", "user_pw "),
        rf"(?:put|owner|user)_pw{BLANK}",
    ),
    SecretPattern(
        "Password as an argument",
        ("qpdf ",),
        rf"(?i:qpdf{BLANK}{_REST}{{0,120}}?--encrypt{BLANK})(\S{{1,64}}{BLANK}\S{{1,64}})(?={BLANK}(?:40|128|256)\b)",
        "whole",
        is_program_argument,
    ),
    _argument(
        ("snmpwalk ", "snmpget ", "snmpset "),
        rf"snmp(?:walk|get|set){BLANK}(?:-{_REST}{{1,80}}?{BLANK})?-c{BLANK}",
    ),
    _argument(
        ("generic-password ", "internet-password ", "secret set "),
        rf"(?:generic|internet)-password{BLANK}{_REST}{{1,160}}?-w{BLANK}(?!-)"
        rf"|secret{BLANK}set{BLANK}{_REST}{{1,80}}?(?:--body|-b)[ =]",
    ),
    _argument(
        ("from-literal", "::add-mask::"),
        r"::add-mask::|(?<=--)from-literal[= ](?!(?:user|host|port|url|db)\w*=)[\w.-]{1,80}=",
    ),
    _argument(
        ("rabbitmqctl ", "mc alias set ", "admin user add ", "samba-tool ", "mosquitto_passwd "),
        rf"(?:rabbitmqctl{BLANK}(?:add_user|change_password){BLANK}{_USER}|samba-tool{BLANK}user{BLANK}(?:create|add){BLANK}{_USER}"
        rf"|mc{BLANK}alias{BLANK}set{BLANK}{_USER}\S{{1,200}}{BLANK}{_USER}|admin{BLANK}user{BLANK}add{BLANK}{_USER}{_USER}"
        rf"|mosquitto_passwd{BLANK}-b{BLANK}\S{{1,100}}{BLANK}{_USER})(?!-)",
    ),
    _argument(
        ("setapikey ", "openssl passwd ", "mkpasswd ", "mysqladmin ", "-admin-password ", "user:password "),
        rf"(?:setapikey|(?<=reset)-admin-password|user:password{BLANK}[^\s-]\S{{0,40}}){BLANK}(?!-)|mysqladmin{BLANK}{_REST}{{0,80}}?\bpassword{BLANK}"
        rf"|mkpasswd{BLANK}-m{BLANK}\S{{1,20}}{BLANK}(?=[\"']|\S*\d)"
        rf"|openssl{BLANK}passwd{BLANK}(?:-(?:\d|apr1|salt{BLANK}\S{{1,40}}|quiet|noverify){BLANK}){{1,4}}(?!-)",
    ),
    _argument(
        ("--secret-string", "put-parameter ", "keyvault secret set "),
        rf"--secret-string[ =](?![{{@f])|keyvault[ ]secret[ ]set{BLANK}{_REST}{{1,200}}?--value[ =]"
        rf"|put-parameter{BLANK}(?={_REST}{{0,300}}SecureString){_REST}{{1,200}}?--value[ =]",
    ),
    _argument(
        ("rclone config ", "rclone obscure ", "rasdial "),
        rf"rclone{BLANK}(?:config{BLANK}{_REST}{{1,160}}?\b(?:pass|key|secret_access_key){BLANK}|obscure{BLANK}(?!-))"
        rf"|rasdial{BLANK}(?:\"[^\"{LINE_END}]{{1,60}}\"|\S{{1,60}}){BLANK}{_USER}(?=\S*\d)",
    ),
    _argument(
        ("-password ", "-passwd "),
        rf"-passw(?:or)?d{BLANK}(?:[A-Za-z][\w.@-]{{0,40}}{BLANK}(?=[^\s-]\S*[ \t]*(?:[{LINE_END}]|\Z)))?",
    ),
    _argument(
        ("http-basic.", "bundle config ", "-token.", "-oauth."),
        rf"(?<=(?:..pypi|gitlab|github))-(?:token|oauth)\.\S{{1,80}}{BLANK}"
        rf"|(?<=[ ])http-basic\.\S{{1,80}}{BLANK}{_USER}(?!-)"
        rf"|bundle{BLANK}config{BLANK}(?:(?:set|--\w{{5,6}}){BLANK}){{0,2}}[^\s.-]{{1,80}}\.\S{{1,80}}{BLANK}[^\s:]{{1,64}}:(?![:/])",
    ),
    _argument(
        ("connect to ", "isql "),
        rf"connect{BLANK}to{BLANK}\S{{1,60}}{BLANK}user{BLANK}{_USER}using{BLANK}"
        rf"|(?<![\w-])isql{BLANK}(?:-\w{{1,9}}{BLANK}){{0,3}}(?:[^\s-]\S{{0,60}}{BLANK}){{2}}(?!-)"
        rf"(?=[\"']|\S*\w[ \t]*(?:[{LINE_END};|&<]|\Z))",
    ),
    _argument(
        ("pulumi config ", 'variable "', 'output "'),
        rf"pulumi{BLANK}config{BLANK}set{BLANK}(?=[^{LINE_END}]{{0,300}}--secret\b)"
        rf"(?:--[^\s]{{1,40}}{BLANK}){{0,3}}[^\s-]\S{{0,80}}{BLANK}(?!-)"
        rf"|(?:variable|output){BLANK}\"\w{{0,40}}(?:pass(?:word|wd)?|token|secret|(?:api|access)_?key)\"[ ]"
        r"\{[^{}]{0,400}?\b(?:default|value)[ ]{1,20}=[ ](?=\")",
    ),
    _argument(
        ("_PW ", "#define "),
        rf"(?-i:(?<=[A-Z])_PW){BLANK}(?=[^\s=/$]*\d)"
        rf"|#define{BLANK}\w*(?:pass(?:word|wd|phrase)|(?:secret|wifi|wlan)_(?:pass|psk)|"
        rf"api_?key(?!{BLANK}\"[A-Za-z]+(?:[_-][A-Za-z]+)+\")){BLANK}(?=\")",
    ),
)


COMMAND_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Login of a program",
        (_OPTION_ANCHOR,),
        r"""-(?:[A-Za-z#]{1,8}(?=u[ \t"']))?(?P<option>-?auth|[uUa]|-user|-proxy-user|-(?:src-|dest-)?creds)"""
        rf"""(?:{_NEXT}|[ \t=]{{0,2}})"""
        r"""(?:(?P<quote>["'])[^\s:%,"']{0,128}(?P<sign>[:%,])([^"'\n]{1,200}+)(?P=quote)"""
        r"""|[^\s:%,"'`]{0,128}(?P<bare_sign>[:%,])(?:"([^"\n]{1,200}+)"|'([^'\n]{1,200}+)'|([^\s"'`]{1,200}+)))""",
        "whole",
        is_program_login,
    ),
    SecretPattern(
        "Password of a program",
        (_OPTION_ANCHOR,),
        rf"-(?P<option>(?:pass(?:in|out)?|[uo]?pw)(?=[ \t])|hp(?=\S)|[pPawkKNsAXt])(?P<gap>{_NEXT}|[ \t=]{{0,2}})"
        rf"(?P<form>(?P<opened>[\"'])?pass:)?(?(opened)([^\"'{LINE_END}]{{1,200}}+)|(?:{QUOTED}|{BARE_PASSWORD}))",
        "whole",
        is_program_password,
    ),
    *_ARGUMENTS,
    SecretPattern(
        "AUTH command",
        ("AUTH ",),
        r"""(?<![\w-])AUTH[ ](?:(?:PLAIN|LOGIN|XOAUTH2)[ ](?P<login>[A-Za-z0-9+/]{8,}+=*)|(?:[a-z][\w-]{1,31}[ ])?"""
        rf"""["']?([^\s"']{{4,128}}+)["']?(?=[ \t]*(?:[{LINE_END}]|\Z)))""",
        "whole",
        is_auth_command,
    ),
    SecretPattern(
        "Password for a command that reads it",
        ("echo ", "printf ", "<<<", "send ", "sendline"),
        rf"""(?:(?:echo|printf){BLANK}(?:-[neE]{{1,3}}{BLANK}|["']?%s(?:\\{{1,2}}n)?["']?{BLANK})?|<<<[ \t]{{0,4}}"""
        rf"""|(?-i:send(?:line\(|(?:{BLANK}--)?{BLANK})(?=["'])))"""
        rf"(?:{QUOTED}|([^\s\"'`;|&<>)]++))(?:[ \t]{{0,4}}(?P<reader>)(?:>{{1,2}}[ \t]{{0,2}}{_SECRET_FILE}"
        rf"|(?:;[ \t]{{0,4}}(?:(?:echo|printf)[ ][^{LINE_END};|&]{{1,80}}(?:;[ ]{{0,4}})?){{0,3}})?[ \t)}}]{{0,3}}"
        rf"\|(?=[^{LINE_END}|]{{0,200}}(?:chpasswd|sudo{BLANK}-\w{{0,4}}S\b"
        rf"|--pass(?:word|wd|phrase)-(?:on-stdin|stdin|fd)|--with-token|cryptsetup|veracrypt{BLANK}{_REST}{{0,160}}--stdin|"
        rf"kinit{BLANK}|keepassxc-cli|secret-tool{BLANK}store"
        rf"|p4{BLANK}login|\b\w{{0,4}}passwd(?=[ \t{LINE_END}]|\Z)|-pass{BLANK}stdin|ecryptfs-|"
        rf"kubeseal|keyctl{BLANK}padd|\bsu{BLANK}-|\bsecrets?{BLANK}(?:set|put|create|add|versions)|pass{BLANK}insert"
        rf"|(?P<coded>)base64(?!{BLANK}-(?:d|-decode)\b)))))?",
        "whole",
        is_piped,
    ),
)
