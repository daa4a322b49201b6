"""Secrets with a distinctive form or a fixed prefix, and the tokens and keys that services issue, as data.

`_COLLECTED`, `_SHAPED` and `_NAMED` hold facts (prefixes, alphabets, lengths) from `config/gitleaks.toml` of Gitleaks,
https://github.com/gitleaks/gitleaks, MIT licence, at commit b58d3f10 of 22 July 2026, after version 8.30.0.
`_DOCUMENTED` holds forms that the services document themselves. The expressions are our own: they also find a token
that a terminal or a log cut off.
"""

import re
from collections.abc import Iterator

from engine.redaction.secret_pattern import SecretPattern, alternates
from engine.redaction.secret_words import is_sk_key

LONG_AFTER_COLON = r":(?:(?<=[0-9]{6}:)|(?=[\s\"'`=>]{0,5}+(?=[A-Za-z0-9+/=_-]{15})[A-Za-z_/+-]{0,24}[0-9]))"
_START = r"(?<![A-Za-z0-9])"
_RANDOM, _DIGIT = r"(?=[A-Za-z0-9_+/=-]{0,80}?[0-9A-Z])", r"(?=[A-Za-z0-9_-]{0,80}?[0-9])"


def _starting(*prefixes: str, body: str) -> str:
    return rf"{_START}((?:{'|'.join(prefixes)}){body})"


FORM_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Bearer token",
        ("bearer ",),
        rf"{_START}(?i:bearer)[ \t]{{1,8}}(?=[A-Za-z0-9._+=/~-]{{0,80}}?[0-9A-Z])([A-Za-z0-9._+=/~-]{{8,}}+)",
        judge=lambda _, match: len(match[1]) >= 18 or alternates(match[1]),
    ),
    SecretPattern(
        "Private key",
        ("-----begin ", "private-"),
        r"(?:-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----|(?i:private-lines: ?\d+))",
        "whole",
        block="key",
    ),
    SecretPattern(
        "OpenAI, Anthropic and similar keys",
        ("sk-",),
        _starting("(?i:sk-)", body="[A-Za-z0-9_-]{8,}+"),
        judge=is_sk_key,
    ),
    SecretPattern(
        "Webhook address",
        ("hooks.slack.", "discord.", "discordapp."),
        r"(?i:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/\d{6,20}/)([A-Za-z0-9/_+-]{10,}+)",
    ),
    SecretPattern(
        "Telegram bot token",
        (LONG_AFTER_COLON,),
        rf":(?<=[0-9]{{6}}:){_DIGIT}{_RANDOM}([A-Za-z0-9_-]{{20,}}+)",
    ),
    SecretPattern(
        "Azure key",
        ("key", "q~"),
        r"(?:(?i:(?:(?<=account)|(?<=sharedaccess))key=)([A-Za-z0-9+/=_-]{16,}+)"
        r"|[Qq]~(?<=[A-Za-z0-9_.~-]{3}[0-9][Qq]~)([A-Za-z0-9_.~-]{31,}+))",
    ),
    SecretPattern(
        "Password hash",
        ("$1$", ":$5$", ":$6$", ":$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2"),
        r"(?:(?<![\w$])|:)(\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{22}|(?:[156y]|apr1|argon2(?:id|[id]))\$"
        r"(?:[\w=,./-]{1,40}\$){1,3})[./A-Za-z0-9+=]{20,}+)",
        "whole",
    ),
    SecretPattern(
        "JSON web token",
        ("eyj",),
        _starting("eyJ", body=r"[A-Za-z0-9_-]{8,1000}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]++)*+"),
    ),
)

_ALPHABETS = {
    "hex": "0-9A-Fa-f",
    "alnum": "A-Za-z0-9",
    "lower": "a-z0-9",
    "upper": "A-Z0-9",
    "word": "A-Za-z0-9_-",
    "base64": "A-Za-z0-9+/=_-",
    "dots": "A-Za-z0-9_=-",
    "uuid": "0-9A-Fa-f-",
}
_RARE = frozenset("zqjkvl134~/=")
_CUT, _CUT_IN_WORDS = 10, 16
"""Characters of a truncated token; one of them must be a digit."""

