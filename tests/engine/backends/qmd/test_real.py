"""The real `qmd`: indexed text is found in its file and on its lines; nothing else is changed."""

import os
import subprocess
import sys

import pytest

from engine.base.errors import PathRefused
from engine.settings.backend_settings import QmdModelSettings, QmdScopeSettings
from tests.helpers.peers import indexed


def test_indexed_text_found_on_its_lines(open_qmd, real):
    memory = open_qmd(real)
    assert memory.search("drip").notice == "Nothing is indexed yet."
    report = memory.sync()
    assert (report.error, report.files_seen, report.files_indexed) == ("", 4, 4)
    outcome = memory.search("when did the drip irrigation skip?")
    (result,) = outcome.results
    assert (result.path, result.citation) == ("greenhouse.md", "greenhouse.md#L1-L5")
    assert result.source == "memory"
    assert result.title == "Greenhouse"
    marked = {result.snippet[start:end] for start, end in result.match_ranges}
    assert {"drip", "irrigation"} <= marked
    assert 0 <= result.score <= 1
    assert result.text_share == 1
    assert result.vector_score is None
    assert (outcome.mode, outcome.provider) == ("keyword", "qmd")
    assert memory.read_file(result.path, start=5, lines=1).text.startswith("The timer")
    status = memory.status()
    assert (status.backend, status.files, status.dirty, status.index_error) == ("qmd", 4, False, None)
    assert status.sizes.database > 0
    assert status.custom["qmd"]["version"]


def test_changes_found_and_deletions_purged(open_qmd, real, workspace, data):
    memory = open_qmd(real)
    memory.sync()
    (workspace / "people/ines.md").write_text("# Ines\n\nShe wants the chainsaw back.\n")
    (workspace / "shopping.md").unlink()
    (workspace / "new.md").write_text("# New\n\nA wheelbarrow.\n")
    report = memory.sync()
    assert (report.files_indexed, report.files_removed, report.files_unchanged) == (2, 1, 2)
    assert [result.path for result in memory.search("chainsaw").results] == ["people/ines.md"]
    assert [result.path for result in memory.search("wheelbarrow").results] == ["new.md"]
    assert not memory.search("T-pieces").results
    database = (data() / "xdg-cache/qmd/index.sqlite").read_bytes()
    assert b"T-pieces" not in database
    assert b"wheelbarrow" in database


def test_moved_line_is_highlighted_at_new_position(open_qmd, real, workspace):
    memory = open_qmd(real)
    (workspace / "long.md").write_text("# Long\n\n" + "filler line of words\n\n" * 300 + "the hedgehog sleeps here\n")
    memory.sync()
    (result,) = memory.search("hedgehog").results
    assert result.start_line <= 603 <= result.end_line
    text = (workspace / "long.md").read_text()
    (workspace / "long.md").write_text("something new above\n" * 400 + text)
    (result,) = memory.search("hedgehog").results
    assert result.start_line <= 1003 <= result.end_line
    assert "hedgehog" in result.snippet


def test_two_workspaces_are_separate(open_qmd, real, tmp_path):
    other = tmp_path / "other notes"
    other.mkdir()
    (other / "greenhouse.md").write_text("# Theirs\n\nA drip of paint.\n")
    one, two = open_qmd(real), open_qmd(real, folder=other)
    one.sync()
    two.sync()
    assert [result.title for result in one.search("drip").results] == ["Greenhouse"]
    assert [result.title for result in two.search("drip").results] == ["Theirs"]


