import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.last_messages import LastMessages
from engine.agent.slug import LONGEST, slug_of_words, to_slug


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("API Design: the 2nd try!", "api-design-the-2nd-try"),
        ("Größe der Übung", "grosse-der-ubung"),
        ("Почему ёжик не спит", "pochemu-ezhik-ne-spit"),
        ("Ελληνικά", "ellinika"),
        ("Æther, łódź & œuvre", "aether-lodz-oeuvre"),
        ("来週、京都で", ""),
        ("../../etc/passwd", "etc-passwd"),
        ("a-name-that-is-much-too-long-for-a-file", "a-name-that-is-much-too-long"),
        ("x" * 40, "x" * LONGEST),
    ],
)
def test_names_are_portable(text: str, slug: str) -> None:
    assert to_slug(text) == slug


@given(st.text())
def test_any_text_becomes_a_portable_name_that_stays(text: str) -> None:
    slug = to_slug(text)
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", slug)
    assert len(slug) <= LONGEST
    assert to_slug(slug) == slug


def counts(words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
    return 1000, {"valve": 900, "greenhouse": 800, "relay": 2}


def test_the_words_that_tell_it_apart_name_it_in_their_order() -> None:
    said = [
        LastMessages("user", "The greenhouse valve opens at night."),
        LastMessages("assistant", "Its relay was stuck. The relay!"),
    ]
    slug = slug_of_words("", said, counts)
    assert "relay" in slug.split("-")
    assert slug.startswith("opens-night-")


def test_title_gives_most_words() -> None:
    said = [LastMessages("user", "Could you have a look at the thing with the tap on bed three?")]
    assert slug_of_words("Debounce the relay", said, None).startswith("debounce-relay")


def test_code_urls_and_masked_secrets_not_in_name() -> None:
    text = "```python\nsupercalifragilistic = 1\n```\nhttps://example.org/hidden sk-tes…ghij password=*** compost"
    assert slug_of_words("", [LastMessages("user", text)], None) == "compost"


def test_forms_of_one_word_count_once() -> None:
    assert slug_of_words("", [LastMessages("user", "valve valves relay")], None) == "valve-relay"


def test_where_no_word_can_be_written_it_has_no_name() -> None:
    assert slug_of_words("来週", [LastMessages("user", "京都に行きます")], None) == ""
    assert slug_of_words("", [], counts) == ""


@given(st.text(), st.lists(st.builds(LastMessages, st.sampled_from(["user", "assistant"]), st.text())))
def test_any_words_give_a_name_that_is_one(title: str, said: list[LastMessages]) -> None:
    slug = slug_of_words(title, said, None)
    assert to_slug(slug) == slug
