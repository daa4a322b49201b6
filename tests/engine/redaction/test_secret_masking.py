"""Secrets are masked, and everything else is unchanged."""

import json
import re
import sys
import time
from itertools import chain
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.formatting import without_escapes
from engine.redaction.secret_masking import PATTERNS, beginning_of, redact
from tests.helpers.secret_examples import SECRET_EXAMPLES

_MARKED = re.compile("«([^»]*)»")
_EXAMPLES = tuple(chain.from_iterable(SECRET_EXAMPLES.values()))


def marked(example: str) -> str:
    return _MARKED.sub(r"\1", example)


def masked(secret: str, whole: bool) -> str:
    return "***" if whole or len(secret) < 20 else f"{secret[:6]}…{secret[-4:]}"


def differing(expected: dict[str, str]) -> dict[str, str]:
    """Return the texts that are masked in another way than expected. One test checks a table, which takes less time."""
    return {text: left for text, wanted in expected.items() if (left := redact(text)) != wanted}


def test_every_example_is_masked_exactly_as_marked() -> None:
    wholes = {pattern.name: pattern.mask == "whole" for pattern in PATTERNS}
    for name, examples in SECRET_EXAMPLES.items():
        whole = wholes[name]
        masks = {
            marked(example): _MARKED.sub(lambda match: masked(match[1], whole), example)  # noqa: B023 - used at once
            for example in examples
        }
        assert not differing(masks), name


def test_secret_within_other_text_is_masked() -> None:
    for example in _EXAMPLES:
        text = redact(f"First line.\n{marked(example)}\nLast line.\n")
        assert text.startswith("First line.\n"), example
        left = [secret for secret in _MARKED.findall(example) if len(secret) >= 4 and secret in text]
        assert not left, example


def test_every_pattern_has_examples_and_anchors() -> None:
    assert {pattern.name for pattern in PATTERNS} == SECRET_EXAMPLES.keys()
    for pattern in PATTERNS:
        assert pattern.anchors, pattern.name
        assert all(anchor.strip() for anchor in pattern.anchors), pattern.name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TOKEN=a1b2c3d4e5f6g7h8i9j", "TOKEN=***"),  # 19 characters: ten of them would be most
        ("TOKEN=a1b2c3d4e5f6g7h8i9jk", "TOKEN=a1b2c3…i9jk"),
        ("password: a-very-long-password-of-many-characters", "password: ***"),
        ("DATABASE_URL=postgres://u:p%40ss@h/d?sslmode=require", "DATABASE_URL=postgres://u:***@h/d?sslmode=require"),
        ("https://x/?api_key=a1b2c3d4e5f6&user=ann", "https://x/?api_key=***&user=ann"),
        ("-e OPENAI_API_KEY='abcd' -e B=2", "-e OPENAI_API_KEY='***' -e B=2"),
        ("if password == 'hunter2':", "if password == '***':"),
        ("password: str = 'hunter2'", "password: str = '***'"),
        ('"password": "say \\"friend\\"", "x": 1', '"password": "***", "x": 1'),
        ('"password": "cut o', '"password": "*** o'),
        ("secret: swordfish", "secret: ***"),
        ("**Password:** hunter2", "**Password:** ***"),
        ("| password | hunter2 |", "| password | hunter2 |"),
        ("(password=hunter2)", "(password=***)"),
        ("password is ***bold2***", "password is *********"),
        ('{"api_key":"abc"}', '{"api_key":"***"}'),
        ("Passwort für die Fritzbox: Popcorn77", "Passwort für die Fritzbox: ***"),
        ("HomeKit-Code: 123-45-678", "HomeKit-Code: ***"),
        ("le code de l'alarme : 4821", "le code de l'alarme : ***"),
        ("yt-dlp -u ada -p tugboat https://x", "yt-dlp -u ada -p *** https://x"),
        ("mosquitto_pub -u ada -P tugboat -t x", "mosquitto_pub -u ada -P *** -t x"),
        ("wrangler secret put API_KEY <<< swordfish", "wrangler secret put API_KEY <<< ***"),
        ("POSTGRES_PASSWORD: ${PGPW:-tugb0at}", "POSTGRES_PASSWORD: ${PGPW:-***}"),
        ('password = "${DB:-tugb0at}"', 'password = "${DB:-***}"'),
        ("choco push --api-key=ch0coKey99", "choco push --api-key=***"),
        ("Authorization: ApiKey bWVvdzpuZXZlcg==", "Authorization: ApiKey ***"),
        ("wpa2-pre-shared-key=hoh8Eing", "wpa2-pre-shared-key=***"),
        ("adminPassword: !Sub 'tugboat'", "adminPassword: !Sub '***'"),
        ("https://x/api?apikey=eeP5zohd&x=1", "https://x/api?apikey=***&x=1"),
        ("sshPassword: !!str tugboat", "sshPassword: !!str ***"),
        ('password: !Base64 "tugboat"', 'password: !Base64 "***"'),
        ('password: !lambda "tugboat"', 'password: !lambda "***"'),
        ("secret-tool store --label=x a b <<< tugboat", "secret-tool store --label=x a b <<< ***"),
        ("rabbit:\nsmtp.example.com:587 ada:tugb0at", "rabbit:\nsmtp.example.com:587 ada:***"),
        ("the wifi password at the office is tugb0at", "the wifi password at the office is ***"),
        ("echo tugb0at | p4 login", "echo *** | p4 login"),
    ],
)
def test_further_examples_are_masked_as_expected(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "listed",
    [
        "1. {}\n",
        "  > * `{}`\n",
        "| Ada | {} |",
        "Ada,{},x",
        "Ada;{}\r\n",
        "Ada\t{}\tx",
        '["{}", "bob@example.com:***"]',
        f"{'bob@example.com:***, ' * 20}{{}}, x",
    ],
)
def test_login_in_a_list_is_masked(listed: str) -> None:
    assert redact(listed.format("ada@example.com:hunter2")) == listed.format("ada@example.com:***")


def test_quoted_numbered_or_cut_key_block_is_masked() -> None:
    body = ["MIIEowIBAAKCAQEA7bq2Xc9", "c3RhcnRlciBrZXkgbWF0ZXJpYWw", "Zm9v"]
    for prefix in ("", "> ", "    ", "# ", "\t"):
        text = "\n".join(f"{prefix}{line}" for line in ["-----BEGIN EC PRIVATE KEY-----", *body])
        assert redact(text) == "\n".join(f"{prefix}{line}" for line in ["-----BEGIN EC PRIVATE KEY-----"] + ["***"] * 3)
    numbered = "\n".join(f"{n:6}\t{line}" for n, line in enumerate(["-----BEGIN PRIVATE KEY-----", *body], 1))
    assert not any(line in redact(numbered) for line in body)
    code = 'if line.startswith("-----BEGIN PRIVATE KEY-----"):\n    found\nelse:\n    lost\n'
    assert redact(code) == code


_SEED = "legal winner thank year wave sausage worth useful legal winner thank yellow".split()


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"{name}{' '.join(_SEED)}{end}"
            for name, end in [("BIP39: ", ""), ("Wallet backup: ", ""), ('Mnemonic("', '")'), ("bip-39 words = '", "'")]
        ),
        *(
            name + "".join(f"{indent}{number}{mark} {word}{end}" for number, word in enumerate(_SEED, 1))
            for name in ("seed phrase:\n", "Mnemonic:\n\n", "wallet:\n")
            for mark in (".", ")")
            for indent, end in [("", " "), (" ", "\n"), ("   ", "\n\n"), ("", "\r\n")]
        ),
        *(
            f"{name}:\n" + "".join(f"{mark} {word}\n" for word in _SEED)
            for name in ("seed phrase", "recovery words", "mnemonic", "wallet backup")
            for mark in ("-", "*", "  -", "•")
        ),
        *(f"seed phrase: {' '.join(words)}" for words in (map(str.title, _SEED), map(str.upper, _SEED))),
        "wallet: " + " ".join(f"{number}. {word.title()}" for number, word in enumerate(_SEED, 1)),
        json.dumps({"mnemonic": _SEED, "x": 1}),
        json.dumps({"seedWords": _SEED}, separators=(",", ":")),
        json.dumps({"wallet": {"mnemonic": _SEED}}, indent=4),
    ],
)
def test_seed_phrase_is_masked_in_any_layout(text: str) -> None:
    masked_text = redact(text)
    assert not [word for word in _SEED if word in masked_text.lower()]
    assert masked_text.count("\n") == text.count("\n")