def test_refused_files_never_reach_qmd(open_qmd, real, workspace, data, tmp_path):
    for name in ("private/diary.md", "drafts/a, [b] {c}!.md", ".hidden/x.md", "build/made.md"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text("refused words\n")
    (workspace / "drafts/ok (1).md").write_text("accepted words\n")
    (workspace / "huge.md").write_text("refused words\n" * 1000)
    exclude = ("private/", "drafts/a*.md")
    memory = open_qmd(real, exclude=exclude, max_file_bytes=5000)
    report = memory.sync()
    assert not [path for path, text in indexed(data(), tmp_path).items() if "refused" in text]
    assert [result.path for result in memory.search("accepted").results] == ["drafts/ok (1).md"]
    passed = {issue.path: issue.rule for issue in report.skipped}
    assert passed["build/made.md"] == "qmd"
    assert passed["private"] == "exclude"
    with pytest.raises(PathRefused):
        memory.read_file("private/diary.md")


ODD_NAMES = (
    "[draft] a,b (1)!{x}.md",
    "!bang.md",
    "@(at) plus+.md",
    "q?.md",
    "star*.md",
    "$d'q\".md",
    'it\'s "{x}".md',
    "`back`.md",
    "-dash.md",
    "ÜN.MD",
)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not allow these names")
def test_file_of_any_name_is_found_or_excluded(open_qmd, real, workspace, data, tmp_path):
    from engine import literal_glob

    (workspace / "in").mkdir()
    (workspace / "out").mkdir()
    for name in ODD_NAMES:
        (workspace / "in" / name).write_text("wanted word\n")
        (workspace / "out" / name).write_text("unwanted word\n")
        (tmp_path / name).write_text("single word\n")
    (workspace / "out" / "other.md").write_text("nothing\n")
    exclude = tuple(literal_glob(f"out/{name}") for name in ODD_NAMES)
    memory = open_qmd(real, exclude=exclude, extra_paths=tuple(str(tmp_path / name) for name in ODD_NAMES))
    memory.sync()
    wanted = memory.search("wanted", max_results=20).results
    assert {result.path for result in wanted} == {f"in/{name}" for name in ODD_NAMES}
    assert {result.path for result in memory.search("single", max_results=20).results} == set(ODD_NAMES)
    assert not [path for path, text in indexed(data(), tmp_path).items() if "unwanted" in text]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux allows these names")
def test_invalid_names_reported_without_side_effects(open_qmd, real, workspace):
    (workspace / "a:b.md").write_text("a tractor\n")
    for name in (b"caf\xe9.md", b"\xff\xfe/x.md"):
        path = workspace / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("a tractor\n")
    (workspace / "caf\ufffd2.md").write_text("a tractor\n")
    (workspace / ("ü" * 126 + ".md")).write_text("a tractor\n")
    memory = open_qmd(real)
    report = memory.sync()
    assert (report.error, report.files_indexed) == ("", 6)
    assert [(issue.path, "outside" in issue.detail) for issue in report.failed] == [("a:b.md", True)]
    assert [issue.rule for issue in report.skipped] == ["bad-name", "bad-name"]
    assert {result.path for result in memory.search("tractor").results} == {"caf\ufffd2.md", "ü" * 126 + ".md"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux allows these names")
def test_unsupported_folder_reported(open_qmd, real, tmp_path):
    folder = tmp_path / os.fsdecode(b"n\xf6tes")
    folder.mkdir()
    assert "contains bytes that are not text" in open_qmd(real, folder=folder).sync().error


def test_qmd_folder_among_notes_is_not_used(open_qmd, real, workspace):
    theirs = workspace / ".qmd"
    theirs.mkdir()
    config = f"collections:\n  evil:\n    path: {workspace}\n    update: touch {workspace}/ran\n"
    (theirs / "index.yml").write_text(config)
    memory = open_qmd(real)
    memory.sync()
    assert memory.search("drip").results
    assert [entry.name for entry in theirs.iterdir()] == ["index.yml"]
    assert (theirs / "index.yml").read_text() == config
    assert not (workspace / "ran").exists()


def test_user_qmd_index_is_unchanged(open_qmd, real, user_home, monkeypatch, tmp_path):
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "theirs.sqlite"))
    memory = open_qmd(real)
    memory.sync()
    assert memory.search("drip").results
    assert not (tmp_path / "theirs.sqlite").exists()
    assert not (user_home / ".cache/qmd").exists()
    assert not (user_home / ".config/qmd").exists()


def test_any_query_is_never_an_option(open_qmd, real):
    memory = open_qmd(real)
    memory.sync()
    ends = ("", " drip\n--version", "lex: drip", "\ud800 drip\0", "$(touch x) drip", "-c evil drip")
    for query in ("--help", "--json", '"', "x" * 9000, *ends):
        paths = {result.path for result in memory.search(query).results}
        assert paths == ({"greenhouse.md"} if "drip" in query else set()), query


