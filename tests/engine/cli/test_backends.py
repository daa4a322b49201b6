"""Every verb on every backend: it works, or one sentence explains why it doesn't."""

from pathlib import Path

import pytest

from engine.cli import main
from tests.helpers.command_line import Answer, Run
from tests.helpers.peers import qmd_command

NOTES = {
    "greenhouse.md": "# Greenhouse\n\nThe drip irrigation skipped Tuesday again.\n",
    "people/ines.md": "# Ines\n\nShe lent us the pressure gauge.\n",
}
QMD_LACKS = {
    ("duplicates",): "The index of qmd can't be inspected. The built-in index supports this.",
    ("doctor", "--repair"): "The index of qmd can't be inspected. The built-in index supports this.",
    ("doctor", "greenhouse.md"): "qmd does not report why a file is found or not. The built-in index supports this.",
    ("search", "--like", "greenhouse.md"): (
        "qmd can't search for passages similar to another passage. The built-in index supports this."
    ),
}


@pytest.fixture
def notes(folder: Path) -> None:
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")


@pytest.fixture
def on(notes: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Return a function that runs verbs on a backend."""

    def made(backend: str, command: str = "qmd") -> Run:
        config = tmp_path / f"{backend}.toml"
        data = (tmp_path / backend).as_posix()
        config.write_text(
            f'[defaults]\nbackend = "{backend}"\nprovider = "none"\nstore.path = "{data}"\nqmd.command = "{command}"\n'
        )

        def call(*argv: str) -> Answer:
            capsys.readouterr()
            code = main([*argv, "--config", str(config)])
            captured = capsys.readouterr()
            return Answer(code, captured.out, captured.err)

        return call

    return made


@pytest.fixture(params=["builtin", "lancedb", "qmd"])
def verb(request: pytest.FixtureRequest, on) -> Run:
    if request.param == "lancedb":
        pytest.importorskip("lancedb", reason="the extra lancedb is not installed")
    command = qmd_command()
    if request.param == "qmd" and command is None:
        pytest.skip("qmd is not installed: packaging/dev.py test --peers")
    run: Run = on(request.param, "qmd" if command is None else command.as_posix())
    run.backend = request.param  # type: ignore[attr-defined]
    return run


def test_index_search_get_and_status_work_on_every_backend(verb):
    assert verb("index").out.startswith("Indexed 2 files")
    found = verb("search", "irrigation", "--min-score", "0")
    assert (found.code, found.err) == (0, "")
    assert "greenhouse.md:1-3" in found.out
    assert verb("search", "irrigation", "--json").json["results"]
    assert verb("get", "people/ines.md").out == NOTES["people/ines.md"]
    status = verb("status")
    assert f"Backend:        {verb.backend}".split() == next(
        line.split() for line in status.out.splitlines() if line.startswith("Backend")
    )
    assert "2 files" in status.out
    assert verb("status", "--json").json["backend"] == verb.backend
    assert verb("searches").code == 0
    assert "No session folder is listed" in verb("sessions").err
    doctor = verb("doctor")
    assert (doctor.code, doctor.err) == (0, "")
    assert "failed" not in doctor.out


def test_command_that_qmd_does_not_support_names_the_reason(verb):
    verb("index")
    for arguments, sentence in QMD_LACKS.items():
        answer = verb(*arguments)
        if verb.backend == "qmd":
            assert answer == Answer(1, "", f"mnemoscope: {sentence}\n")
        else:
            assert (answer.code, answer.err) == (0, "")
    explained = verb("search", "irrigation", "--explain", "--min-score", "0").out
    assert ("qmd does not explain its results." in explained) == (verb.backend == "qmd")


def test_missing_backend_named_builtin_answers(on):
    run = on("qmd", "/nowhere/qmd")
    index = run("index")
    assert index.code == 1
    assert "/nowhere/qmd was not found: install it" in index.err
    found = run("search", "irrigation")
    assert found.code == 0
    assert "greenhouse.md:1-3" in found.out
    assert "answers instead of qmd" in found.out
    assert found.out.count("/nowhere/qmd was not found") == 1
    assert "answers instead of qmd" in run("search", "irrigation", "--json").json["notice"]
    status = run("status")
    assert "Backend:" in status.out
    assert "/nowhere/qmd was not found" in status.out, "the error of the failed update"
    doctor = run("doctor")
    assert doctor.code == 1
    assert "failed    Backend" in doctor.out
    assert "The built-in index answers instead of qmd." in doctor.out


def test_builtin_sync_not_shown_for_other_backend(on):
    run = on("qmd", "/nowhere/qmd")
    run("search", "irrigation")
    assert run("status", "--json").json["lastSync"] is None