HARMLESS = """
Use the password reset form if you forgot it.
Please enter the password twice.
Use the password manager, then close it.
the user name and password policy
Enter the username and password below.
Use this token as the password when git asks.
We set the combination of both flags to 1024.
The combination of 2048, 4096 and 8192 works.
A combination is 1234 permutations long.
Open the file with 4096 bytes.
The achievement unlocks with 5000 points.
The door unlocks with a key.
the lock is released with 2000 ms of delay
pin1 = 1023
pin 4711 on the board
write to ada@example.com, Office365
int pin = 1023;
The keypad has 4096 keys.
door lock model 4711
password (sha256), password (RFC2898) and password (step 2)
Password Manager: 1Password
security question: What was your first car?
login screen Iphone12
wifi (2.4 GHz): Channel 11
turn left 34, right 12
lock contention dropped with 4096.
The mutex is locked with 1024 readers.
deadlock with 1000 threads
block with 4096 bytes
The password has been reset by the admin.
The password used to be stored in plain text.
I used bcrypt as the password hasher.
I set email as the password recovery option.
We use LDAP as our password backend.
The primary key: 1234 5678 9012
The key is that 2048 4096 bits work.
Key: F1 F2 F3 F4
Public key: AB12 CD34 EF56 7890 AB12 CD34 EF56 7890 AB12 CD34
SHA256 key fingerprint: AB12 CD34 EF56
page.fill('#username', 'anna')
page.getByLabel('Password').click()
expect(page.locator('#password')).toHaveValue('')
label.set_text("Password", "bold")
{"name": "password", "type": "string", "description": "The user's password", "value": ""}
def set_password(self, raw): self.password = make_password(raw)
set_password(user, value)
keyring.get_password("service", "anna")
password_hash(algorithm, "utf-8")
create_user("anna", "a@x.org")
bcrypt.hash(password, 10)
vault login
The vault login page is at /ui.
vault login fails with 403
echo done | tee log
(echo a; echo b) | sort
echo "$PW" | smbpasswd -s anna
signtool verify /pa app.exe
msbuild /p:Configuration=Release
dotnet nuget push a.nupkg -k $KEY
influx query -t $TOKEN 'x'
slappasswd -s "$PW"
Kombination aus 1024 und 2048 Bits
Die Tastenkombination ist 4 Zeichen lang
The password for the account: see below
Password (required): Please
Password (min. 8 characters): at least eight
Passwort für neue Nutzer: siehe Wiki
What should the password be? At least eight characters.
The token for the request: see RFC 6750.
set DB_PASSWORD to something safe
Set PASSWORD to the new value.
with the password "required" attribute
The password "password" is not allowed.
the password 'field' is missing
my password manager "Bitwarden" works
the pin is 12345 µm thick
Contraseña nueva: obligatoria
Mot de passe actuel : obligatoire
use the password Grant type
with the password Authentication, you
network name, password hash
user id and password length
see src/module:func1@line for the call
the hook lives at lib/parser:step2@entry
You can log in with facebook / twitter2 there.
Log in with github / gitlab2.
the PIN of the connector is 12345 mm
The PIN on the header is 20 mm long.
Your password has been changed.{% endblock %}
const token = Service_1.getToken.call(this);
token = b64encode(userpass).decode()
access_token: '={{$credentials.accessToken}}',
ALL ALL=(root) NOPASSWD: BACKUP_HOOK
tables = {"text": read, "htpasswd": read_logins}
_identity_auth: SyncX509Auth | None
``True`` if user found and password matches.
names = ["password", "not password", "password2"]
Password for user '%s' has been %s
user = create_user("testing", password="password", is_staff=True)
The token (optional): authentication_header_2
ldapsearch -s subtree -a always and snmpwalk -v2c host
[core.async] issue:12345 and mail.example.com: see ada:notes
u: 5 p: 7 and menu: file p: print
PASSWORD=${DB:-${OTHER}} and PASSWORD=${PASSWORD:-}
rar a -r archive.rar x and git log -stat -Ax -t 5
git@github.com:ada2/garden.git and ada@example.com:8080
rsync notes ada@host.example.com:backup2
scp a.txt ada@example.com:Backup2024
rsync -a x ada@example.com:Photos2024
see ada@example.com:Issue#12, then go on
remote: ada@example.com:Backup2024
git clone git@github.com:Repo2x
- git@github.com:tool2x
scp ada@host.example.com:dump2024.sql . && scp ada@host.example.com:Backup/2 .
ssh-keygen -t ed25519 -N '' -f key
Das Passwort für die Anmeldung: mindestens acht Zeichen
The code of the alarm is in sensor 4711-b.
The token limit is 400, and a token is a word or a part of one.
Each token costs money; tokens are counted by the server.
The password field is required, and the password is hashed before it is stored.
Is the password correct? The password was wrong. Your password is expired, it must be changed.
The password is checked by the server; no password is kept in the log.
Passwords are never logged. A password manager is a good idea.
Password: required. Password must have 8 characters. The password is 8 characters long.
Enter your password: it is never shown.
The secret is that nobody reads it. The secret to success: practice.
It is an open secret. Keep it secret: tell nobody.
The key is to start early. The key: patience. Press any key to go on.
The key is under the mat, and the answer key is on the last page.
key = value
key: value
sorted(items, key=len)
sorted(items, key=lambda item: item[1])
sorted(items, key=operator.itemgetter(1))
max(scores, key=scores.get)
def login(user: str, password: str) -> Token:
def login(user: str, password: str | None = None, token: str = "") -> None:
class Settings:
    api_key: str | None = None
    token: CancelToken
    secret: SecretStr
    password: Optional[str]
password = getpass.getpass()
password = os.environ["DB_PASSWORD"]
password = input("Password: ")
password = config.get("password")
api_key = os.getenv("OPENAI_API_KEY")
api_key=api_key,
token=token, secret=secret, password=password
client = Client(api_key=settings.api_key, token=self.token)
const token = await getToken(user);
const password = req.body.password;
const apiKey = process.env.OPENAI_API_KEY;
let token: string;
if (token === undefined) throw new Error("no token");
if token is None:
if key not in known:
if token == ")":
for key, value in table.items():
token = tokens[index + 1]
token = next(stream)
KEY = re.compile(r"[a-z]+")
PRIMARY KEY (id), FOREIGN KEY (user_id) REFERENCES users (id)
primary_key = "id"
primary_key: user_id_2024_x
sort_key="created_at"
cache_key = f"{name}:{version}"
public_key: AAAAB3NzaC1yc2E1234567890
next_token = "page2"
max_tokens: 4096
max_token = 4096
eos_token = "</s>"
"token": "the"
"key": "value"
"key": "users/42/avatar"
{"primary_key": "user_id", "sort_key": "created_at_2"}
export OPENAI_API_KEY=$OPENAI_API_KEY
export GITHUB_TOKEN="${GITHUB_TOKEN}"
export API_KEY=<your-api-key>
API_KEY=your-api-key-here
password: ${{ secrets.DB_PASSWORD }}
password: {{ vault_password }}
password: <password>
password: ********
--token <token>
--password $PASSWORD
The --token option is required. Use --password to be asked.
The option --api-key is read from the environment.
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
Authorization: Bearer ${token}
Authorization is required. The bearer of this letter is my friend.
Bearer authentication is described in RFC 6750.
commit 3f2a9c1be07d4c55a1b2c3d4e5f60718293a4b5c
Merge 9fceb02 into d9afc07
index 83db48f..bf269f4 100644
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
id = "550e8400-e29b-41d4-a716-446655440000"
session 01890a5d-ac96-774b-bcce-b302099a8057 started
request_id: req_011CSHoEeqs5C35K2UUqR7Fy
https://example.com/a/b/c?page=2&sort=name#top
http://localhost:8080/@vite/client
http://user@example.com/x
git@github.com:example/repo.git
ssh://git@example.com:22/repo.git
file:///usr/lib/python3.11/site-packages/x.py:12:4
npm_config_registry=https://registry.npmjs.org
npm_package_version
task-based, risk-adjusted, sk-learn, desk-bound
class="sk-container sk-text-repr-fallback"
2024-01-02T03:04:05.678Z INFO 12345678 started
12:34:56 took 400 ms
123456:abc
x = {123456: "a-long-value-with-many-letters"}
ASIA is a continent; Asia too.
import token
import secrets
from tokenize import TokenInfo
secrets.token_urlsafe(32)
hmac.new(key, message, hashlib.sha256)
the token is passed in the header
the token is sha256-hashed
the token is valid for 30 days
The token for the next page is in the answer.
The API key is missing. The API key is read from the file.
Your API key is stored in ~/.config/app/config.toml.
Set the token to an empty string.
change the password to something longer
reset the password to the default
a PIN is four digits, and the pin is bent
mapping is 1234 lines long
Das Passwort ist falsch. Das Passwort ist abgelaufen und muss geändert werden.
Das Passwort wird verschlüsselt gespeichert.
Passwort: erforderlich
Das Kennwort ist zu kurz.
The passphrase is required for this key.
passphrase: optional
The passphrase is stored in the keychain of the system.
grep -rn "-----BEGIN PRIVATE KEY-----" .
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
The line "-----BEGIN RSA PRIVATE KEY-----" starts a key.
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 ann@laptop
private_key_path = "/etc/ssl/private/server.key"
ssl_key: /etc/ssl/server.key
keyfile = "server.pem"
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
token_type_ids, attention_mask = batch
secret_santa = {"ann": "bob"}
keyboard: qwerty
monkey = 5
hockey: 3
turkey: 12kg for 8 people
KeyError: 'name'
KeyError: 0
TypeError: unexpected keyword argument 'key2'
Key: C minor. Keys: black and white.
a key-value store, a foreign-key check
pwd
pwd; ls -la
cd "$(pwd)" && make
$ pwd
if pwd is not None:
PWD=$(pwd)
SELECT password FROM users WHERE id = 1;
password VARCHAR(255) NOT NULL
ALTER TABLE users ADD COLUMN token TEXT;
password_hash: string
password_reset_url = "/reset"
passwordField.text = ""
<input type="password" name="password">
<label for="password">Password:</label>
type: password
"type": "password",
required: [user, password]
errors: password: is too short
We passed the token on, then the secret, then the key.
fn parse(token: &str) -> Result<Token, Error> {
func (p *Parser) next(token Token) error {
token := p.next()
private final String token;
public string Token { get; set; }
auto key = std::get<0>(pair);
key->second
Key::Escape => quit(),
case Key.Enter: return
event.key === "Enter"
"key": "Ctrl+K"
shortcut key: F11
hvs.md and SG. Smith
eyJ is how they begin
xai is a company, ntn is short
pw: 1280px
Reset your password: click here
const STORAGE_KEY = 'todos'
url(token-2024a1-b2c3-chart.svg)
The TAN 2024 conference, Erlang/OTP 27
error code 4711, status code: 404, the source code 123456
your verification code expires in 300 seconds
Room 4711 is your meeting place; pin it
5000 is your limit for the zip code
8080 is your port; pass the code on
12345 is your zip code
AUTH required
AUTH users
> AUTH failure
250-AUTH LOGIN PLAIN
podman run -p 8080:80 -u 1000:1000 nginx
aws ssm put-parameter --name /x --type String --value 10
bundle config set --local without development:test
login page / dashboard2
login via SSO / OAuth2
x * y1234z
SELECT * from2x
* list item1x
30 * * * job4x
ログイン: メール / パスワード
登录: 用户名 / 密码
userpass = True
login postgres:latest
Login ubuntu:jammy
docker login postgres:16-alpine
wifi Driver rtl8812au
wifi Adapter TP-Link-WN725N
WiFi Router Firmware-1.2.3
run it in the shell as root:wheel
ENV PATH /usr/bin
d["password"] = password
map.put("token", token)
kind: SecretStore
--from-literal=user=ada
try ubuntu:22.04 with node:Alpine3 or with python / Django
isql is a tool, and isql connects you
connect to sample user ada using $PASSWORD
samba-tool user create --help
mc admin user add myminio
pulumi config set --secret dbPass
call sip:ada@example.com or sip:10.0.0.1:5060
auth_pass $VRRP_PASSWORD
the otp seed is generated, and the seed is 42
pdftotext -f 1 -l 2 a.pdf
the bypass: 12345, compass=north2
def validate_credentials(request: http.Request) -> None:
image: ghcr.io/ada/tool:1.4.2@sha256:4f0a9c1be07d
see docs/guide:12@main and //cdn.example.com:8080/x@2
Login failed (401/403), login failed (google/facebook)
logged in as ada with python3 and 2 keys
secret_id = "prod/database", SecretId: db-password-2
echo done > tests/passed.log
echo "$TOKEN" > token.txt
ACL SETUSER ada on >= 6.2
the lock code for the handler is 12 lines
<setting name="Theme"><value>dark</value></setting>
sign in as ada with Windows11 laptops
sign in as ada using Office365, then open it
signed in as ada with SAML2.0
log in as ada with ed25519 keys
logged in as root and x86_64 appears
log in as ada and H2-console opens
I logged in with Chrome / Firefox
logged in (admin/editor)
a combo 1234 of keys
the combo box 4711
Türcode Praxis im 2. Stock
MasterUserPassword: !Ref DatabasePassword
MasterUserPassword: !Ref "DatabasePassword"
Password: !GetAtt 'Database.Password'
Password: !FindInMap [Stage, prod, "Password"]
password: !vault |
password: !ENV ${APP_PASSWORD}
api_key: !env_var "MAPS_KEY"
Login error (timeout/network)
Илья Репин 1844–1930
спин 4711
License: BSD-3-clause
id:: 653c957a-6323-403d-b63c-ca1068d62cca
return value*72
Full OS ^Zbx4OmwL
static inline Py_UCS4
Post-History: 10-Oct-2024, 31-Jan-2025
Files: simd/x86_64/jcsample-sse2.asm
rm -rf imlib2-1.10.0
git merge feature/ABC-123-x
what is Covid-19
install model Llama3-70B
thread-safe: 1000
to be safe: 5000
level unlock: 1500
the security code review 2024
wir nutzen Qwen3-30B-A3B
try ollama Mixtral-8x7B
git checkout feature-ABC-123-fixBug2
you press Ctrl+Shift+F10
mail shortcut Ctrl+Shift+M
regex uses Foo+Bar
it calls Array#flatMap
""".strip("\n").split("\n")


