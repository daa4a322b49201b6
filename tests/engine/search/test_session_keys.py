"""Classification of session keys as private or group."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.session_keys import SessionKey, is_shared_session, parse_session_key

PRIVATE = [
    "main",
    "agent:main:main",
    "agent:work:home",
    "Agent:Main:Telegram:DM:7",
    "discord:direct:7",
    "agent:main:direct:ada",
    "agent:main:discord:direct:7",
    "agent:main:whatsapp:work:direct:+491701234567",
    "agent:main:whatsapp:direct:491701234567@s.whatsapp.net",
    "agent:main:matrix:direct:@ada:example.org",
    "agent:main:msteams:dm:ada@example.org",
    "3f2a9c1b-e07d-4c55-a1b2-c3d4e5f60718",
    "ses_4fa09c1be07d4c55a1b2",
    "",
    "  ",
]
SHARED = [
    "agent:main:discord:group:123",
    "agent:main:slack:channel:c1:thread:9",
    "agent:main:whatsapp:linked:group:1",
    "agent:main:whatsapp:group:120363025246125486@g.us",
    "agent:main:whatsapp:120363025246125486@g.us",
    "agent:main:whatsapp:direct:120363025246125486@g.us",
    "120363025246125486@g.us",
    "-1001234567890",
    "1001234567890",
    "agent:main:matrix:room:!abc:example.org",
    "agent:main:matrix:!abc:example.org",
    "agent:main:discord:guild:1:direct:7",
    "agent:main:discord:guild:1",
    "groupchat",
    "agent:main:chatroom",
    "agent:main:telegram:dm:-100123",
    "agent:main:telegram:topic:4",
    "agent:main:slack:thread:9",
    "agent:main:slack:direct:u1:thread:9",
    "agent:main:telegram:-100123:topic:4",
    "agent:main:space:7",
    "agent:main:huddle:7",
    "agent:main:discord:7",
    "agent:main:room",
    "team-room",
    "agent:main:main:thread:1",
    "agent:main:subagent:abc",
    "agent:main:cron:job:run:7",
    "agent:main",
    "agent:main:",
    "agent:main:discord:direct:",
    "agent:main:discord:direct",
    ":direct:7",
    "agent::direct:x:group:7",
    "a:b:c:direct:7",
]


@pytest.mark.parametrize("key", [None, *PRIVATE])
def test_key_of_private_session_is_not_shared(key: str | None) -> None:
    assert not is_shared_session(key)


@pytest.mark.parametrize("key", SHARED)
def test_other_session_keys_are_shared(key: str) -> None:
    assert is_shared_session(key)
    assert is_shared_session(key.upper())


@given(st.lists(st.sampled_from(["agent", "main", "discord", "x", "7", "@g.us", "zoom"]), min_size=4).map(":".join))
def test_key_of_an_unknown_form_is_shared(key: str) -> None:
    assert is_shared_session(key)


@given(st.text())
def test_any_text_is_accepted_as_session_key(key: str) -> None:
    assert parse_session_key(key).chat in ("direct", "group", "channel", None)


@pytest.mark.parametrize(
    ("key", "session"),
    [
        ("agent:main:main", ("", "direct")),
        ("agent:main:discord:group:123", ("discord", "group")),
        ("agent:main:slack:channel:c1:thread:9", ("slack", "channel")),
        ("Agent:Main:Telegram:DM:7", ("telegram", "direct")),
        ("agent:main:matrix:room:7", ("matrix", "group")),
        ("agent:main:subagent:abc", ("", None)),
        ("agent:main:whatsapp:linked:group:1", ("", "group")),
    ],
)
def test_session_key_names_program_and_chat(key: str, session: tuple[str, str | None]) -> None:
    assert parse_session_key(key) == SessionKey(*session)