# Service | prefixes | alphabet of the rest | its length; "!" exactly that long, "+" no shorter even if cut off.
_COLLECTED = """
1Password | ops_eyJ | base64 | 250
Adobe | p8e- | alnum | 32
age | AGE-SECRET-KEY-1 | upper | 58
Alibaba Cloud | LTAI | alnum | 16+
Amazon Web Services | AKIA ASIA ABIA ACCA | upper | 16!
Amazon Bedrock | ABSK | base64 | 60+
Amazon Bedrock | bedrock-api-key- | base64 | 40
Artifactory | AKCp | alnum | 69
Artifactory | cmVmd | alnum | 59+
Atlassian | ATATT3 | base64 | 180
ClickHouse | 4b1d | alnum | 38!
Clojars | CLOJARS_ | alnum | 60
Databricks | dapi | hex | 32
Defined Networking | dnkey- | word | 79
DigitalOcean | dop_v1_ doo_v1_ dor_v1_ | hex | 64
Dropbox | sl. | dots | 60+
Duffel | duffel_test_ duffel_live_ | base64 | 43
Dynatrace | dt0c01. | dots | 89
EasyPost | EZAK EZTK | alnum | 54
Facebook | EAAM EAAC | alnum | 60+
Flutterwave | FLWSECK_TEST- FLWSECK- | word | 12
Fly.io | fo1_ | word | 43+
Fly.io | fm1r_ fm1a_ fm2_ | base64 | 100
Frame.io | fio-u- | base64 | 64
GitHub | ghp_ gho_ ghu_ ghs_ ghr_ | alnum | 36
GitHub | github_pat_ | word | 82
GitLab | glpat- glptt- gldt- glrt- glcbt- glft- glffct- glsoat- glimt- glagent- gloas- | dots | 20
GitLab | GR1348941 _gitlab_session= | word | 20
Google Cloud | AIza | word | 35
Grafana | glsa_ | word | 41
Grafana | glc_ | base64 | 32
Grafana | eyJrIjoi | alnum | 70+
Heroku | HRKU-AA | word | 58
Hugging Face | hf_ api_org_ | alnum | 34
Infracost | ico- | alnum | 32!
Intra 42 | s-s4t2ud- s-s4t2af- | hex | 64
Linear | lin_api_ | alnum | 40
New Relic | NRAK- NRJS- NRII- | alnum | 19
Notion | ntn_ | alnum | 46
npm | npm_ | alnum | 36
Octopus Deploy | API- | upper | 26!
OpenShift | sha256~ | word | 43!
Perplexity | pplx- | alnum | 48
PlanetScale | pscale_tkn_ pscale_oauth_ pscale_pw_ | dots | 32
Postman | PMAK- | word | 59
Prefect | pnu_ | alnum | 36
Pulumi | pul- | hex | 40
PyPI | pypi-AgE | word | 50
ReadMe | rdme_ | alnum | 70
RubyGems | rubygems_ | hex | 48
Scalingo | tk-us- | word | 48+
SendGrid | SG. | dots | 66
Sendinblue | xkeysib- | word | 81
Sentry | sntryu_ | hex | 64
Sentry | sntrys_eyJ | base64 | 100
SettleMint | sm_aat_ sm_pat_ sm_sat_ | alnum | 16
Shippo | shippo_live_ shippo_test_ | hex | 40
Shopify | shpat_ shpca_ shppa_ shpss_ | hex | 32
Slack | xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- | dots | 10+
Sonar | squ_ sqp_ sqa_ | alnum | 40
Sourcegraph | sgp_ | word | 40
Square | sq0atp- | word | 22
Square | EAAA | word | 40+
Stripe | sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ | base64 | 8+
Twilio | SK | hex | 32!
Typeform | tfp_ | dots | 59
Vault | hvs. hvb. | dots | 90
Yandex | AQVN | word | 35+
"""
_DOCUMENTED = """
Adafruit | aio_ | alnum | 28!
Atlassian | ATCTT3 | base64 | 180
Bitbucket | ATBB | base64 | 32
Buildkite | bkua_ | hex | 40
CircleCI | CCIPAT_ CCIPRJ_ | word | 40
Contentful | CFPAT- | word | 43
Docker | dckr_pat_ dckr_oat_ | word | 27
ElevenLabs | sk_ | hex | 48!
Figma | figd_ | word | 40
Google Cloud | GOCSPX- | word | 28
Google Cloud | ya29. | dots | 10+
Google Cloud | 1//0 | word | 20+
Groq | gsk_ | alnum | 52
LangSmith | lsv2_pt_ lsv2_sk_ | word | 43
Linear | lin_oauth_ | alnum | 40
Netlify | nfp_ nfc_ nfo_ nfu_ | alnum | 36
Notion | secret_ | alnum | 43!
NuGet | oy2 | lower | 43!
Pinecone | pcsk_ | word | 50
Postman | PMAT- | upper | 26
Replicate | r8_ | alnum | 37
Shopify | shpua_ shptka_ | hex | 32
Square | sq0csp- | word | 43
Stripe | whsec_ | base64 | 8+
Supabase | sbp_ | hex | 40
Supabase | sb_secret_ | word | 31
Tailscale | tskey- | word | 30
Tavily | tvly- | word | 32
Vault | hvr. | dots | 90
xAI | xai- | alnum | 80
"""
_AFTER_STOP = (
    r"\.(?=[A-Za-z0-9_-]{6})(?:(?<=pat[A-Za-z0-9]{14}\.)|(?<=s\.)(?=[A-Za-z0-9]{24})"
    r"|(?<=[A-Za-z0-9_-]{24}\.)(?=[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}))"
)
# Service, anchors, expression.
_SHAPED = (
    ("1Password", ("a3-",), r"(A3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,3})(?![A-Za-z0-9])"),
    ("Airtable", (_AFTER_STOP,), r"\.(?<=pat[A-Za-z0-9]{14}\.)([0-9a-f]{32,}+)"),
    ("Amazon Marketplace", ("amzn.mws.",), r"(amzn\.mws\.[0-9a-f-]{36})"),
    (
        "Authress",
        ("sc_", "ext_", "scauth_", "authress_"),
        r"((?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}+)",
    ),
    ("Cloudflare", ("v1.0-",), r"(v1\.0-[0-9a-f]{24}-[0-9a-f]{30,}+)"),
    (
        "Discord",
        (_AFTER_STOP,),
        r"\.(?:(?<=[MNO][A-Za-z0-9_-]{23}\.)|(?<=[MNO][A-Za-z0-9_-]{25}\.))([A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+)",
    ),
    (
        "Doppler",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
        r"(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,40}\.)?[A-Za-z0-9]{20,}+)",
    ),
    ("Facebook", (r"\|(?<=[0-9]{15}\|)(?=[A-Za-z0-9_-]{27})",), r"\|([A-Za-z0-9_-]{27,40}+)(?![A-Za-z0-9_-])"),
    ("Harness", ("pat.", "sat."), r"([ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20})"),
    ("HubSpot", ("pat-na1-", "pat-eu1-"), r"(pat-(?:na|eu)1-[0-9a-f]{8}-[0-9a-f-]{20,}+)"),
    ("JSON web token in base64", ("zxlk",), r"(ZXlK(?=[A-Za-z0-9+/_-]{0,80}?[0-9])[A-Za-z0-9+/_-]{40,}+={0,2})"),
    (
        "LaunchDarkly",
        ("sdk-", "api-", "mob-"),
        r"((?:sdk|api|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![A-Za-z0-9])",
    ),
    ("Mailgun", ("key-",), r"(key-[0-9a-f]{32})(?![A-Za-z0-9])"),
    ("Mailchimp", ("-us",), r"-us(?<=((?<![A-Za-z0-9])[0-9a-f]{32}-us))\d{1,2}(?![A-Za-z0-9])"),
    ("MaxMind", ("_mmk",), r"_mmk(?<=((?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk))(?![A-Za-z0-9])"),
    ("Microsoft Teams", ("webhookb2/",), r"webhookb2/([0-9a-f@-]{20,80}+(?:/IncomingWebhook)?[0-9a-zA-Z/-]*+)"),
    (
        "Plaid",
        ("access-sandbox-", "access-development-", "access-production-"),
        r"(access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27})",
    ),
    ("Resend", ("re_",), r"(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}+)"),
    ("Terraform Cloud", (".atlasv1.",), r"\.atlasv1\.([A-Za-z0-9_=-]{16,}+)"),
    ("Yandex", ("t1.",), r"(t1\.[A-Za-z0-9_-]{1,400}={0,2}\.[A-Za-z0-9_-]{86}={0,2})"),
    (
        "Vault",
        (_AFTER_STOP,),
        r"\.(?<=s\.)(?<![A-Za-z0-9_.]s\.)(?=[A-Za-z]{0,24}?[0-9])(?=[^A-Z]{0,24}?[A-Z])([A-Za-z0-9]{24})(?![A-Za-z0-9])",
    ),
)