def test_ordinary_lines_are_unchanged() -> None:
    assert not differing({line: line for line in HARMLESS})


GIVEN_AWAY = """
gitea mara «Kranich-41»
- [ ] nextcloud ada «Tal$perre9»
{"out": "x\\nnextcloud ada «Tal$perre9»\\ny"}
    12\tnextcloud\tada\t«Tal$perre9»
nextcloud ada `«Tal$perre9»`
home assistant eva «Ka3se-Brot»
amazon.de: mara@example.org, «Rotkehlchen_19»
* vpn office / eva.m / «Tal$perre9»
printer admin page: admin «Xerox-1911»
ssh pi@raspi «Hi2beere!»
old laptop: user eva, pw «apfelmus»
root pw on pi is «himbeere»
PIN Girokarte «7719»
sim unlock: «7735»
Safe: «483920»
The combination to the shed is «7-21-35»
password%3D«apfelkuchen%26user%3Deva»
bank card ending 4411, pin «9260»
phone pin changed to «482913»
tablet code: «110294»
SSID FRITZ-77AB, WPA2 «41185502938475610293»
netflix profile pw: «popcorn»
zip pw = «Postkarte7»
the passphrase was "«the cat eats at nine»"
garage keypad: «90210»
airbnb lockbox «3357» (key inside)
guest network: Guests / «come-on-in-7»
wi-fi code: «84930213»
pw of the NAS: «Otter-Teich-3»
passphrase of the key: "«grey whales sing»"
unlock code phone: «190283»
phone unlock pattern / code «2580»
2fa seed «KRSXG5CTMVRXEZLUK»
security answer: «Mr. Whiskers»
secret answer first pet = «Whiskers»
пин-код карты «4471»
kod do domofonu «58#21»
Wifi at Oma's: FRITZ!Box 7590 KL / «38472910563829104756»
SMTP auth: mailer@example.net : «mAil3r-pW»
Passwort Elster-Zertifikat: «Steuer#2023»
senha do banco «Praia#45»
safe combo: «23-7-41»
PIN2 of the SIM: «5521», PUK «83920174»
Backup codes GitHub: «a1b2c-d3e4f» «g5h6i-j7k8l»
Türcode Praxis «1907*»
code portail «A4582»
echo «hunter2blue» | veracrypt --stdin --text vol.hc
printf '%s' «Winterhund» | veracrypt --text --stdin /dev/sdb1 /mnt
signtool sign /f cert.pfx /p «Gartenzaun7» app.exe
dotnet nuget add source https://pkgs.example.com/v3/index.json -n feed -u bob -p «Quastenflosser»
slappasswd -s «Laternenpfahl»
(echo «Seegras»; echo «Seegras») | smbpasswd -s -a anna
vault login «tulpe»
vault login -method=token «tulpe8»
I typed «walnutcream» as the VNC password.
Kombination des Tresors: «143852»
influx config create -n d -u http://x -o org -t «Preiselbeere77» -a
The wifi at the cabin: network Bergblick, password «Enzianblau».
The alarm is disarmed with «5519».
Locker combination «32-14-8», third floor.
Just use «butterscotch» as the passphrase when it asks.
We agreed on the passphrase "«purple monkey dishwasher»".
Her phone unlocks with «730915».
The vault's master password used to be «oldlighthouse».
Als Passwort habe ich «Zwetschge» genommen.
Haustür-Code: «2580»
Entsperrcode fürs Handy «119922»
Le code du portail, c'est «47B12».
J'ai mis «coquelicot» comme mot de passe.
Contraseña nueva para el correo: «Girasol2024»
He puesto «mariposa» como contraseña.
> What should the database password be? · «Seerose»
Enter passphrase (empty for no passphrase): «Seerose»
I'll set POSTGRES_PASSWORD to «Seerose» in the compose file.
I logged in with anna / «Seerose2» and it worked.
User: use the password «Seerose», it's only for staging
Created access token 'ci': «seerose92kd83»
set_password("anna", "«Seerose»")
User.objects.create_superuser('admin', 'a@x.org', '«Seerose»')
driver.find_element(By.ID, "password").send_keys("«Seerose»")
await page.fill('#password', '«Seerose»');
plink -ssh anna@host -pw «Gartenzaun» ls
osslsigncode sign -pkcs12 c.pfx -pass «Gartenzaun» -in a -out b
certutil -f -p «Gartenzaun» -importpfx c.pfx
jsign --keystore c.p12 --storepass «Gartenzaun» app.exe
{ echo «Seegras»; echo «Seegras»; } | passwd anna
echo «Seegras» | openssl enc -aes-256-cbc -pass stdin -in a
echo «Seegras» | keyctl padd user x @u
echo «Seegras» | su -c id
echo "«Seegras»" | ecryptfs-add-passphrase
echo "«Seegras»" | kubeseal --raw --name x
vault login -no-print «Seegras»
influx query -t «Seegras77xx» 'from()'
vercel deploy -t «Seegras77xx»
wandb login «Seegras77xx9012»
hash = bcrypt.hashpw(b"«Seegras»", bcrypt.gensalt())
generate_password_hash("«Seegras»")
password_hash('«Seegras»', PASSWORD_DEFAULT)
make_password("«Seegras»")
cy.get('#password').type('«Seegras»')
await page.getByLabel('Password').fill('«Seegras»')
page.locator("input[type=password]").fill("«Seegras»")
fill_in "Password", with: "«Seegras»"
await userEvent.type(screen.getByLabelText(/password/i), '«Seegras»')
{"element": "Password field", "ref": "e5", "text": "«Seegras»"}
{"name": "Password", "type": "textbox", "ref": "e12", "value": "«Seegras»"}
await page.type("#pwd", "«Seegras»")
driver.findElement(By.name("password")).sendKeys("«Seegras»");
$('#password').val('«Seegras»')
document.getElementById("password").value = "«Seegras»"
I used «Seegras» as my Dropbox password.
She chose «tulip» as her new email password.
We set "«moon river»" as the BIOS password.
Ik heb «zeegras» als wachtwoord ingesteld.
Usei «algamarinha» como senha do router.
Ho messo «algamarina» come password del wifi.
Als Kennwort nahm ich «Seegras».
Ich habe «Seegras» als Passwort genommen.
use the passphrase "«blue moon»" to open it
Mot de passe actuel du wifi : «Seegras»
Neues Passwort fürs WLAN: «Seegras»
The old password used to be «seagrass».
The password has been «seagrass» since May.
Fahrradschloss Kombination: «4471»
bike lock combo «4471»
Zahlenschloss: «4471»
Combinación de la caja fuerte: «14-38-52»
The safe opens with «14-38-52».
Mein Handy entsperrt man mit «730915».
unlock the phone with «730915»
Enter PIN (4 digits): «4471»
Passwort (nochmal): «Seegras»
API key for OpenWeather: «a1b2c3d4e5f6»
set ADMIN_PASSWORD to «Seegras» and restart
mosquitto_sub -u anna --pw «Tannenzapfen» -t '#'
pg_ctl -D data -o "-c ssl_passphrase_command='echo «Tannenzapfen»'"
zfs create -o encryption=on -o keyformat=passphrase tank/x <<< «Tannenzapfen»
gocryptfs -extpass "echo «Tannenzapfen»" a b
minisign -S -m f <<< «Tannenzapfen»
drush user:password admin "«Tannenzapfen»"
grafana-cli admin reset-admin-password «Tannenzapfen»
Her Apple ID: eva@example.org, password «Pusteblume»
La clave de la alarma es «9921».
usuario eva, contraseña «dientedeleon»
De pincode van de kluis is «7712».
Action: fill(selector="#login_password", value="«Loewenzahn»")
browser_fill_form {"fields":[{"name":"Password","type":"textbox","ref":"e7","value":"«Loewenzahn»"}]}
Password for 'https://eva@git.example.com': «Loewenzahn»
INFO: created user eva with password «Loewenzahn»
I'll log in as eva with password «Loewenzahn».
Set `ADMIN_PASSWORD` to `«Loewenzahn»` in .env
sudo mount -t cifs //ada:«tugboat»@nas.local/data /mnt
impacket-smbexec office/ada:"«hunter 2»"@dc01
redis-cli ACL SETUSER ada on ">«hunter2»" allkeys
tool --pw <(echo '«hunter2»') run
bw login ada@example.com «hunter2» --raw
wpa_cli set_network 0 sae_password «hunter2»
<property name="password"><value>«hunter2»</value></property>
printf %s "«hunter2»" > ~/.config/x/db_password
Login failed for (ada / «hunter22»)
Login for the router: admin / «tugboat»
Login zum NAS: ada / «tugboat9x»
logged in (ada/«tugboat99»)
log in as ada and the password «tugboat99»
log in as `ada` with `«tugboat99»` on the NAS
I logged in with ada@example.com / «swordfish»
signed in as ada using «tugboat99», twice
ssid Home, key "«tugboat99»"
the alarm code at the office is «5512#»
enable secret «hunter22» ! note
enable secret «hunter22» # comment
username cisco privilege 15 password 0 «cisco123» ! lab
username ada secret «hunter22» role admin
# username ada privilege 15 secret «hunter22»
     3\tenable secret 9 «swordfish»
12→enable secret 9 «swordfish»
+enable secret «swordfish»
-username ada secret «swordfish»
username admin password 5 «$5$saltsalt$abcdef» role network-admin
enable secret sha512 «$6$saltsalt$abcdef»
pwd                = «lighthouse»
DBPWD              : «lighthouse»
vrrp 1 authentication text «fred»
const secret = user.password ?? '«lighthouse9»'
auth_password                 = "«lighthouse»"
DBPASS=«lighthouse»
const password = process.env.PW || "«lighthouse»"
password = os.environ.get("PW", "«lighthouse»")
{:user "ada" :password "«lighthouse»"}
Dim pwd As String = "«lighthouse»"
root pw: «lighthouse»
the login ada@example.com / «Leuchtturm7» works
mysqladmin -u root password '«lighthouse»'
ansible-vault encrypt_string '«lighthouse»' --name x
consul kv put x/db/password «lighthouse»
output "db_password" { value = "«plum-cart-9»" }
    storePassword '«lighthouse»'
etcdctl --user root:«lighthouse» get x
usermod -p '«$6$saltsalt$abcdefghijkl»' ada
Set-ADAccountPassword ada -NewPassword (ConvertTo-SecureString -AsPlainText "«Plum9cart»" -Force)
username ada privilege 15 password «lighthouse»
ppp chap password 0 «lighthouse»
 pre-shared-key local «lighthouse»
 pre-shared-key address 0.0.0.0 0.0.0.0 key «lighthouse»
option wpakey '«lighthouse»'
Das WLAN heißt Hafen, Schlüssel «Leuchtturm77»
card 4111, cvv «123»
das Passwort «hunter2» gilt bis Montag
mein Kennwort «Igel77xy» steht im Ordner
Passwort vom Router «Fritz!9981»
my pwd «hunter2»
pw is «hunter2»
user ada, pass «hunter2»
Nutzer ada mit Passwort «Geheim99» anlegen
mot de passe wifi «Soleil99»
hasło do wifi «Slonce1»
пароль от вайфая «Sun2024»
wachtwoord van de wifi «Zon2024»
şifresi «hunter2»
비번은 «hunter2»
密码 «123456»
smbclient -U WORKGROUP/ada%«swordfish» -L srv
htpasswd -nb ada «hunter2»
openssl enc -aes-256-cbc -k «hunter2» -in a
net user ada «swordfish» /add
crackmapexec smb host -u ada -p «hunter2»
sshpass -e; SSHPASS=«hunter2» ssh x
cryptsetup luksOpen /dev/sda1 x <<< '«hunter2»'
{"args": ["--password", "«hunter2»"]}
{"Name":"ApiToken","Value":"«swordfish»"}
le code PIN «4711»
Le mot de passe est «soleil».
le mot de passe est «soleil»
le mot de passe du wifi est «soleil» et le login ada
Mon mot de passe pour le serveur est «tournesol».
le mot de passe c'est «soleil»
mot de passe du routeur : «tournesol»
Le code d'accès est «tournesol77»
das Passwort lautet «Sonnenblume»
Das Passwort ist «Sonnenblume».
Das Passwort für den Router lautet «Sonnenblume».
Mein Passwort war «sonne», jetzt nicht mehr
Das Kennwort heißt «Sonnenblume»
La contraseña es «girasol».
la contraseña del router es «girasol»
mi clave es «girasol7»
la clave del wifi es «girasol»
la contraseña: «girasol»
clave: «girasol»
contraseña del wifi: «girasol»
A senha é «girassol».
a senha do wifi é «girassol»
a palavra-passe é «girassol»
senha do wifi: «girassol»
La password è «girasole».
la password del wifi è «girasole»
password del router: «girasole»
la parola d'ordine è «girasole»
het wachtwoord is «zonnebloem»
Het wachtwoord van de router is «zonnebloem».
het wachtwoord luidt «zonnebloem»
wachtwoord voor wifi: «zonnebloem»
hasło to «słonecznik»
Hasło do wifi to «słonecznik».
hasło brzmi «słonecznik»
hasło jest «słonecznik»
hasło do wifi: «słonecznik»
пароль: «подсолнух»
пароль — «подсолнух»
Пароль от вайфая: «подсолнух»
пароль от роутера — «подсолнух».
мой пароль это «подсолнух»
мій пароль: «соняшник»
パスワードは「«ひまわり»」です
パスワードは«ひまわり»です。
パスワードは «himawari» です
パスワード\uff1a«ひまわり»
Wi-Fiのパスワードは«ひまわり»です
合言葉は«ひまわり»
密码是«向日葵»
密码\uff1a«向日葵»
路由器的密码是«xiangrikui»。
密码为«向日葵»\uff0c请保密
WiFi密码: «向日葵»
密碼是«向日葵»
口令\uff1a«芝麻开门»
비밀번호는 «해바라기»입니다
비밀번호: «해바라기»
lösenordet är «solros»
lösenord till wifi: «solros»
adgangskoden er «solsikke»
passordet er «solsikke»
heslo je «slunečnice»
Heslo k wifi je «slunečnice».
salasana on «auringonkukka»
şifre: «ayçiçeği»
parola este «floarea»
jelszó: «napraforgó»
a jelszó «titok123»
A wifi jelszava «napraforgó9».
a jelszavam: «kismacska»
a jelszava volt «napraforgó9»
мой пароль «подсолнух7»
şifre «ayçiçeği9»
heslo k wifi 5 je «slunečnice»
ο κωδικός είναι «ηλίανθος»
הסיסמה היא «חמנית»
كلمة المرور هي «عباد»
mật khẩu là «huongduong»
kata sandi adalah «matahari»
The password is «sunflower».
the password for the wifi is «sunflower»
password: «wifipassword»
psk=«wifipassword»
psk: «wifipassword»
PSK=«mywifipassword»
WPA_PSK=«wifipassword»
DB_PASS=«mypassword»
DB_PASSWORD=«mypassword»
pass: «mypassword»
Authorization: Custom «swordfish»
-H "Authorization: Custom «swordfish»"
PIN: «4711»
pin=«4711»
MOT_DE_PASSE=«hunter2»
La contraseña es «Hunter-2»
senha: «hunter2»
lösenord: «hunter2»
ПАРОЛЬ = «hunter2»
wachtwoord: «hunter2»
hasło: «hunter2»
şifre: «hunter2»
mật khẩu: «hunter2»
密碼: «hunter2»
비밀번호: «hunter2»
パスワードは«さくら»です
Use «hunter2» as your new password and log in.
with «swordfish9» as password
verwende «Sommer2024» als Kennwort
usa «Sol2024x» como contraseña
użyj «Slonce1x» jako hasła
используй «Sun2024» как пароль
Login: ada@example.com / «sunflower»
credentials: root / «toor»
Zugang: ada / «Rm4tzqq»
creds: ada/«Rm4tzqq»
login: ada/«hunter2»
creds are admin/«secret1»
Zugangsdaten: ada/«sommer1»
credentials: root/«hunter2»
identifiants : ada/«soleil2»
login: ada@example.com/«hunter2»
CREDENTIALS="ada:«hunter2»"
pass «x8Kq2vLw»
my pass «Tr0ub4dor&3» works
# passphrase «Rm4tzqq»
backup code: «83627194»
recovery code «4F9A22BC91D0»
Authorization bearer «a1b2c3d4»
["--token", "«abc123def»"]
deploy --host-key «x7Gq2LpZ9vB4» now
["docker", "login", "-u", "ada", "-p", "«hunter2»"]
iwconfig wlan0 key «1234567890»
AUTH_SALT=«f1d2d2f924e9»
printf '%s' '«hunter2»' | base64
ada:«$6$rounds=5000$4f0a9c1b$e07d5ca1b2c3d4e5f60718293a4b5c6d.Qw/e»:19000:0:99999:7:::
Passwort auf «Rm4tzqq» geändert
Das Root-Passwort hab ich auf «Rm4tzqq» gesetzt
cambié la contraseña a «Rm4tzqq»
zmieniłem hasło na «Rm4tzqq»
поменял пароль на «Rm4tzqq»
wachtwoord veranderd naar «Rm4tzqq»
비밀번호를 «Rm4tzqq»로 바꿨어요
şifreyi «Rm4tzqq» yaptım
Le mot de passe root est «Rm4tzqq»
clé wifi : «Rm4tzqq»
Kennwort fürs Backup lautet «Rm4tzqq»
votre mot de passe temporaire est «Rm4tzqq»
WLAN-Schlüssel: «Rm4tzqq»
der Zugangscode lautet «Rm4tzqq»
Network key: «A1B2C3D4E5»
TOTP-Secret «JBSWY3DPEHPK3PXP»
useradd -p «Rm4tzqq» ada
API 키는 «a9x8c7v6b5n4»
{"username":"ada","password":{"value":"«Rm4tzqq»"}}
os.environ["DB_PASSWORD"] = "«tugboat»"
config['auth']['token'] = '«a1b2c3d4e5»'
System.setProperty("javax.net.ssl.keyStorePassword", "«tugboat»")
read -s PW <<< "«tugboat99»"
set -x API_TOKEN «tugboat99xk2»
ipmitool -H x -U ada -P «tugboat» chassis status
use «tugboat99» as my passphrase
«tug99boat» como senha
用«tug99boat»当密码
heslo na wifi je «lodka77»
hasło do routera «lodka77»
das pw fürs nas ist «kahn77»
la contra del wifi es «barco77»
login root:«tugboat»
Ihr Bestätigungscode lautet «629104».
Tu código de verificación es «629104»
Код подтверждения: «629104»
인증번호는 «629104» 입니다
alarm code «9931»
«629104» is your Apple ID verification code
«629104» is your Booking.com sign-in code
AUTH «hunter2»
> AUTH «hunter2»
wifi: Router / «Kahn-2024x»
PUK: «81726354»
""".strip("\n").split("\n")
GIVEN_AWAY += r"""
Login admin/«tugb0at99» works
You can use login ada@example.com:«Tugboat9» to get in.
Router 192.168.1.1 admin / «tugboat99»
ada@example.com «Passw0rd!»
[smtp.example.com]:587 ada@example.com:«tugboat99»
Amazon: ada@example.com PW: «tugboat9»
WIFI:T:WPA2-EAP;S:Uni;E:PEAP;PH2:MS-CHAPv2;I:ada;P:«tugboatx9»;;
passwordeval "echo «tugboat99»"
PassCmd "echo «tugboat99»"
openssl passwd -salt xyz «tugboat99»
rootpw «tugboat99»
ada:{SHA}«fEqNCco3Yq9h5ZUglD3CZJT4lBs=»
java -jar jenkins-cli.jar -s x -auth ada:«tugboat99» build
cqlsh -u ada -p «tugboat99»
bcp x out y -U ada -P «Tugboat99»
PRAGMA rekey = "«tugboat»";
UPDATE users SET password=crypt('«tugboat»', gen_salt('bf'));
db.example.com:5433:shop:ada:«tugboat»
key-string 7 «tugboat99»
radius-server host 10.0.0.1 key «tugboat99»
wpa-psk ascii 0 «tugboat99»
set security ike policy x pre-shared-key ascii-text «tugboat99»
set system root-authentication plain-text-password-value «tugboat99»
uci set wireless.default_radio0.key='«tugboat99»'
netsh wlan set profileparameter name=x keyMaterial=«tugboat9»
set vpn ipsec pre-shared-secret «tugboat9»
set password ENC «AK1abcdefgh123456789==»
[Environment]::SetEnvironmentVariable("DB_PASSWORD", "«tugboat9»")
'password' => env('DB_PASSWORD', '«tugboat9»'),
WiFi.begin("Home", "«tugboat9»");
client.username_pw_set("ada", "«tugboat9»")
smtplib login('ada','«tugboat9»')
wg set wg0 private-key <(echo '«yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»')
FileVault recovery key: «ABCD-EFGH-IJKL-MN»
Lizenzschlüssel: «VK7JG-NPHTM-C97JM-9MPGT-3V66T»
safe combination: «12-34-56»
code wifi : «AB12CD34EF»
WPA-PSK key: «AB12CD34EF»
MNEMONIC=«legal winner thank year wave sausage worth useful legal winner thank yellow»
My wallet's words: «legal winner thank year wave sausage worth useful legal winner thank yellow»
""".strip("\n").split("\n")
GIVEN_AWAY += r"""
neighbor 10.0.0.1 password 7 «0822455D0A16»
the switch has password 7 «094F471A1A0A» in its file
ppp chap password 7 «0822455D0A16»
ppp chap password 0 «tugboat»
username ada password 7 «094F471A1A0A»
 key 7 «0822455D0A16»
server-private 10.0.0.1 auth-port 1812 acct-port 1813 key «tugboat»
server-private 10.0.0.1 key 7 «tugboat»
ntp authentication-key 1 md5 «0822455D0A16» 7
ip ospf authentication-key «tugboat»
ip ospf authentication-key 7 «tugboat»
key-string «swordfish»
10.0.0.1:5432:shop:ada:«hunter2»
the password is «sunflowers» now
the passphrase is «broken window paper lamp»
password: «temporary»
the admin / «tugboat99»
root / «tugb0At99» works
login("ada", "«index2x»")
#define API_KEY "«tugboat»"
#define WIFI_PASSWORD "«correct-horse»"
"ada" * "«tiger2»"
set vpn ipsec site-to-site peer x authentication pre-shared-secret «tugboat»
shared-secret «tugboat»
""".strip("\n").split("\n")
GIVEN_AWAY += r"""
client secret «a~bQ8x.Zt3~wLk9_V»
Client secret (value): «8Q~kZ7x.vT3nLwP9»
token «550e8400-e29b-41d4»
NEXUS_CREDENTIALS="deploy:«Tug4boat»!"
HARBOR_CREDENTIALS=«x7Kpq2mN9v»
javax.net.ssl.keyStorePassword «swordfish»
  spring.mail.password    «kahn-2024»
smtp_pass = «hunter2»
keytool -importkeystore -srcstorepass «changeit9» -deststorepass «kahn2024»
mc alias set backup https://s3.example.com ada «wJalrXUtnFEMIK7MDENG»
nuget setapikey «oy2abcdefghijklmnop»
spawn ssh ada@host; expect "assword:"; send -- "«Tugboat\r»"
password = settings.get("password") or "«swordfish»"
""".strip("\n").split("\n")
GIVEN_AWAY += [
    "line con 0\n password 0 «tugboat»\n login",
    "key chain x\n key 1\n  key-string «swordfish»\n!",
    "tacacs server x\n key 7 «tugboat»\n",
    "USER ada\nPASS «Rm4tzqq»",
    "Recovery codes:\n«4f9a2-2bc91»\n«91d0a-a3742»\n«0c5eb-8f1d3»\n\nThe end of 2026",
    "- Backup codes\n  1. «12345678»\n  2. «87654321»\n- Phone 12345678",
    'network={\n\tssid="x"\n\tpsk=«wifipassword»\n}',
    "---\ntitle: x\nclave: «girasol»\n---\n",
    "---\ntitle: x\nmot de passe: «soleil»\n---\n",
    "---\ntitle: x\ncontraseña: «sol y luna»\n---\n",
    "---\npassword: «correct horse battery staple»\nuser: ada\n---",
    "password: |\n  «correct horse battery staple»\nuser: ada",
    "password: |\n  «blue moon»\n  «rises tonight»\nuser: ada",
    "passphrase: >-\n    «correct horse»\n    «battery staple»",
    "secret: |\n  «witch collapse practice feed shame open despair creek road again ice least»",
    "token: |\n  «abc def»\nx: 1",
    "clave: |\n  «girasol»\nx: 1",
    "contraseña: |\n  «girasol azul»\nx: 1",
    "пароль: |\n  «подсолнух»\n",
    "db:\n  password: «correct horse battery»\n  host: x",
]