def test_operators_and_conditions_filter_results(open_qmd, real, workspace):
    memory = open_qmd(real)
    os.utime(workspace / "shopping.md", (10**9, 10**9))
    memory.sync()

    def paths(query: str, **options) -> set[str]:
        return {result.path for result in memory.search(query, **options).results}

    assert paths("irrigation") == {"greenhouse.md", "shopping.md"}
    assert paths('"drip irrigation"') == {"greenhouse.md"}
    assert paths("irrigation -timer OR irrigation") <= {"greenhouse.md", "shopping.md"}
    assert paths("irrigation -batteries") == {"greenhouse.md"}
    assert paths("batteries OR gauge") == {"shopping.md", "people/ines.md"}
    assert paths("gauge path:people") == {"people/ines.md"}
    assert paths("gauge path:daily") == set()
    assert paths("irrigation before:2010-01-01") == {"shopping.md"} == paths("irrigation", until=1.1e9)
    assert paths("irrigation", path_glob="green*") == {"greenhouse.md"} == paths("irrigation", since=1.1e9)
    assert paths("irrigation", min_score=0.99) == set() == paths("irrigation", sources=["sessions"])
    assert "does not support filters by tag" in memory.search("irrigation tag:x").notice


def test_notes_with_some_words_shown_if_none_has_all(open_qmd, real):
    memory = open_qmd(real)
    memory.sync()
    outcome = memory.search("tomatoes gauge wheelbarrow")
    assert {result.path for result in outcome.results} == {"daily/2026-02-08.md", "people/ines.md"}
    assert outcome.notice.startswith("No note has all")
    assert all(0 < result.score <= 1 for result in outcome.results)


def test_chinese_question_finds_note_with_its_words(open_qmd, real, workspace):
    (workspace / "zh.md").write_text("# 记录\n\n数据库已经迁移完成。\n")
    memory = open_qmd(real)
    memory.sync()
    assert [result.path for result in memory.search("数据库什么时候迁移").results] == ["zh.md"]


def test_group_session_is_refused(open_qmd, real, workspace):
    (workspace / "memory").mkdir()
    (workspace / "memory/day.md").write_text("A hammock for everyone.\n")
    (workspace / "MEMORY.md").write_text("My own hammock.\n")
    memory = open_qmd(real, qmd={"scope": QmdScopeSettings(rules=("allow direct", "allow discord/group"))})
    memory.sync()

    def paths(key: str | None) -> set[str]:
        return {result.path for result in memory.search("hammock", session_key=key).results}

    assert paths(None) == paths("agent:main:main") == {"MEMORY.md", "memory/day.md"}
    assert paths("agent:main:discord:group:7") == {"memory/day.md"}
    assert paths("agent:main:slack:group:7") == set()
    assert "qmd.scope" in memory.search("hammock", session_key="agent:main:slack:group:7").notice


def test_extra_collections_by_name_and_pattern(open_qmd, real, tmp_path):
    specs = tmp_path / "specs"
    (specs / "deep").mkdir(parents=True)
    (specs / "top.md").write_text("An anvil on top.\n")
    (specs / "deep/low.md").write_text("An anvil below.\n")
    memory = open_qmd(real, qmd={"paths": {"Spec Sheets": f"{specs}/deep/*.md"}, "include_default_memory": False})
    memory.sync()
    assert [result.path for result in memory.search("anvil").results] == ["deep/low.md"]
    assert memory.read_file("deep/low.md").text == "An anvil below.\n"
    assert list(memory.status().custom["qmd"]["collections"]) == ["spec-sheets-notes"]
    assert not memory.search("drip").results


def test_lost_collections_are_restored(open_qmd, real, data):
    memory = open_qmd(real)
    memory.sync()
    (data() / "xdg-config/index.yml").unlink()
    assert memory.search("drip").results
    (data() / "xdg-config/index.yml").write_text("{ not yaml: [")
    assert memory.search("pressure gauge").results


def test_dropped_collections_added_again(open_qmd, real, data):
    memory = open_qmd(real)
    memory.sync()
    config, (name,) = data() / "xdg-config/index.yml", memory.status().custom["qmd"]["collections"]
    configuration = config.read_text()
    memory._command.run(["collection", "remove"], operand=name, seconds=30)
    config.write_text(configuration)  # unchanged, so qmd doesn't reread it
    report = memory.sync()
    assert (report.error, report.files_indexed) == ("", 4)
    assert memory.search("drip").results


