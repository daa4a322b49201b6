import msgspec
import pytest

from engine import Settings, all_options, option_problem, value_at


def _leaves(section, above=""):
    for field in msgspec.structs.fields(section):
        value = getattr(section, field.name)
        if isinstance(value, msgspec.Struct):
            yield from _leaves(value, f"{above}{field.encode_name}.")
        else:
            yield f"{above}{field.encode_name}", value


def test_every_option_once_with_default_and_help():
    options = all_options()
    assert [option.key for option in options] == [key for key, _ in _leaves(Settings())]
    for option in options:
        assert option.help.endswith("."), option.key
        if option.key != "sources":
            assert value_at(Settings(), option.key) == option.default, option.key


def test_types_ranges_and_names_come_from_the_declaration():
    options = {option.key: option for option in all_options()}
    score = options["query.min_score"]
    assert (score.kind, score.low, score.high, score.optional) == ("number", 0, 1, False)
    assert options["window.theme"].choices[:2] == ("system", "light")
    assert options["dimensions"].optional
    assert options["dimensions"].default is None
    assert options["query.hybrid.mmr.lambda"].default == 0.7
    kinds = {
        key: options[key].kind
        for key in ("include", "remote.approved", "prices", "qmd.paths", "sync.watch", "window.keys")
    }
    assert kinds == {
        "include": "list",
        "remote.approved": "choices",
        "prices": "numbers",
        "qmd.paths": "texts",
        "sync.watch": "switch",
        "window.keys": "lists",
    }


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("query.min_score", 0.5, ""),
        ("query.min_score", None, ""),
        ("query.min_score", 2.0, "It must be from 0 to 1."),
        ("query.max_results", 0, "It must be 1 or more."),
        ("query.max_results", "x", "It must be a whole number."),
        ("provider", "google", 'It is called "gemini" in Mnemoscope.'),
        ("remote.base_url", "x", "It must be an address such as https://host/v1 or http://localhost:11434/v1."),
        ("include", ("*.md",), ""),
    ],
)
def test_invalid_value_gives_one_sentence(key, value, problem):
    assert option_problem(key, value) == problem


def test_a_secret_is_refused_and_never_repeated():
    problem = option_problem("remote.headers", {"X-Api-Key": "sk-abcdefghijklmnopqrstuvwxyz123456"})
    assert "secret" in problem
    assert "sk-" not in problem


def test_only_workspace_option_is_global():
    assert [option.key for option in all_options() if option.for_all] == ["workspace"]