DESCRIBED = """
Le mot de passe est obligatoire.
Le mot de passe est trop court
Le mot de passe est stocké dans le trousseau.
Le mot de passe est incorrect
le mot de passe est vide.
La contraseña es obligatoria.
la contraseña es demasiado corta
la clave es trabajar cada día
La clave es la paciencia
La clave: trabajar juntos
palabra clave: memoria
palabras clave: memoria
la clave primaria es id
A senha é obrigatória
a senha é inválida.
la password è obbligatoria
la password è sbagliata
het wachtwoord is verplicht
het wachtwoord is verlopen.
hasło jest wymagane
hasło jest nieprawidłowe.
a jelszó kötelező
A jelszó túl rövid.
A jelszó legalább 8 karakter
A jelszava lejárt.
пароль обязателен
пароль неверный
пароль: обязательное поле
パスワードは必須です
パスワードは8文字以上です
パスワードは間違っています
パスワードは正しくありません。
密码是必填项
密码为空
密码是错误的
密码\uff1a必填
비밀번호는 필수입니다
비밀번호는 8자 이상이어야 합니다
Das Passwort ist abgelaufen.
Das Passwort ist inaktiv.
Das Passwort ist verschlüsselt
Das Passwort wird gespeichert
password=password
token = authtoken
token=authtoken,
f(token=authtoken)
f(password=userpassword)
"auth": "basic"
"auth": "required"
Authorization: Grants access to users
Authorization: Token token="x"
Authorization: Basic realm="x", charset="UTF-8"
Authorization: Custom api_key=
Authorization: MediaBrowser Version="1"
authorization: see below
cat /etc/passwd
awk -F: </etc/passwd '$3 >= 1000 && $3 < 65000 {print $3}'
passwd prefer-ipv4 prefer-ipv6
openssl req -new -newkey rsa:2048 -keyout private/test_cert_2
GPIO PIN 18 is connected to PIN 2024
pin 4711 of the header
PIN on page 1234
Die PIN ist vierstellig, PIN Version 2
Passwort 8-stellig wählen
Das Passwort 12stellig
password 8chars
Passwort PBKDF2 oder Argon2id
the cache key 9f86d081884c7d65 is new
the primary key a1b2c3d4e5f6 of the row
the next token 123456789012
net user interface guide
the .net user interface2 guide
login: fixed crash, see gh123
login: 5 attempts, max10 per hour
credentials: see vault / path2/to
{"name": "pass", "value": 12}
{"name": "total_token", "value": 512}
{"name": "primary_key", "value": "user_id"}
{"name": "password", "value": "Password"}
{"name": "password", "value": "${PASSWORD}"}
click.option("--password", "user_password2")
parser.add_argument("--token", "api_token2")
("--api-key", "k3y-of-what")
deploy --host-key x7Gq2LpZ9vB now
["--password", "$DB_PASSWORD"]
define('KEY_NAME', 'users');
define('PASSWORD_KEY', $x);
echo "hello" | grep sudo
echo $PASSWORD | docker login --password-stdin
echo "$TOKEN" | gh auth login --with-token
cat <<< "some text"
sudo tee <<EOF
htpasswd -c file user
htpasswd -b <file> <user> <password>
net use * /delete
net user
wpa_passphrase <ssid> <passphrase>
vault login -method=userpass
keytool -storepass:env PASS
requirepass is set in redis.conf
the mnemonic is easy to remember because it has so many words that everyone knows by heart
the first pass is O2 and the second pass is x86fast
pass arg1 and param2 to f3
pass is 2x faster
pwd /srv/data1
密码SHA256加密
パスワード8文字以上
密码 8 位
비밀번호 8자 이상
пароль 8символов
mot de passe 2FA
smbclient -L srv -U ada
curl -u ada https://x
curl -u ada:$PASSWORD https://x
curl -u ada%hunter2 https://x
smbclient //srv/x -U ada%<password>
openssl x509 -in a -key b
sqlplus /nolog
sqlplus / as sysdba
cmd /p:release freerdp
nmcli connection show
Use OAuth2 as password grant, or a file as the password.
Use SHA256 as the password hash.
take "password" as the password
Der WLAN-Schlüssel ist falsch
the secret ARN-OF-NO-SECRET
as a password manager
login: email / phone
Login: Google / GitHub
login: see http://example.com/x1
logins: 12:30 and 14:45
pass IPv4Address to the call
Pass it to make_l10nflist.
pass BLOB_TYPE_X509 to search
don't pass "-Zbzip2 -z9" on
the username and password properties, as well
username or password 2fa
The recovery code of the driver is in drivers/md/raid5.c.
recovery code: see the manual
backup code
Backup codes:
Bearer authentication2
bearer RFC6750
salt = os.urandom(16)
SALT = generate_salt()
SALT=$SALT
SEED=42
random_seed=12345678
echo hello | base64
echo aGVsbG8x | base64 -d
auth=("user", "pass")
HTTPBasicAuth('user', 'password')
client.login("ada", password)
url = f"https://{token}@github.com/ada/x.git"
https://github@example.com/x
add-generic-password -a ada
token es una palabra
токен: слово
"$1$2" and "$2$1"
iwconfig wlan0 key off
qpdf --encrypt "" "" 256 -- a b
STORAGE_KEY = 'todos'
password: the one we use everywhere
- Password: reset by email
Secret: nobody knows
token: opaque string
""".strip("\n").split("\n")
DESCRIBED += r"""
Login user/page2 first.
login root/disk1
open the login admin/settings
git clone git@github.com:ada/x1
Ada Lovelace <ada@example.com> wrote C# 4
ada@example.com wrote this in 2024
admin / user
root / v1
PRAGMA key = '${KEY}'
PRAGMA foreign_keys = ON
ATTACH DATABASE 'x.db' AS x
auth sha and aes are supported
the priv des option
password 7 days old
password 0 means none
key-string pairs of a dictionary
password 7 decades old
the key 7 2024 of the table
password 0 tugboat is used
the authentication-key 1 is in use
the shared-secret approach
the password is due on Monday
The password is overdue.
your password is temporary, the account too
the passphrase is due on Monday
the password is similar to the old one
Das Passwort ist fällig
Das Kennwort war dasselbe wie vorher.
#define API_KEY "X-Api-Key"
"ada" * "count"
option key 'ctrl-shift-p'
root / docker2024 image
admin / panel2023 route
time 10:5432:a:b:c
login("ada", "index2")
page.login('user', 'submit')
shared-secret authentication1 is common
pre-shared-key exchange2 is described here
an option key 'fontFamily' of the theme
"a" * 20
"title" * count
login("user", "password")
getenv("DB_PASSWORD", "")
os.environ.get("API_TOKEN", "default")
openssl passwd -6 -stdin
bindpw <password>
radius-server host 10.0.0.1 key <key>
enable password authentication
enable password visibility
enable password hints ! of the users
enable password rules
enable password complexity
vrrp 1 authentication failed
snmp-server host 10.0.0.1 traps
- enable password saving
Netflix: SquidGameS2
NAS: DS920plusX
mail MacBookPro2023
- Amazon: S3BucketName
gmail OAuth2Client
wifi: Channel36plus
- WiFi WPA3Personal
Mail: Q3Report2024
The password is set by: Bob
Password was created for: Ada
Password was created for: ada7@example.org
The password was set on: 2024-05-01
The temporary password is generated for you: https://example.org/reset2
title = t.password ?? 'Kennwort eingeben'
password = t.password ?? 'Kennwort eingeben'
props.password || "Passwort"
const password = props.password || "Passwort"
contraseña ?? "Escriba"
token ?? 'anonymous'
user.accessToken ?? 'anonymous'
password = boto.config.get('DB', 'db_passwd', None)
password = config.get("smtp", "mail_pass")
[:input {:type :password "x" 1}]
pwd                   : /home/ada
vpn pw: expired
nas pw: later
router admin pw: keepass
wlan pw: ändern
ssh pw: disabled
enable secret rotation
username and password required
neighbor password exchange
The username is password protected
set user defaults password policies
mail Debian12
mail version2 works
wifi 802.11ac
The password is generated for each user: see below
const name = options.name || 'anonymous'
const password = options.password || ''
resource "aws_iam_user" "x" { name = "token" }
key := fields[0]
Seed: The garden was green and the Children played until it became too dark outside
The wallet shows coins, notes and some other things that other people have given over many years
Seed the random numbers before every single test that needs them
""".strip("\n").split("\n")
DESCRIBED += r"""
password = options.get("password") or "anonymous"
Cómo cambiar la contraseña de un usuario en Linux: https://example.org/how-to-2
修改用户密码：https://example.org/how-to-2
una [clave principal](https://example.org/3.x/keys.html)
PWD: '/home/ada',
adduser --disabled-password --gecos '' ada
passphrase: &lt;string&gt;
The passphrase to use for decryption.
password: '{? mail.password ?}'
credentials: 'include'
FETCH_CREDENTIALS=include
GOOGLE_APPLICATION_CREDENTIALS=/etc/key-2024.json
the token some-file-name of 2024-05-01
sort key created_at.desc.nulls.last
first_pass = step1
x.password is checked by the server
send "hello\r"
c.sendline('whoami')
""".strip("\n").split("\n")
DESCRIBED += [
    "radius server x\n key rotation is off",
    "Seeds:\n" + "".join(f"- {plant}\n" for plant in "carrot tomato cress radish basil chard beet leek".split() * 2),
    "wallet - leather, brown, small, with a coin pocket, given away, found again, lost again, bought again, kept",
    "the radius server is down\n key swordfish",
    "password: |\n  The password of the user.\n",
    "password: |\n  Specifies the password used to connect to the database.\n",
    "token: >\n  Token for the API, see the docs\n",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: x",
    "- name: password\n  type: string",
    "- name: token\n  value: $(TOKEN)",
]


