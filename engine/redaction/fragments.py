"""Regular expression fragments shared by several patterns."""

LINE_END = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
QUOTED = (
    r"""(?:[bBrRuUN]?(?P<quote>\\{0,8}["'`])"""
    rf"""(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^{LINE_END}])){{1,500}}+)(?P=quote))"""
)
NAME_END = r"""(?:[_-]?\d{1,2})?(?![A-Za-z0-9_-])\\{0,8}["'`*]{0,3}[ \t]{0,8}"""
_TYPE = r"[A-Za-z_][A-Za-z0-9_.|\[\] ]{0,40}"
SIGN = (
    rf"(?P<sign>(?::[ \t]{{0,4}}{_TYPE}[ \t]{{0,4}}=(?!=)|={{1,3}}>?|![=]{{1,2}}|:=|:(?!:)|->|→|\uff1a|\uff1d)"
    r"\*{0,2}[ \t]{0,8})"
)
BARE_TOKEN = r"""(?:\\{0,8}["'`]|[*]{1,2})?([^\s"'`\\;,&<>(){}\[\]|*]++)"""
# A password may contain any character; the next field of a connection string or URL query ends it.
BARE_PASSWORD = r"""(?:\\{0,8}["'`])?((?:[^\s"'`\\;&]|[;&](?![\w .]{1,30}=)|\\(?![nrt"'`\\]))+(?<![.,:)\]}>]))"""
