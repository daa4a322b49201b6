"""Without `--deep`, `mnemoscope status` names every configured part that does not work."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.backends import builtin
from tests.helpers.command_line import Answer, Run
from tests.helpers.fake_provider import FakeProvider, selection_of


@pytest.fixture
def with_settings(settings: Path, folder: Path, tmp_path: Path, verb: Run) -> Callable[..., Answer]:
    """Return a function that writes settings for an index of one note, runs a verb and returns its answer."""
    (folder / "a.md").write_text("# Tulips\n\nPlant the bulbs.\n")

    def call(lines: str, *argv: str) -> Answer:
        settings.write_text(f'[defaults]\nstore.path = "{(tmp_path / "data").as_posix()}"\n{lines}')
        return verb(*argv)

    return call


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))


def degraded(answer: Answer) -> dict[str, tuple[str, str]]:
    assert answer.code == 0
    return {part["part"]: (part["reason"], part["remedy"]) for part in answer.json["degraded"]}


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("engine", ["sqlite-vec", "auto"])
def test_wrong_extension_path_is_reported(with_settings, tmp_path: Path, engine: str) -> None:
    wrong = f'store.vector.engine = "{engine}"\nstore.vector.extension_path = "{(tmp_path / "vec0.so").as_posix()}"\n'
    assert "there is no such file" in with_settings(wrong, "status").out, "reported before there are vectors"
    for verb in ("index", "status"):
        answer = with_settings(wrong, verb)
        assert "searched with sqlite-vec" not in answer.out
    assert "1 searched with numpy" in answer.out
    assert "Degraded:" in answer.out
    vector = with_settings(wrong, "status", "--json").json["vector"]
    assert (vector["engine"], vector["available"]) == ("numpy", False)
    reason, remedy = degraded(with_settings(wrong, "status", "--json"))["sqlite-vec"]
    assert "there is no such file" in reason
    assert "store.vector.extension_path" in remedy
    right = f'store.vector.engine = "{engine}"\n'
    with_settings(right, "index")
    assert "1 searched with sqlite-vec" in with_settings(right, "status").out
    assert degraded(with_settings(right, "status", "--json")) == {}


@pytest.mark.parametrize("mode", ["search", "query"])
def test_missing_qmd_is_reported(with_settings, mode: str) -> None:
    lines = f'backend = "qmd"\nqmd.command = "/nowhere/qmd"\nqmd.search_mode = "{mode}"\n'
    for _ in range(2):
        status = with_settings(lines, "status", "--json")
        [(reason, remedy)] = degraded(status).values()
        assert reason.startswith("The command /nowhere/qmd was not found: ")
        assert remedy
        assert (status.json["fts"]["available"], status.json["indexError"]) == (False, reason)
        with_settings(lines, "index")


def test_missing_lancedb_package_is_reported(with_settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    status = with_settings('backend = "lancedb"\nprovider = "none"\n', "status", "--json")
    assert "lancedb, which this installation doesn't have" in degraded(status)["index"][0]
    assert (status.json["fts"]["available"], status.json["vector"]["engine"]) == (False, "lancedb")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ('provider = "gguf"\nlocal.model_path = "/nowhere/m.gguf"\n', "/nowhere/m.gguf"),
        ('provider = "openai"\n', "There is no API key for openai"),
    ],
)
def test_provider_that_cannot_start_is_reported(with_settings, monkeypatch, lines: str, reason: str) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found, remedy = degraded(with_settings(lines, "status", "--json"))["provider"]
    assert reason in found
    assert remedy.startswith("No search by meaning.")


def test_fallback_in_use_is_reported(with_settings) -> None:
    lines = 'provider = "gguf"\nfallback = "embedded"\nlocal.model_path = "/nowhere/m.gguf"\n'
    reason, remedy = degraded(with_settings(lines, "status", "--json"))["provider"]
    assert reason.startswith("gguf failed: ")
    assert remedy.startswith("embedded is used instead.")


def test_unreachable_provider_of_the_last_update_is_reported(with_settings, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    lines = 'provider = "openai"\nremote.base_url = "http://127.0.0.1:9/v1"\nmodel = "m"\ndimensions = 8\n'
    assert "update" not in degraded(with_settings(lines, "status", "--json"))
    with_settings(lines, "index")
    reason, remedy = degraded(with_settings(lines, "status", "--json"))["update"]
    assert "cannot be reached" in reason
    assert "mnemoscope index" in remedy


def test_status_without_provider_by_choice_is_not_degraded(with_settings) -> None:
    with_settings('provider = "none"\n', "index")
    assert degraded(with_settings('provider = "none"\n', "status", "--json")) == {}
