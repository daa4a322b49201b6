"""Patterns for secrets in the syntax of a program, a file format or SQL.

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re
from bisect import bisect_left
from functools import lru_cache

from engine.base import lazy_pattern
from engine.redaction.non_secrets import (
    PLACEHOLDER,
    is_argument,
    is_auth_field,
    is_block,
    is_element,
    is_named_value,
    is_ordinary,
)
from engine.redaction.secret_pattern import (
    ARGUMENT,
    BARE_PASSWORD,
    BARE_TOKEN,
    LINE_END,
    NAME_END,
    PASSWORD_OPTIONS,
    QUOTED,
    SIGN,
    SecretPattern,
    mixes_digits,
    value_of,
)
from engine.redaction.secret_words import ANY_PASSWORD, LOGIN_WORDS, PARTICIPLE, PASSWORD_ANCHORS

_OPTION_ANCHOR = r"-(?<=[ \t\"']-)(?=[upPaUwkKNsAXht]|opw|[A-Za-z#]{1,8}u[ \t\"']|-user|-proxy|-auth)"
_NEXT = r"[\"'],\s{0,20}(?=[\"'])"
"""Between an option and its value in a list of arguments."""
_LOOK_BACK = 400
_COMMAND = lazy_pattern(
    r"(?<![\w.-])(?:(curl|etcdctl|https?|xh|sshpass|login|redis-cli|sqlcmd|bcp|cqlsh"
    r"|(?:un)?rar|(?:un)?zip|user(?:add|mod)|openssl|lftp|rdesktop"
    r"|rpcclient|winexe|ipmitool|evil-winrm|crackmapexec|netexec"
    r"|ssh-keygen|hdbsql|mssql-cli|net(?=[ ](?:ads|rpc)[ ])|youtube-dl|yt-dlp|twine|ldappasswd|doctl|nuget)"
    r"|(snmp|jenkins|mosquitto_|mysql|mariadb|mongo|7z|ldap|psexec|ncftp"
    r"|pdf(?=to|images|info|fonts|detach|grep)"
    r"|smb(?=client|get|map|cacls|tree|passwd|spool))[\w-]{0,12}(?:\.jar)?)(?=[ \t\\\"'])"
)
_COMMAND_START = lazy_pattern(r"(?<!\\)(?<!\\\r)\n|[|;]|&&")
_BLOCK = 256
"""Options in one block of text share the search for their commands: many options would need as many searches."""
_MACHINE = lazy_pattern(
    r"\b(?:machine\s{1,8}\S{1,253}|default\s{1,8}login\s{1,8}\S{1,128})(?:\s{1,8}(?:login|account)\s{1,8}\S{1,128}){0,2}\s{1,8}\Z"
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
    options = PASSWORD_OPTIONS.get(commands[last][1], {})
    return next((form for form, named in options.items() if match["option"] in named.split()), None)


@lru_cache(maxsize=2)
def _commands(text: str) -> list[tuple[int, str]]:
    """Return the positions of programs and of the starts of command lines, which have an empty name."""
    starts = [(match.start(), "") for match in _COMMAND_START.finditer(text)]
    return sorted(starts + [(match.start(), match[1] or match[2]) for match in _COMMAND.finditer(text)])


def _command_before(match: re.Match[str]) -> str:
    """Return the part of a command line before the match, at most its last 400 characters."""
    start = max(0, match.start() - _LOOK_BACK)
    return _COMMAND_START.split(match.string[start : match.start()])[-1]


def is_cookie(before: str, match: re.Match[str]) -> bool:
    """Whether a session's id is the value of a cookie: elsewhere, it is no key to the session."""
    line = match.string[max(0, match.start() - _LOOK_BACK) : match.start()].rpartition("\n")[2]
    return _COOKIE.search(line) is not None and sum(map(str.isdigit, value_of(match))) > 1


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
    if match["reader"] is None and not (match[0][0] == "<" and _READER.search(_command_before(match))):
        return match[0][0] != "<" and _PASSWORD_COMMAND.search(before) is not None and is_argument(before, match)
    if match["coded"] is not None and not mixes_digits(value_of(match)):
        return False
    return is_argument(before, match)