def test_password_in_any_wording_is_masked() -> None:
    assert not differing({marked(line): _MARKED.sub("***", line) for line in GIVEN_AWAY})


def test_description_of_a_password_is_unchanged() -> None:
    assert not differing({line: line for line in DESCRIBED})


MANIFESTS = [
    'kind: Secret\nstringData:\n  pg: «hunter\'2xyz»\n\n  next: «a#b» # of the database\n  "tls.key": «tugboat»\n',
    "kind: Secret # db\ndata:\n  pg: \"«a\\\"b c»\" # d\n  user: '«it''s»'\n  of: {{ .Values.x }}\n",
    'kind: "Secret"\nstringData:\n  pg: |\n    «blue moon»\n    «tugboat»\n  user: «ada»\nmetadata:\n  name: x\n',
    "     1\tkind: Secret\n     2\tdata:\n     3\t  pg: «tugboat»\n     4\t\n     5\t  user: «ada»\n",
    "> kind: Secret\n> data:\n>   pg: «tugboat»\n>\n>   user: «ada»\n",
    "+kind: Secret\n+data:\n+  pg: «tugboat»\n-  pg: «swordfish»\n",
    "kind: Secret\r\ndata: # of the database\r\n  pg: «tugboat»\r\n  user: «ada»\r\n",
    '{\n  "data": {"pg": "«dHVn»",\n  "user": "«a\\"b»"}, "kind": "Secret",\n  "metadata": {"name": "x"}\n}',
    r'"last": "{\"data\":{\"pg\":\"«dHVn»\"},\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\"}}"',
    "```yaml\nkind: Secret\ndata:\n  pg: «tugboat»\n```\n```yaml\nkind: ConfigMap\ndata:\n  colour: blue\n```\n",
    "```yaml\ndata:\n  colour: blue\n```\n```yaml\ndata:\n  pg: «tugboat»\nkind: Secret\n```\n",
    "kind: Secret\ndata:\n  pg: «tugboat»\n---\nkind: ConfigMap\ndata:\n  colour: blue\n",
    "items:\n- data:\n    a: blue\n  kind: ConfigMap\n- data:\n    pg: «tugboat»\n  kind: Secret\n- data:\n    b: c\n",
    r'"yaml": "kind: Secret\r\ndata:\r\n  pg: «dHVn»\r\n  \"user\": \"«YWRh»\"\r\n", "next": "data:\n  a: b\n"',
    r'{"yaml": "data:\n  pg: «dHVn»\nkind: Secret", "next": "data:\n  a: b"}',
    r'{"yaml": "kind: \"Secret\"\ndata:\n  pg: «dHVn»\n"}',
    r"""{"yaml": "kind: 'Secret'\ndata:\n  pg: «dHVn»\n"}""",
    r'{"yaml": "kind: Secret # of \"db\"\ndata:\n  pg: «dHVn»\n---\nkind: Secret \ndata:\n  pg: «dHVn»\n"}',
    r'{"yaml": "kind: \"Secret\" # c\r\ndata:\r\n  pg: «dHVn»\r\n"}',
    r'{"a": "{\"yaml\": \"kind: \\\"Secret\\\"\\ndata:\\n  pg: «dHVn»\\n\"}"}',
    r'{"a": "{\"yaml\": \"kind: Secret\\ndata:\\n  pg: «dHVn»\\n\", \"next\": \"data:\\n  a: b\"}"}',
    '[{"data":{"a":"b"},"kind":"ConfigMap"},{"data":{"pg":"«dHVn»"},"kind":"Secret"},{"apiVersion":"v1","data":{"a":"b"}}]',
]


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_manifest_entries_are_masked_in_any_form(manifest: str) -> None:
    assert redact(marked(manifest)) == _MARKED.sub("***", manifest)