# Words in the service's name | alphabet | key lengths, for keys that only an adjacent name identifies.
_NAMED = """
adafruit | word | 32
airtable | alnum | 17
algolia | alnum | 32
alibaba | alnum | 30
asana | alnum | 32
atlassian confluence jira | alnum | 24
beamer | word | 46
bitbucket | word | 32 64
bittrex | alnum | 32
cloudflare | word | 37 40
codecov | alnum | 32
cohere | alnum | 40
coinbase | word | 64
confluent | alnum | 16 64
contentful | word | 43
datadog | alnum | 32 40
discord | word | 32 64
droneci | alnum | 32
dropbox | word | 15 64
etsy | alnum | 24
facebook | hex | 32
fastly | word | 32
finicity | alnum | 20 32
finnhub | alnum | 20
flickr | alnum | 32
freshbooks | alnum | 64
gitter | word | 40
gocardless | word | 45
heroku | uuid | 36
hubspot | uuid | 36
intercom | word | 60
jfrog artifactory bintray xray | alnum | 64 73
kraken | base64 | 80 81 82 83 84 85 86 87 88 89 90
kucoin | word | 24 36
launchdarkly | word | 40
linear | hex | 32
linkedin linked_in linked-in | alnum | 16
lob | word | 40
looker | alnum | 24
mailchimp | word | 36 37
mailgun | word | 50
mattermost | alnum | 26
meraki | hex | 40
messagebird message-bird message_bird | alnum | 25
netlify | word | 40 41 42 43 44 45 46
newrelic new-relic new_relic | alnum | 64
nytimes | word | 32
okta | word | 42
plaid | alnum | 30
privateai private_ai private-ai | alnum | 32
rapidapi | word | 50
sendbird | word | 36 40
sentry | hex | 64
snyk | uuid | 36
sonar | word | 40
sourcegraph | hex | 40
squarespace | uuid | 36
sumologic sumo | alnum | 64
travis | alnum | 22
twitch | alnum | 30
twitter | word | 25 45 50
yandex | word | 40
zendesk | alnum | 40
"""