def is_program_argument(before: str, match: re.Match[str]) -> bool:
    """Whether an argument at the position of a password is a secret."""
    named = match[0][: len("masterauth")].lower()
    if named.startswith(("net", "isql")):
        plain = value_of(match).isalpha() and "/" not in match.string[match.start() : match.end() + 3]
        if plain or not _PROMPT.search(before):
            return False
    if named[0] == "/" and not _WINDOWS_PROGRAM.search(_command_before(match)):
        return False
    if "pass " in named or named == "masterauth" or named.startswith(("bindpw", "rootpw")):
        line = before.rpartition("\n")[2]
        if not (_OPTION_START.search(line) or line.strip(" \t>$") in ("", "CONFIG SET")):
            return False
    return is_argument(before, match)


def is_second_argument(before: str, match: re.Match[str]) -> bool:
    """Whether a string after the name of a user is a password."""
    value = value_of(match).lower()
    if match[0].lower().startswith("login") and value.rstrip("0123456789") in LOGIN_WORDS:
        return False
    return is_argument(before, match) and value != match["user"][1:-1].lower() and not value.startswith("pass")


def is_netrc(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `machine … login … password …` (the netrc format) is a secret."""
    text, start, end = match.string, max(0, match.start() - _LOOK_BACK), match.start()
    if text.rfind("machine", start, end) < 0 and text.rfind("default", start, end) < 0:
        return False  # much faster than the expression
    return _MACHINE.search(text, start, end) is not None and not is_ordinary(value_of(match))


_COOKIE = lazy_pattern(r"(?i:cookie)\\{0,8}[\"']?:|\bcurl\b.{0,300}(?:-b|--cookie)[ \t='\"]{1,3}[^ ]{0,200}\Z")
_OPTION_START = lazy_pattern(r"(?<!\S)-\w*\Z")
_PASSWORD_PROMPT = lazy_pattern(r"(?i:expect)[^\n]{0,60}assword[^\n]{0,40}\n?[^\n]{0,40}\Z")
_PROMPT = lazy_pattern(r"(?:\A|[\n>$#;&|\"'`]|\bcmd /c)[ \t]*\Z")
_BLANK = r"[ \t]{1,4}"
_WINDOWS_PROGRAM = lazy_pattern("freerdp|schtasks", re.IGNORECASE)
_READER = lazy_pattern(
    r"\b(?:kinit|vncpasswd|chpasswd|cryptsetup|passwd|sudo|--password-stdin|--with-token|gpg|pass insert|vercel env"
    r"|p4 login|wrangler secret|read[ ][^\n<]{0,30}(?i:pass|pw|secret|token)\w*)\b"
)
_PASSWORD_COMMAND = lazy_pattern(
    r"(?:pass(?:word)?[-_]?(?:command|cmd|eval)\\?[\"']?[ \t=:]{1,4}\\?[\"']"
    r"|(?:key|password|passphrase)(?:-file)?[ =]<\()\Z",
    re.IGNORECASE,
)
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_SECRET_NAME = r"(?i:passw(?:or[dt]|d)|passphrase|passcode|pass|kennwort|pwd|token|secret|key|salt)"

SYNTAX_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Login of a program",
        "`curl -u user:x`, `--user user:x`, `http -a user:x`, `smbclient -U user%x`, `lftp -u user,x`",
        (
            "curl -u ada:«hunter2» https://example.com",
            "curl -X POST --user 'ada:«correct horse»' https://example.com",
            "curl -s \\\n  -u ada:«hunter2» \\\n  https://example.com",
            "curl -sSLu ada:«hunter2» https://example.com",
            *("http -a ada:«hunter2» example.com", "lftp -u ada,«hunter2» ftp.example.com"),
            "smbclient //srv/share -U OFFICE/ada%«swordfish» -c ls",
            *("rpcclient -U 'ada%«correct horse»' srv", "net ads join -U ada%«swordfish»"),
            '["curl", "-u", "ada:«hunter2»", "https://x"]',
        ),
        (_OPTION_ANCHOR,),
        r"""-(?:[A-Za-z#]{1,8}(?=u[ \t"']))?(?P<option>-?auth|[uUa]|-user|-proxy-user)"""
        rf"""(?:{_NEXT}|[ \t=]{{0,2}})"""
        r"""(?:(?P<quote>["'])[^\s:%,"']{0,128}(?P<sign>[:%,])([^"'\n]{1,200}+)(?P=quote)"""
        r"""|[^\s:%,"'`]{0,128}(?P<bare_sign>[:%,])([^\s"'`]{1,200}+))""",
        "whole",
        is_program_login,
    ),
    SecretPattern(
        "Password of a program",
        "`mysql -px`, `sshpass -p x`, `docker login -p x`, `redis-cli -a x`, options of MongoDB, LDAP, SNMP, zip, "
        "OpenSSL, PDF tools and remote desktops",
        (
            *("mysql -u root -p«hunter2» shop", "mysqldump -p'«pa ss»' shop", "redis-cli -a «hunter2» ping"),
            *("sshpass -p «hunter2» ssh ada@host", "sshpass -p'«hunter2»' ssh ada@host"),
            *("docker login -u ada -p «swordfish» registry", "openssl rsa -passin pass:«hunter2» -in key.pem"),
            "openssl enc -d -aes-256-cbc -k '«correct horse»' -in a -out b",
            *("rdesktop -u ada -p «hunter2» host", "unrar x -p«hunter2» a.rar", "rar a -hp«hunter2» a.rar x"),
            *("ldappasswd -D cn=ada -s «hunter2»", "snmpget -v3 -u ada -A «hunter2» -X «swordfish» srv"),
            "ssh-keygen -t ed25519 -N '«correct horse»' -f key",
            *("['sshpass', '-p', '«hunter2»', 'ssh', 'ada@host']", "pdftotext -upw «hunter2» a.pdf"),
            *("openssl rsa -passin 'pass:«correct horse»' -in key.pem", "hdbsql -u ada -p «hunter2»"),
        ),
        (_OPTION_ANCHOR,),
        rf"-(?P<option>(?:pass(?:in|out)?|[uo]pw)(?=[ \t])|hp(?=\S)|[pPawkKNsAXt])(?P<gap>{_NEXT}|[ \t=]{{0,2}})"
        rf"(?P<form>(?P<opened>[\"'])?pass:)?(?(opened)([^\"'{LINE_END}]{{1,200}}+)|(?:{QUOTED}|{BARE_PASSWORD}))",
        "whole",
        is_program_password,
    ),
    SecretPattern(
        "Password in a .netrc file",
        "`machine … login … password x`, on one line or several",
        (
            *("machine example.com login ada password «hunter2»", "default login ada password «hunter2»"),
            "machine example.com\n  login ada\n  password «swordfish»",
        ),
        ("pass",),
        r"(?i:passw(?:or)?d)\s{1,8}([^\s\"'`]++)",
        "whole",
        is_netrc,
    ),
    SecretPattern(
        "Secret in XML",
        '`<password>…</password>`, `<token>`, `<apiKey>`, `<string name="api_key">` and the entries of property lists',
        (
            *("<password>«hunter2»</password>", "<db:dbPassword>«correct horse»</db:dbPassword>"),
            *("<apiKey>«swordfish»</apiKey>", "<client_secret>«swordfish»</client_secret>"),
            '<string name="api_key">«swordfish»</string>',
            '<property name="password">«hunter2»</property>',
            "<key>Password</key>\n\t<string>«hunter2»</string>",
            '<add key="ClearTextPassword" value="«hunter2»" />',
            "<Password>\n  <Value>«hunter2»</Value>",
        ),
        ("pass", "pwd", "kennwort", "psk", "token", "secret", "key"),
        rf"(?i:passw(?:or[dt]|d)|passphrase|passcode|pass|kennwort|pwd|psk|token|secret|key)"
        rf"(?:(?:\"|[ \t][^<>{LINE_END}]{{1,80}}+)?>(?:\s{{0,40}}<Value>)?(?P<quoted>[^<>{LINE_END}]{{1,200}}+)</"
        rf"|</key>\s{{0,40}}<string>([^<>{LINE_END}]{{1,200}}+)</string>"
        rf"|\"[ \t]{{1,4}}value[ \t]?=[ \t]?\"([^\"{LINE_END}]{{1,200}}+)\")",
        "whole",
        is_element,
    ),
    SecretPattern(
        "Secret in a YAML block",
        "the indented lines below the name of a secret, as in `password: >-`",
        (
            *("token: |\n  «swordfish»\nnext: 1", "  password: >-\n    «hunter2»\n  user: ada"),
            "api_key: |\n    «a1b2c3d4»\n    «e5f6a7b8»",
            "password: |\n  «correct horse»\n  «battery staple»\nuser: ada",
            "mot de passe: |\n  «soleil»",
        ),
        (*PASSWORD_ANCHORS, "token", "secret", "key"),
        rf"(?=[^:\n]{{2,40}}+:[ \t]{{0,4}}[|>])(?i:{ANY_PASSWORD}|token|secret|key)[\"']?[ \t]{{0,4}}:[ \t]{{0,4}}"
        r"[|>][+-]?[0-9]?[+-]?[ \t]{0,8}\r?\n",
        "whole",
        is_block,
        block="yaml",
    ),
    SecretPattern(
        "Secret of Kubernetes",
        "the entries below `data:` and `stringData:` of a manifest with `kind: Secret`, in YAML or JSON",
        (
            "kind: Secret\nmetadata:\n  name: db\ndata:\n  pg: «dHVnYm9hdA==»\n  user: «YWRh»",
            *("data:\n  pg: «dHVnYm9hdA==»\nkind: Secret\n", '{"data": {"pg": "«dHVnYm9hdA==»"}, "kind": "Secret"}'),
        ),
        ("secret",),
        r"Secret(?:(?:(?<=kind:[ ]Secret)|(?<=kind:[ ][\"']Secret)[\"'])[ \t]*(?:#[^\r\n]*)?(?:\r?\n|\Z)"
        r"|(?:(?<=kind\":\"Secret)|(?<=kind\":[ ]\"Secret)|(?<=kind\\\":\\\"Secret)|(?<=kind\\\":[ ]\\\"Secret))"
        r"\\?\"(?P<json>))",
        "whole",
        block="manifest",
    ),
    SecretPattern(
        "Secret of Kubernetes",
        "also in a string with escaped line ends",
        (r'{"yaml": "kind: Secret\ndata:\n  pg: «dHVnYm9hdA==»\n  user: «YWRh»"}',),
        ("secret",),
        r"Secret(?P<escaped>)(?:(?<=kind:[ ]Secret)|(?<=kind:[ ]'Secret)'|(?<=kind:[ ]\\\"Secret)\\\""
        r"|(?<=kind:[ ]\\\\\\\"Secret)\\\\\\\")[ \t]*(?:#(?:[^\"\\\r\n]|\\+(?![nr\\])[^\r\n]){0,200}+)?(?=\\+[nr]|\")",
        "whole",
        block="manifest",
    ),
    SecretPattern(
        "Login in base64",
        '`"auth": "…"`, `.dockerconfigjson: …`, `_auth=…` of Docker, npm and others',
        (
            '{"auths": {"https://x": {"auth": "«YWRhOmh1bnRlcjI=»"}}}',
            *("//registry.npmjs.org/:_auth=«YWRhOmh1bnRlcjI=»", "//registry.npmjs.org/:_authToken=«dXNlcjpwYXNz»"),
            *("_auth=«swordfish»", "mvn -Dsonar.login=«5f4dcc3b5aa765d6»", 'BW_SESSION="«pX9kLm3nQr7s»"'),
            "  .dockerconfigjson: «eyJhdXRocyI6e30=»",
        ),
        ('"auth"', "_auth", "dockerconfigjson", "sonar.login", "BW_SESSION"),
        rf"(?:sonar\.login|BW_SESSION|_auth(?i:token)?|\"auth|dockerconfigjson){NAME_END}{SIGN}(?:{QUOTED}|{BARE_TOKEN})",
        "whole",
        is_auth_field,
    ),
    SecretPattern(
        "Pair of a name and a value",
        "`name: DB_PASSWORD` and the `value:` after it, in Kubernetes, JSON and others; `define('DB_PASSWORD', '…')`",
        (
            '    - name: DB_PASSWORD\n      value: "«hunter2»"',
            "- name: API_TOKEN\n  value: «swordfish»",
            '{"name": "password", "value": "«hunter2»"}',
            '[{"Key":"db_pass","Value":"«correct horse»"}]',
            *("define('DB_PASSWORD', '«hunter2»');", "define( 'AUTH_SALT', '«x8 f&3 q)=»' );"),
        ),
        ("pass", "kennwort", "pwd", "token", "secret", "key", "salt"),
        rf"""{_SECRET_NAME}(?:[_-]?\d{{1,2}})?\\{{0,8}}(?:["']?,?\s{{1,40}}|["'],)\\{{0,8}}["']?(?:(?i:value)\\{{0,8}}["']?"""
        rf"""[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{QUOTED}|([^\s"'`,{{}}\[\]]++))"""
        rf"""|(?<=['"])(?P<listed>)(?P<string>[^'"{LINE_END}]{{4,200}}+)['"][ \t]{{0,4}}\))""",
        "whole",
        is_named_value,
    ),
    SecretPattern(
        "Session cookie",
        "`PHPSESSID=`, `sessionid=`, `connect.sid=` and other sessions in `Cookie:`, `Set-Cookie:` and `curl -b`",
        (
            "Cookie: lang=en; PHPSESSID=«298zf09hf012fh2k»; theme=dark",
            "Set-Cookie: sessionid=«38afes7a8djq93kd»; HttpOnly",
            "curl -b 'session=«a8f5f167f44f4964»' https://example.com",
        ),
        ("session=", "sessionid=", "session_id=", "sessid=", "sid="),
        r"(?i:session(?:_?id)?|sessid|sid)=([A-Za-z0-9%._~+/:-]{12,}+)",
        judge=is_cookie,
    ),
    SecretPattern(
        "Password as an argument",
        "`htpasswd -b … x`, `net use … x`, `/p:x` of FreeRDP, `requirepass x`, `-storepass x`, "
        "`wpa_passphrase … x`, `iwconfig … key x`, `qpdf --encrypt x y`, `snmpwalk -c x`, `vault login x`, "
        "`--from-literal=name=x`, `::add-mask::x`, `cargo login x`, `ngrok authtoken x`, `gh secret set … --body x`, "
        "`openssl passwd -6 x`, `bindpw x` of LDAP, `#define SECRET_PASS x`, "
        "`rabbitmqctl add_user … x`, `mc alias set … x`, `nuget setapikey x`, `ConvertTo-SecureString x`, "
        "`ADMIN_PW x`, `connect to … user … using x`, `isql … x`, `samba-tool user create … x`, "
        "`pulumi config set --secret … x`, defaults of secret variables in Terraform",
        (
            "htpasswd -bc /etc/nginx/.htpasswd ada «swordfish»",
            *("htpasswd -nbB ada '«correct horse»'", "net use Z: \\\\srv\\share /user:ada «hunter2»"),
            "net use \\\\srv\\share «swordfish» /user:OFFICE\\ada",
            *("net user ada «hunter2» /add", "xfreerdp /u:ada /p:«hunter2» /v:host"),
            *("redis-server --requirepass «swordfish»", "keytool -list -storepass «changeit» -keypass «changeit»"),
            "wpa_passphrase Home «swordfish»",
            *("vault login «swordfish77»", "snmpwalk -v2c -c «swordfish» 10.0.0.1"),
            '$x = ConvertTo-SecureString "«hunter2»" -AsPlainText -Force',
            "pdftk a.pdf input_pw «hunter2» output b.pdf",
            *("nmcli dev wifi connect Home password '«correct horse»'", "iwconfig wlan0 essid Home key s:«hunter»"),
            "qpdf --encrypt «hunter2 swordfish» 256 -- in.pdf out.pdf",
            *("kubectl create secret generic db --from-literal=pg=«hunter2»", "echo ::add-mask::«hunter2»"),
            *("rabbitmqctl add_user ada «swordfish»", "mc alias set s3 http://x ada «swordfish»"),
            *("mc admin user add s3 ada «swordfish»", "db2 connect to shop user ada using «swordfish»"),
            *("isql -v shop ada «hunter2»", "samba-tool user create ada «swordfish»", "ADMIN_PW «hunter2»"),
            *("pulumi config set --secret dbPass «swordfish»", "pulumi config set x:dbPass «swordfish» --secret"),
            *("schtasks /create /ru ada /rp «hunter2»", "rclone config create x sftp user ada pass «hunter2»"),
            *("nuget setapikey «oy2abcdefghij»", "keytool -importkeystore -srcstorepass «changeit» -v"),
            *("security add-generic-password -a ada -s x -w «swordfish»", '#define SECRET_PASS "«swordfish»"'),
            *("ngrok config add-authtoken «2abCdEf_12345»", "openssl passwd -6 «swordfish»", "bindpw «swordfish»"),
            *("(ConvertTo-SecureString «hunter2» -AsPlainText -Force)", "gh secret set TOKEN --body «swordfish»"),
            'variable "db_password" {\n  type = string\n  default = "«Zk9!pass»"\n}',
        ),
        (
            *("htpasswd ", "net use", "/p:", "/rp ", "rclone config ", "requirepass ", "masterauth ", "storepass"),
            *("authtoken ", "cargo login ", "keypass", "wpa_passphrase ", "vault login ", "securestring "),
            *("put_pw ", "owner_pw ", "user_pw "),
            *("encrypt_string ", "mysqladmin ", "kv put ", 'output "'),
            *("nmcli ", "iwconfig ", "qpdf ", "snmpwalk ", "snmpget ", "snmpset ", "generic-password ", "secret set "),
            *("internet-password ", "::add-mask::", "from-literal", 'variable "'),
            *("mc alias set ", "setapikey ", "rabbitmqctl ", "mosquitto_passwd ", "bw unlock ", "openssl passwd "),
            *("bindpw ", "rootpw ", "#define ", "isql ", "connect to ", "samba-tool ", "admin user add ", "_PW "),
            "pulumi config ",
        ),
        rf"(?i:htpasswd{_BLANK}(?=(?:-\w{{1,9}}{_BLANK}){{0,4}}-[a-z]{{0,4}}b)(?:-\w{{1,9}}{_BLANK}|\d\d?{_BLANK}){{1,5}}"
        rf"(?:[^\s-]\S{{0,200}}{_BLANK}){{1,2}}?(?=\S+[ \t]*(?:[{LINE_END};|&]|\Z)|[\"'])"
        rf"|net{_BLANK}use{_BLANK}[^{LINE_END}|;&]{{0,200}}?/user:\S{{1,100}}{_BLANK}(?!/)"
        rf"|net{_BLANK}use{_BLANK}(?:\S{{1,3}}{_BLANK})?\\\\\S{{1,200}}{_BLANK}(?=[^\s/]\S{{0,100}}{_BLANK}/user:)"
        rf"|net{_BLANK}user{_BLANK}[^\s/]\S{{0,100}}{_BLANK}(?!/)"
        rf"|(?:require|store|key)pass(?:word{_BLANK}(?=[\"'])|{_BLANK})|encrypt_string{_BLANK}(?=[\"']|[A-Za-z]\w*\d)|masterauth{_BLANK}"
        rf"|securestring{_BLANK}(?:-(?:string|asplaintext){_BLANK})?(?=[\"']|[^\s$(]+{_BLANK}-asplain)"
        rf"|wpa_passphrase{_BLANK}(?:\"[^\"{LINE_END}]{{1,60}}\"|\S{{1,60}}){_BLANK}(?=\S{{8}}|[\"'])"
        rf"|vault{_BLANK}login{_BLANK}(?:-[^\s=]{{1,40}}{_BLANK}){{0,2}}(?=[^\s=-][^\s=]{{7}})"
        rf"|(?:put|owner|user)_pw{_BLANK}|nmcli{_BLANK}[^{LINE_END}]{{1,120}}?password{_BLANK}|/p:|/rp{_BLANK}"
        rf"|iwconfig{_BLANK}[^{LINE_END}]{{1,120}}?\bkey{_BLANK}(?:s:|(?!s:|off\b|on\b|open\b|\[))"
        rf"|snmp(?:walk|get|set|bulkwalk){_BLANK}(?:-[^{LINE_END};|]{{1,80}}?{_BLANK})?-c{_BLANK}"
        rf"|(?:generic|internet)-password{_BLANK}[^{LINE_END};|]{{1,160}}?-w{_BLANK}(?!-)"
        rf"|(?:authtoken|cargo{_BLANK}login){_BLANK}(?=[\w-]{{10}})|secret{_BLANK}set{_BLANK}[^{LINE_END};|]{{1,80}}?"
        rf"(?:--body|-b)[ =]|setapikey{_BLANK}(?!-)"
        rf"|mc{_BLANK}alias{_BLANK}set{_BLANK}\S{{1,64}}{_BLANK}\S{{1,200}}{_BLANK}\S{{1,64}}{_BLANK}(?!-)"
        rf"|rabbitmqctl{_BLANK}(?:add_user|change_password){_BLANK}\S{{1,64}}{_BLANK}"
        rf"|openssl{_BLANK}passwd{_BLANK}(?:-(?:\d|apr1|salt{_BLANK}\S{{1,40}}|quiet|noverify){_BLANK}){{1,4}}(?!-)"
        rf"|#define{_BLANK}\w*(?:pass(?:word|wd|phrase)|(?:secret|wifi|wlan)_(?:pass|psk)|"
        rf"api_?key(?!{_BLANK}\"[A-Za-z]+(?:[_-][A-Za-z]+)+\")){_BLANK}(?=\")"
        rf"|(?<![\w-])(?:bind|root)pw{_BLANK}|mosquitto_passwd{_BLANK}-b{_BLANK}\S{{1,100}}{_BLANK}\S{{1,64}}{_BLANK}|bw{_BLANK}unlock{_BLANK}(?!-)"
        rf"|rclone{_BLANK}config{_BLANK}[^{LINE_END};|]{{1,160}}?\bpass{_BLANK}|mysqladmin{_BLANK}[^{LINE_END};|]{{0,80}}?\bpassword{_BLANK}"
        rf"|kv{_BLANK}put{_BLANK}\S{{0,80}}(?:passw(?:or)?d|token|secret|key){_BLANK}"
        rf"|(?:variable|output){_BLANK}\"\w{{0,40}}(?:pass(?:word|wd)?|token|secret|(?:api|access)_?key)\"[ ]"
        rf"\{{[^{{}}]{{0,400}}?\b(?:default|value)[ ]{{1,20}}=[ ](?=\")"
        rf"|connect{_BLANK}to{_BLANK}\S{{1,60}}{_BLANK}user{_BLANK}\S{{1,64}}{_BLANK}using{_BLANK}"
        rf"|(?<![\w-])isql{_BLANK}(?:-\w{{1,9}}{_BLANK}){{0,3}}(?:[^\s-]\S{{0,60}}{_BLANK}){{2}}(?!-)"
        rf"(?=[\"']|\S*\w[ \t]*(?:[{LINE_END};|&<]|\Z))"
        rf"|samba-tool{_BLANK}user{_BLANK}(?:create|add){_BLANK}\S{{1,64}}{_BLANK}(?!-)"
        rf"|admin{_BLANK}user{_BLANK}add{_BLANK}\S{{1,64}}{_BLANK}\S{{1,64}}{_BLANK}(?!-)"
        rf"|(?-i:(?<=[A-Z])_PW){_BLANK}(?=[^\s=/$]*\d)"
        rf"|pulumi{_BLANK}config{_BLANK}set{_BLANK}(?=[^{LINE_END}]{{0,300}}--secret\b)"
        rf"(?:--[^\s]{{1,40}}{_BLANK}){{0,3}}[^\s-]\S{{0,80}}{_BLANK}(?!-)"
        rf"|::add-mask::|(?<=--)from-literal[= ](?!(?:user|host|port|url|db)\w*=)[\w.-]{{1,80}}="
        rf"|qpdf{_BLANK}[^{LINE_END};|]{{0,120}}?--encrypt{_BLANK}"
        rf"(?=\S{{1,64}}{_BLANK}\S{{1,64}}{_BLANK}(?:40|128|256)\b)"
        rf"(?P<two>\S{{1,64}}{_BLANK}\S{{1,64}}))(?(two)|{ARGUMENT})",
        "whole",
        is_program_argument,
    ),
    SecretPattern(
        "Password in a call",
        "the string after a user's name in `auth=(…, x)`, `HTTPBasicAuth(…, x)`, `.login(…, x)` and connections to a "
        "database",
        (
            *('requests.get(url, auth=("ada", "«swordfish»"))', "HTTPBasicAuth('ada', '«hunter2»')"),
            *('smtp.login("ada@example.com", "«correct horse»")', 'WiFi.begin("Home", "«swordfish»");'),
            *('$db = new PDO("mysql:host=x", "ada", "«hunter2»");', 'keyring.set_password("x", "ada", "«tugboat»")'),
            'DriverManager.getConnection(url, "ada", "«swordfish»");',
        ),
        (
            *("auth=", "basicauth", "networkcredential", "login", "set_password", "username_pw_set", "wifi.begin"),
            *("new pdo", "new sequelize", "mysqli_connect", "drivermanager"),
        ),
        rf"(?i:auth=\(|basicauth\(|networkcredential\(|\blogin\(|username_pw_set\(|wifi\.begin\("
        rf"|set_password\((?:\"[^\"{LINE_END}]{{1,80}}\"|'[^'{LINE_END}]{{1,80}}'|\w{{1,40}}),[ ]?"
        rf"|(?:new pdo|new sequelize|mysqli_connect|drivermanager\.getconnection)\([^,()\"'{LINE_END}]{{0,80}}"
        rf"(?:\"[^\"{LINE_END}]{{1,120}}\""
        rf"|'[^'{LINE_END}]{{1,120}}')?,)[ \t]{{0,4}}(?P<user>\"[^\"{LINE_END}]{{1,64}}\"|'[^'{LINE_END}]{{1,64}}'),"
        rf"[ \t]{{0,4}}{QUOTED}(?=[ \t]{{0,4}}[,)])",
        "whole",
        is_second_argument,
    ),
    SecretPattern(
        "Key of a wallet or of one-time passwords",
        "`xprv…` and private keys of Bitcoin, `otpauth-migration://…`, `{SSHA}…` of LDAP",
        (
            "«5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ»",
            "otpauth-migration://offline?data=«CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6»",
            "userPassword: {SSHA}«0dXNlcjpodW50ZXIyZ2FyYmFnZQ==»",
        ),
        (
            *("otpauth-migration:", r"\{(?=S?SHA|SMD5)", *(f"{kind}prv" for kind in "xyzt")),
            rf"5(?<![A-Za-z0-9]5)[HJK](?={_BASE58}{{49}}(?![A-Za-z0-9]))",
        ),
        rf"(?:5{_BASE58}{{50}}|[xyzt]prv{_BASE58}{{107}}|otpauth-migration://offline\?data=([A-Za-z0-9%+/=_-]{{16,}}+)"
        r"|\{(?:SHA|SSHA(?:256|512)?|SMD5)\}([A-Za-z0-9+/]{20,}+={0,2}))",
        "whole",
    ),
    SecretPattern(
        "AUTH command",
        "`AUTH x` of Redis, `AUTH PLAIN …` of mail servers",
        ("127.0.0.1:6379> AUTH «swordfish»", "redis-cli AUTH default «hunter2»", "AUTH PLAIN «AGFkYQBodW50ZXIy»"),
        ("AUTH ",),
        r"""(?<![\w-])AUTH[ ](?:(?:PLAIN|LOGIN|XOAUTH2)[ ](?P<login>[A-Za-z0-9+/]{8,}+=*)|(?:[a-z][\w-]{1,31}[ ])?"""
        rf"""["']?([^\s"']{{4,128}}+)["']?(?=[ \t]*(?:[{LINE_END}]|\Z)))""",
        "whole",
        is_auth_command,
    ),
    SecretPattern(
        "Password for a command that reads it",
        "`echo x | sudo -S`, `… | docker login --password-stdin`, `… | openconnect --passwd-on-stdin`, `… | chpasswd`, "
        "`… | gh secret set NAME`, `… | base64`, `kinit <<< x`, `--password-command 'echo x'`, `send x` in Expect",
        (
            *("echo '«hunter2»' | sudo -S apt update", 'echo "«ada:hunter2»" | sudo chpasswd'),
            "echo «swordfish» | docker login -u ada --password-stdin registry",
            "printf '%s' '«hunter2»' | gh auth login --with-token",
            "echo «Tr0ub4dor» | sudo openconnect --passwd-on-stdin vpn.example.com",
            "echo -n «swordfish» | docker secret create db_password -",
            *("read -s PW <<< '«hunter2»'", "kinit ada <<< '«correct horse»'", "echo -n «hunter2» | base64"),
            'restic --password-command "echo «swordfish»" backup',
            *('expect "assword:"; send "«swordfish\\r»"', "c.expect('Password:')\nc.sendline('«swordfish»')"),
        ),
        ("echo ", "printf ", "<<<", "send ", "sendline"),
        rf"""(?:(?:echo|printf){_BLANK}(?:-[neE]{{1,3}}{_BLANK}|["']%s(?:\\{{1,2}}n)?["']{_BLANK})?|<<<[ \t]{{0,4}}"""
        rf"""|(?-i:send(?:line\(|(?:{_BLANK}--)?{_BLANK})(?=["'])))"""
        rf"{ARGUMENT}(?:[ \t]{{0,4}}(?P<reader>)\|(?=[^{LINE_END}|]{{0,200}}(?:chpasswd|sudo{_BLANK}-\w{{0,4}}S\b"
        rf"|--pass(?:word|wd|phrase)-(?:on-stdin|stdin|fd)|--with-token|passwd{_BLANK}--stdin|cryptsetup"
        rf"|p4{_BLANK}login|smbpasswd{_BLANK}-\w{{0,3}}s|vncpasswd|\bsecrets?{_BLANK}(?:set|put|create|add|versions)|pass{_BLANK}insert"
        rf"|(?P<coded>)base64(?!{_BLANK}-(?:d|-decode)\b))))?",
        "whole",
        is_piped,
    ),
)
