"""Hand-edited JSON: common extensions and mistakes; strict JSON keeps its meaning."""

import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.corpus.source_detection import parse_lenient
from tests.helpers.transcripts import json_values


def test_hand_written_json_accepted():
    text = """
    // the agents
    {
      agents: {
        defaults: { workspace: '~/it\\'s here', /* "not this": 1, */ },
        "list": [ { id: "main", "default": true, weight: .5, port: 0x10, }, ],
      }, // done
    }
    """
    assert parse_lenient(text) == {
        "agents": {
            "defaults": {"workspace": "~/it's here"},
            "list": [{"id": "main", "default": True, "weight": ".5", "port": "0x10"}],
        }
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"C:\\Users\\ada"', r"C:\Users\ada"),
        (r'"caf\u00e9 \ud83d\ude00 \x41"', "café 😀 A"),
        ('"a \\\nb"', "a b"),
        ('"http://x/*y*/"', "http://x/*y*/"),
        ("'say \"hi\"'", 'say "hi"'),
        ("[1, -2.5e3, true, null, NaN]", [1, -2500.0, True, None, "NaN"]),
    ],
)
def test_lenient_values_are_parsed(text, value):
    assert parse_lenient(text) == value


@pytest.mark.parametrize(
    "text", ["", "{", "[1,,2]", "{'a' 1}", '"open', "/* open", "{},", "a/b", "[" * 100_000, "[,]x"]
)
def test_unparsable_json_is_value_error(text):
    with pytest.raises(ValueError):  # noqa: PT011 - its words reach no one
        parse_lenient(text)


@given(json_values)
def test_strict_json_unchanged(value):
    for indent in (None, 2):
        try:
            text = json.dumps(value, indent=indent, allow_nan=False)
        except ValueError:  # not valid JSON
            return
        assert parse_lenient(text) == json.loads(text)


@given(st.text(st.sampled_from("{}[]:,'\"\\/* \nau0é"), max_size=30))
@example("'\\")
def test_any_text_is_a_value_or_a_value_error(text):
    with contextlib.suppress(ValueError):
        json.dumps(parse_lenient(text))