@pytest.mark.parametrize(
    "manifest",
    [
        "data:\n  a: {long}\n  b: {long}\nkind: Secret\n",
        "kind: Secret\ndata:\n  a: {long}\n  b: {long}\n",
        "kind: Secret\ndata:\n" + "  a: {long}\n" * 60,  # longer than the window around its kind
        '{{"data": {{"a": "{long}", "b": "{long}"}}, "kind": "Secret"}}',
    ],
)
def test_long_manifest_is_masked_whole(manifest: str) -> None:
    assert redact(manifest.format(long="aGk5" * 10_000)) == manifest.format(long="***")


def calls_in(text: str) -> int:
    """Count the calls of functions that masking a text takes."""
    calls = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        redact(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "line",
    [
        "kind: Secret\n",
        "data:\n  pg: ***\nkind: Secret\n",
        '"data": {}, "kind": "Secret",\n',
        r"kind: Secret\ndata:\n  pg: ***\n",
        r"applied kind: Secret\n name x; ",
        r"\"kind: Secret\n x\" ",
        "kind: Secret\nkind",
    ],
)
def test_each_manifest_of_many_is_read_once(line: str) -> None:
    redact(line)  # compiles the expressions
    assert calls_in(line * 200) < 3 * calls_in(line * 100)


@pytest.mark.parametrize(
    "table",
    [
        "| Pin | Function |\n|---|---|\n| 4711 | GPIO |\n",
        "| suite | pass | fail |\n|---|---|---|\n| unit | 120 | 2 |\n",
        "| Clave | Valor |\n|---|---|\n| color | azul |\n",
        "| password | hunter2 |\n| user | ada |\n",
        "| password hash | x |\n|---|---|\n| 4711 | y |\n",
        "| user | password |\n|---|---|\n| ada | required |\n\n| 1 | 2 |\n",
        "use the password\n---\nb | c\n",
        "suite,pass,fail\nunit,120,2\n",
        "name, password, url\nada, hunter2, x\n",
        "Choose a name,password\nand an address, then save.\n",
        "name,password\nada,hunter2,x\n",
        "name,password\nada,\nbob,required\nname,***\n",
        "user,password_hash\nada,x7Kpq2\n",
    ],
)
def test_other_columns_of_tables_are_unchanged(table: str) -> None:
    assert redact(table) == table


@pytest.mark.parametrize(
    "table",
    [
        "| user | password |\n|---|---|\n| ada | «hun\\|ter2x» |\n| a\\|b | «hunter2x» |\n",
        "| user | password |\n|---|---|\nada | «hunter2x»\n",
        "user | password\n---|---\n| ada | «hunter2x» |\n",
        "password | user\n---|---\n| «hunter2x» | ada |\n",
        "| password | user |\n|-|-|\n| - | - |\n| «hunter2x» | ada |\n",
        "| user | password |\n|---|---|\n| ada | «hunter2x» |\n| user | password |\n|---|---|\n| x | «hunter2y» |\n",
        "id|password\n-|-\n1|«hunter2x»\n |«hunter2y»\n",
    ],
)
def test_column_is_found_in_rows_with_other_pipes(table: str) -> None:
    assert redact(marked(table)) == _MARKED.sub("***", table)