def _rows(table: str) -> Iterator[list[str]]:
    for line in filter(None, table.splitlines()):
        yield [cell.strip() for cell in line.split("|")]


def _prefixed() -> Iterator[SecretPattern]:
    for service, prefixes, alphabet, length in _rows(_COLLECTED + _DOCUMENTED):
        signs = _ALPHABETS[alphabet]
        count, dotted = int(length.rstrip("!+")), alphabet == "dots"
        if length.endswith("!"):
            body = rf"[{signs}]{{{count}}}(?![A-Za-z0-9])"
        elif length.endswith("+"):
            body = rf"[{signs}]{{{count},}}+"
        else:
            cut = min(count, _CUT if alphabet in ("hex", "alnum", "upper") else _CUT_IN_WORDS)
            body = rf"(?:(?=[{'.' * dotted}{signs}]{{0,80}}?[0-9])[{signs}]{{{cut},}}+|[{signs}]{{{count},}}+)"
        if dotted:
            body += rf"(?:\.[{signs}]++)*+"
        for prefix in prefixes.split():
            regex = rf"(?<![A-Za-z0-9])({re.escape(prefix)}{body})"
            yield SecretPattern(f"{service} token", (_anchor(prefix),), regex)


def _anchor(prefix: str) -> str:
    """Return the part of the prefix up to a sign, since such anchors are found fastest."""
    ended = prefix.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789").lower()
    if len(ended) > len("xx"):
        return ended
    # Names without a rare letter are searched for in capitals only.
    return prefix if _RARE.isdisjoint(prefix.lower()) else prefix.lower()


def _shaped() -> Iterator[SecretPattern]:
    for service, anchors, regex in _SHAPED:
        start = "(?<![A-Za-z0-9])" if regex.startswith("(") else ""
        yield SecretPattern(f"{service} token", anchors, start + regex)


SERVICES: tuple[SecretPattern, ...] = (*_prefixed(), *_shaped())

NAMED_SERVICES: dict[str, tuple[str, frozenset[int]]] = {
    word: (_ALPHABETS[alphabet], frozenset(map(int, lengths.split())))
    for words, alphabet, lengths in _rows(_NAMED)
    for word in words.split()
}
"""Word in a service's name -> characters of its keys, as in a set of an expression, and their lengths."""