def test_damaged_index_rebuilt(open_qmd, real, data):
    memory = open_qmd(real)
    memory.sync()
    (data() / "xdg-cache/qmd/index.sqlite").write_bytes(b"no database at all " * 500)
    report = memory.sync()
    assert (report.error, report.files_indexed) == ("", 4)
    assert memory.search("drip").results
    assert memory.status().index_error is None


def test_force_reads_everything_again(open_qmd, real):
    memory = open_qmd(real)
    memory.sync()
    report = memory.sync(force=True)
    assert report.full
    assert report.files_indexed == 4
    assert report.error == ""
    assert memory.search("drip").results


def test_without_models_keywords_and_status_reason(open_qmd, real, monkeypatch):
    """No hub can be reached, so that qmd can't wait for one indefinitely."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    memory = open_qmd(real, qmd={"search_mode": "query", "embed_timeout_seconds": 2.0})
    report = memory.sync()
    assert report.files_indexed == 4
    assert report.provider_failed
    assert "embed" in report.error
    outcome = memory.search("drip")
    assert outcome.results
    assert outcome.mode == "keyword"
    assert "Keyword search works" in outcome.notice
    status = memory.status()
    assert status.pending_vectors == 4
    assert status.provider == "none"
    assert status.requested_provider == "qmd"
    assert "embed" in status.custom["providerUnavailableReason"]
    assert not memory.sync(reason="watch").error  # retries are paused
    assert not memory.probe_embedding().ok
    assert memory.probe_vector().ok


def test_snippets_respect_limit(open_qmd, real):
    memory = open_qmd(real, limits={"max_snippet_chars": 40, "max_results": 1})
    memory.sync()
    (result,) = memory.search("irrigation").results
    assert len(result.snippet) <= 40


def test_changes_in_the_folder_are_noticed(open_qmd, real, workspace):
    from tests.helpers.background import wait_until

    memory = open_qmd(real, background=True)
    memory.sync()
    (workspace / "later.md").write_text("A kite.\n")
    wait_until(lambda: bool(memory.search("kite").results), 300)


HOLD = "import filelock, sys; lock = filelock.FileLock(sys.argv[1]); lock.acquire(); print(1, flush=True); input()"


def test_two_processes_sync_one_after_the_other(open_qmd, real, tmp_path, data):
    memory = open_qmd(real)
    memory.sync()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(data() / "qmd.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    try:
        assert memory.status().writer_elsewhere
        phases = []

        def tell(update) -> None:
            phases.append(update.phase)
            if update.phase == "waiting":
                holder.kill()

        assert memory.sync(progress=tell).error == ""
        assert phases[0] == "waiting"
        assert phases[-1] == "done"
    finally:
        holder.kill()
        holder.communicate()


def test_installed_model_finds_meaning(open_qmd, real, minilm, monkeypatch, workspace):
    """The larger models are missing: their configured files don't exist, so qmd fails immediately."""
    monkeypatch.setenv("QMD_FORCE_CPU", "1")
    monkeypatch.setenv("CI", "true")  # with CI set, qmd itself would refuse
    (workspace / "harbour.md").write_text("# Harbour\n\nThe ferry leaves for the island at noon.\n")
    models = QmdModelSettings(embed=str(minilm), generate="/no/such.gguf", rerank="/no/such.gguf")
    memory = open_qmd(real, qmd={"search_mode": "query", "models": models})
    report = memory.sync()
    assert (report.error, report.vectors_embedded, report.vectors_pending) == ("", 5, 0)
    status = memory.status()
    assert (status.provider, status.pending_vectors, status.vector.rows) == ("qmd", 0, 5)
    assert status.custom["searchMode"] == "hybrid"
    outcome = memory.search("boat trips", min_score=0.2)
    assert outcome.mode == "hybrid", outcome.notice
    assert outcome.results[0].path == "harbour.md"
    assert outcome.results[0].vector_score is not None
    assert "not re-ranked" in outcome.notice
    assert not memory.search("boat trips -ferry", min_score=0.2).results
    assert memory.sync(force=True).vectors_embedded == 0  # unchanged texts keep their vectors