@pytest.mark.parametrize(
    "table",
    [
        "  9→| user | password |\n 10→|---|---|\n 11→| ada | «hunter2x» |\n",
        " 1\t| user | password |\n 2\t|---|---|\n 3\t| ada | «hunter2x» |\n",
        "1|password|x\n2|-|-\n3|«hunter2x»|y\n",
        "+| user | password |\n+|---|---|\n+| ada | «hunter2x» |\n-| bob | «swordf1sh» |\n",
        " | user | password |\n |---|---|\n+| ada | «hunter2x» |\n-| bob | «swordf1sh» |\n",
        " 1→user,password\n 2→ada,«hunter2x»\n",
        "+user,password\n+ada,«hunter2x»\n",
        *(
            f"| user | {name} |\n|---|---|\n| ada | «hunter2x» |\n"
            for name in ("`password`", '"password"', "password:", "Passwords", "**Password:**", "Passwörter")
        ),
    ],
)
def test_column_is_found_in_quoted_and_numbered_lines(table: str) -> None:
    assert redact(marked(table)) == _MARKED.sub("***", table)


@pytest.mark.parametrize(
    "lines",
    [
        "| user | password |\n|---|---|\n| ada | the |\n",
        "| user | password |\n|---|---|\n",
        "user,password\n",
        "user;password;x\n",
        "user\tpassword\nx\ty\n",
        "password,pw\npw,password\n",
        "-p x\n",
    ],
)
def test_each_of_many_tables_is_read_once(lines: str) -> None:
    redact(lines)  # compiles the expressions
    assert calls_in(lines * 200) < 3 * calls_in(lines * 100)


@pytest.mark.parametrize(
    "text",
    [
        "".join("|" * column + "pw|" + "|" * (600 - column) + "\n" + "-|" * 190 + "\n" for column in range(600)),
        ",".join(["pw", "psk", "pwd"] * 20) + ("\n" + ",".join(["the"] * 60)) * 2_500,
        r"insert into t (password) values (\' " * 20_000,
        "password: |\n" + " " * 200_000,
        "-p " * 100_000,
        "mailwifi:" * 40_000,
        "?code=" * 20_000,
        "login ada Aa" + "!" * 200_000,
        "- passwords\n" * 20_000,
        ('{"a": "' + r"\\\" " * 100_000)[:-2],
        "x \\/ " + "\\" * 60_000,
    ],
    ids=[
        "headers",
        "columns",
        "rows of SQL",
        "blanks",
        "options",
        "accounts",
        "addresses",
        "login",
        "lists",
        "escapes",
        "backslashes",
    ],
)
def test_hostile_text_takes_little_time(text: str) -> None:
    start = time.thread_time()
    assert redact(text) == text
    assert time.thread_time() - start < 8  # far more if each word reads the rest


def test_words_after_each_name_take_little_time() -> None:
    slow = []
    for anchor in {anchor for pattern in PATTERNS for anchor in pattern.anchors if "(" not in anchor}:
        line = f"{anchor} {'abcdefghijkl ' * 4}\n"
        start = time.thread_time()
        redact(line * (2_000 // len(line) + 1))
        if time.thread_time() - start > 0.3:  # several ways to split each of four words are thousands for a line
            slow.append(anchor)
    assert slow == []


def test_second_header_of_a_csv_file_adds_its_columns() -> None:
    text = "user,password,x\nada,hunter2,y\nx,y,password\nbob,swordfish,tugboat\n"
    assert redact(text) == "user,password,x\nada,***,y\nx,***,password\nbob,***,***\n"


def test_markdown_header_below_a_table_begins_another() -> None:
    head = "| {} | {} |\n|---|---|\n"
    first, second = head.format("user", "password"), head.format("pw", "host")
    assert redact(f"{first}| ada | hunter2 |\n{second}| swordfish | db1 |\n") == (
        f"{first}| ada | *** |\n{second}| *** | db1 |\n"
    )


def test_column_of_a_csv_file_ends_with_its_rows() -> None:
    rows = "ada,***\n" + 'bob,"***"\n'
    assert redact('"user","password"\n' + "ada,hunter2\n" + 'bob,"a "" b"\n\n' + "c,z\n") == (
        f'"user","password"\n{rows}\nc,z\n'
    )
    assert redact("user\tpwd\r\nada\thunter2\r\nplease read x\ty\tz\r\n") == (
        "user\tpwd\r\nada\t***\r\nplease read x\ty\tz\r\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO users (name, password) VALUES (?, ?)",
        "INSERT INTO users (name, password) VALUES (:name, :password), ('ada', '%s')",
        "INSERT INTO users (name, password_hint) VALUES ('ada', 'the cat')",
        "INSERT INTO users (name, password) VALUES ('ada', crypt('x', gen_salt('bf')))",
        'fmt.Sprintf("%s:%s@tcp(%s)/%s", user, password, host, name)',
        "root:${DB_PASSWORD}@tcp(db:3306)/shop",
        "changed the password from plain text to hashed",
        "migrate the password from md5 to argon2id",
        "https://x/errors?code=InvalidUserNameV2Err",
        "https://x/list?session=2024-spring-planning",
        "elif token == 0x22: # real",
        "use set-password utf8mb4 carefully",
        "grep token <<< 'a b'",
        "Password:\nroot@db1:~#",
        'response="d41d8cd98f00b204e9800998ecf8427e"',
        "change password from settings.py to settings2.py",
    ],
)
def test_statements_without_a_secret_are_unchanged(text: str) -> None:
    assert redact(text) == text


def test_secrets_are_masked_in_whole_rows() -> None:
    insert = "INSERT INTO users (id, password, name) VALUES (1, 'hunter2', 'a, (b)'), (2, 'x'';(y', 'c')"
    assert redact(insert) == "INSERT INTO users (id, password, name) VALUES (1, '***', 'a, (b)'), (2, '***', 'c')"
    assert redact("root:p@ss/w#1@unix(/tmp/mysql.sock)/x") == "root:***@unix(/tmp/mysql.sock)/x"


def test_column_of_passwords_ends_with_its_table() -> None:
    head = "> | **Password** | Site |\n> |:--|--:|\n"
    assert redact(f"{head}> | a b | x |\n> |  | y |\n>\n> | c | z |") == (
        f"{head}> | *** | x |\n> |  | y |\n>\n> | c | z |"
    )


LISTED = (
    '{"passwords": ["«alpha-dog»", "«beta-cat»"]}',
    "db_passwords:\n  - «tugboat»\n  - '«sword fish»' # old\nnext: 1",
    "Passwörter:\n- Amazon: «Regenwald3»\n- eBay: ada / «Flohmarkt8»\n\nText",
    "## Passwords\n\ngithub: «octo-mauve-7»\nurl: https://x.org/a1\n",
    'const apiKeys = ["«k3Jd82LmQ9xZ7»",\n  "«p0Zq73NvB4rT6»"];',
    "tokens:\n  - «x9Kd-22Lm-Pq81-ZZ»\n  - word\n",
    "host,user,pass\ndb1,root,«binnacle»\n",
    "Netflix\nuser ada@example.com\npw «sofaabend»\n",
)
CONTINUED = (
    'password: "«first-half-»" +\n    "«second-half»"',
    "SECRET = (\"«part-one-xyz»\"\n          '«part-two-abc»')",
    "const token = process.env.TOKEN ||\n  '«dev-tok-7781-xx»';",
    "const token = process.env.TOKEN\n  ?? '«dev-tok-7781-xx»';",
    "token: «k3Jd82LmQ9xZ7p0Z»\n«q73NvB4rT6»\nend",
)
IN_FORMS = (
    *("the password (for guests) is «hedgehog»", "mdp wifi de la maison : «chatnoir»", "(pass: «lifebuoy»)"),
    *("Das Passwort steht auf dem Zettel: «wiese4821»", "le mot de passe est : «croissant»", "bindpw: «applesauce»"),
    *("Old password was «monkeybars» but it's now «climbingwall»", "password changed from «bilgepump to deckhand8»"),
    *("login / password: «ada» / «catnip22»", "user ada clave: «naranja»", "* user: ada\n* pass: «gunwale»"),
    *('{"key": "api_token", "secret": true, "value": "«qwe-rty-1»"}', "VALUES ('smtp_password', '«teapot»')"),
    *("API_KEY_PROD=«swordfish77»", 'char password[25] = "«tugboat»";', 'env("PASS").unwrap_or("«tugboat»")'),
    *('x["pw"] ?? "«albatross1»"', "curl -H 'X-Token: «dbPOiIdaw»'", "github — ada — «octocat!7»"),
    *("encryption_key: !vault-plain '«fE93kd02LLsk29dk»'", "- password `«inkwell»`", "chiave wifi: «casamia7»"),
    *("tailscale up --authkey «jacamar-88-xx»", "<th>Passwort</th><td>«avocet»</td>"),
)


@pytest.mark.parametrize("texts", [LISTED, CONTINUED, IN_FORMS], ids=["lists", "lines", "forms"])
def test_secret_of_a_kind_is_masked_in_any_form(texts: tuple[str, ...]) -> None:
    assert not differing({marked(text): _MARKED.sub("***", text) for text in texts})


@pytest.mark.parametrize("depth", [1, 2])
def test_secret_in_a_string_of_json_is_masked(depth: int) -> None:
    def in_json(text: str) -> str:
        for _ in range(depth):
            text = json.dumps({"description": "Do it now", "command": text}, indent=2)
        return text

    texts = (*LISTED, *CONTINUED, *IN_FORMS)
    assert not differing({in_json(marked(text)): in_json(_MARKED.sub("***", text)) for text in texts})
    assert (
        redact('{"a": "b c\\u0041 \\n password: \\"tug\\\\boat\\""}') == '{"a": "b c\\u0041 \\n password: \\"***\\""}'
    )


_BEFORE_JSON = ("Exit code: 0\n{json}", "```json\n{json}\n```", "The result: {json}.", "{inner}")


@pytest.mark.parametrize("before", _BEFORE_JSON)
@pytest.mark.parametrize("depth", [1, 2])
def test_secret_with_needless_escapes_is_masked(before: str, depth: int) -> None:
    def escaped(text: str) -> str:
        for _ in range(depth):
            text = json.dumps(text)[1:-1].replace("/", "\\/")
            text = re.sub("[+=&'<>]", lambda sign: f"\\u{ord(sign[0]):04X}", text)
        return text

    texts = {
        "aws_secret_access_key = {}": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzXAMPLEKEYq",
        "postgres://ada:{}@db/boats": "s3cr3t+Pw",
        "export DB_PASSWORD='{}'": "x9!Kq+7/zP",
    }
    for text, secret in texts.items():
        inner = escaped(text.format(secret))
        shown = before.format(inner=inner, json='{"a": "Boats", "b": "' + inner + '"}')
        assert redact(shown) == shown.replace(escaped(secret), "***")


_COLOURS = ("\x1b[01;31m\x1b[K{}\x1b[m\x1b[K{}", "{}\x1b[0m\x1b[38;5;2m{}", "{}\x1b(B\x1b[m{}", "\x1b[1m{}{}")
_COLOURED_IN = ("out.txt:3:{}", 'Out:\n{{"a": "b {}"}}', '{{"a": "b c", "out": "x\\n{} y"}}', "{}")
_ESCAPES_AS_TEXT = ("\\u001b", "\\x1b", "\\x1B", "\\\\x1b", "\\033")


@pytest.mark.parametrize("colours", _COLOURS)
@pytest.mark.parametrize("shown_in", _COLOURED_IN)
def test_secret_with_colours_of_a_terminal_is_masked(colours: str, shown_in: str) -> None:
    """As `grep --color` prints it, which marks the found part; the window shows texts without colours."""
    coloured = colours.format("ghp_", "a1B2c3D4" * 5)
    within = json.dumps(coloured)[1:-1] if '"' in shown_in else coloured
    masked = redact(shown_in.format(within))
    assert "a1B2c3" not in without_escapes(masked.replace("\\u001b", "\x1b"))
    assert ("***" in masked) == ("{}{}" not in colours), "a mask that shows some characters could cut an escape"
    assert redact(masked) == masked


@pytest.mark.parametrize("escape", _ESCAPES_AS_TEXT)
def test_secret_with_colours_in_a_literal_is_masked(escape: str) -> None:
    """As Python prints the output of a command, and as a script writes it."""
    masked = redact(f"b'out.txt:{_COLOURS[0].format('ghp_', 'a1B2c3D4' * 5)}'".replace("\x1b", escape))
    assert "a1B2c3" not in without_escapes(masked.replace(escape, "\x1b"))


def test_escapes_of_ordinary_text_are_unmasked() -> None:
    ordinary = (
        "sed 's/usr\\/share/opt/' a.sh",
        r"/^https?:\/\/[^:@]+:\d+\/$/.test(url)",
        r'{x} "caf\u00e9 \/ bar"',
        "\x1b[32m42 passed\x1b[0m",
    )
    assert not differing({text: text for text in ordinary})


def test_secret_with_a_null_character_in_json_is_masked() -> None:
    assert redact('{"a": "the password: x9\\u0000Kq7z!"}') == '{"a": "the password: ***"}'


@pytest.mark.parametrize("start", ['[ ] a 27" screen', '[12:01] "', '{"x": "', "[link](x)", '{3"}', '[] "a" "b'])
def test_text_that_begins_as_json_is_masked_as_prose_too(start: str) -> None:
    prose = "Boats are tied to the pier by ropes and nets.\n" * 15
    secrets = ('password: "«tug boat»"', 'The password is "«Tugboat-77»".', 'api_key = "«k9Jx2Lm4Qp7Z»"')
    texts = [f"{start}\n{prose}\n{secret}\n{prose}" for secret in secrets]
    assert not differing({marked(text): _MARKED.sub("***", text) for text in texts})
    inside = [json.dumps({"a": "[] x", "b": text}) for text in texts[1:]]
    assert not [text for text in inside if re.search("Tugboat|k9Jx", redact(marked(text)))]


def test_values_similar_to_secrets_are_unmasked() -> None:
    ordinary = (
        *(
            "username, password = split",
            "if api_key != API_KEY_SENTINEL:",
            "'PW_PASSWD': 1,",
            "password: Incomplete | None",
        ),
        *("{'password': None, 'host': 'x.org'}", "plex server Movie2024Remux", "wifi network Guest5GHz"),
        *(
            "entry code path 4096",
            "## Passwords\n\n- Choose a long one.\n",
            "tokens: ['a1', 'b2']",
            "passwords:\n  - min",
        ),
        *("passwords = [first, second]", "filterKey: PySide6.QtCore.QObject"),
        *("token: abc\nnext1line", "password_new = get_password()"),
    )
    assert not differing({text: text for text in ordinary})


SPLIT = (
    '{\n  "password":\n    "«quartz9Lm»"\n}',
    "connect(\n  user='ada',\n  password=\n    '«quartz9Lm»',\n)",
    "curl https://example.com \\\n  -u \\\n  ada:«quartz9Lm»",
    "sshpass -p \\\n '«quartz9Lm»' ssh x",
    "docker run \\\n  -e POSTGRES_PASSWORD=\\\n«quartz9Lm» \\\n  postgres",
    "Connect -User ada `\n  -Password `\n  '«quartz9Lm»'",
    '#define WIFI_PASSWORD \\\n  "«quartz9Lm»"\n',
    "Enter password for ada:\n«quartz9Lm»\n",
    "Das Passwort lautet:\n\n`«quartz9Lm»`\n",
    "- Password\n  - «quartz9Lm»\n",
    "# password:\n# «quartz9Lm»\n",
    "+password:\n+  «quartz9Lm»\n",
    "  4\tpassword:\n  5\t  «quartz9Lm»\n",
    'password = """\n«quartz9Lm»\n"""',
    "Password\n: «quartz9Lm»\n",
    '{"command": "password:\\n  «quartz9Lm»\\nuser: ada"}',
)


def test_secret_on_the_line_below_is_masked() -> None:
    assert not differing({marked(text): _MARKED.sub("***", text) for text in SPLIT})
    ordinary = (
        "## Password\n\nChoose eight signs.\n",
        "token:\n  name: session2\n",
        "key:\n  chapter10\n",
        "Type your password\nversion2 asks twice.\n",
        "password:\n  type: string\n",
        "--password \\\n  --user ada",
    )
    assert not differing({text: text for text in ordinary})


@pytest.mark.parametrize("end", ["\r\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028"])
def test_every_line_end_ends_a_line(end: str) -> None:
    for example in filter(lambda example: "\n" in example, map(marked, _EXAMPLES)):
        assert redact(example.replace("\n", end)) == redact(example).replace("\n", end)
    assert redact("kind: Secret\ndata:\n  user: YWRh\r") == "kind: Secret\ndata:\n  user: ***\r"
    assert redact("api_key: |\n    e5f6a7b8\f0") == "api_key: |\n    ***\f0"


@pytest.mark.parametrize("filler", ["", "x"])
def test_manifest_in_a_string_without_end_is_masked(filler: str) -> None:
    """The end of the searched part may split a line ending."""
    text = 'say "kind: Secret\\ndata:\\n  pg: {}\\n' + filler + "\r\n" * 20_000
    assert redact(text.replace("{}", "dHVnYm9hdA==")) == text.replace("{}", "***")


@pytest.mark.parametrize(
    ("text", "masked_text"),
    [
        ("INSERT INTO a (password) VALUES ('hu\nnter2');", "INSERT INTO a (password) VALUES ('***\n***');"),
        ('{"data": {"pg": "dHVnYm9hdA==\r\n"}, "kind": "Secret"}', '{"data": {"pg": "***\r\n"}, "kind": "Secret"}'),
        ('{"data": {"pg": "\u2028dHVnYm9hdA=="}, "kind": "Secret"}', '{"data": {"pg": "\u2028***"}, "kind": "Secret"}'),
    ],
)
def test_secret_of_several_lines_keeps_their_ends(text: str, masked_text: str) -> None:
    assert redact(text) == masked_text
    assert redact(masked_text) == masked_text


def test_ordinary_text_is_unchanged() -> None:
    text = "\n".join(HARMLESS)
    assert redact(text) is text


@pytest.mark.parametrize("before", [0, 1, 100, 262_100, 262_130, 262_143, 262_144, 262_145])
def test_a_secret_across_a_cut_is_found(before: int) -> None:
    for line_end in ("", "\n"):
        text = "x" * before + line_end + " ghp_abcdefghijABCDEFGHIJ0123456789abcdef password: hunter2 " + "y " * 10
        assert redact(text) == "x" * before + line_end + " ghp_ab…cdef password: *** " + "y " * 10


def test_secret_longer_than_block_is_masked_to_its_end() -> None:
    assert redact("password=" + "aB3" * 200_000 + " and on") == "password=*** and on"
    assert redact("TOKEN=" + "aB3" * 200_000 + " and on") == "TOKEN=aB3aB3…3aB3 and on"


_FRAGMENTS = [
    *map(marked, _EXAMPLES),
    *(anchor for pattern in PATTERNS for anchor in pattern.anchors if "(" not in anchor),
    *["password is ", "password: ", "token=", "key = ", "secret", "***", "…", "abcdef…wxyz", "İ", "ſ", "日本", "**"],
    *[" ", "\n", "\r\n", "\r", "\f", "\u2028", '"', "'", "`", "\\", "\\n", "{", "}", ",", ";", "&", ":", "=", "@", "."],
]


@settings(max_examples=250)
@given(st.lists(st.one_of(st.sampled_from(_FRAGMENTS), st.text(max_size=6)), max_size=12).map("".join))
def test_masking_twice_changes_nothing_and_keeps_lines(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    assert len(once.splitlines()) == len(text.splitlines())
    assert once.count("\n") == text.count("\n")


@given(
    st.lists(st.sampled_from([fragment for fragment in _FRAGMENTS if len(fragment) < 24]), min_size=1, max_size=3),
    st.sampled_from([2_000, 20_000]),
)
def test_hostile_repetitions_end(parts: list[str], size: int) -> None:
    text = "".join(parts) * (size // max(1, len("".join(parts))) + 1)
    once = redact(text)
    assert redact(once) == once


def test_the_manual_lists_every_pattern() -> None:
    manual = Path(__file__).parents[3].joinpath("packaging", "manual", "masked.md").read_text("utf-8")
    listed = re.findall(r"^\| (.+?) \| (?!form|how).+ \|$", manual, re.MULTILINE)
    assert sorted(listed) == sorted(SECRET_EXAMPLES)


@given(st.text(alphabet="ab \n水ü", max_size=40), st.integers(1, 40))
def test_beginning_of_text_is_cut_between_words(text: str, most: int) -> None:
    begun = beginning_of(text, most)
    assert text.startswith(begun)
    assert len(begun) <= most
    rest = text[len(begun) :]
    assert not rest or not (begun[-1:].isascii() and begun[-1:].strip() and rest[0].isascii() and rest[0].strip())
