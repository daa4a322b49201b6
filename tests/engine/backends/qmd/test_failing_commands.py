"""Commands that hang, print nonsense or are missing: an error with the reason, and no process or file left behind."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.backends.qmd import search as qmd_search
from engine.backends.qmd.command import QmdError, QmdMissing, QmdTooSlow
from engine.backends.qmd.index_maintenance import QmdCounts
from engine.base.cancellation import CancelToken
from engine.base.errors import BackendError, Cancelled, Closed
from engine.corpus.note_metadata import read_metadata
from tests.helpers.background import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake is a POSIX script")

ROW = {
    "docid": "#abc123",
    "score": 0.5,
    "file": "qmd://memory-dir-notes/greenhouse.md",
    "line": 5,
    "title": "Greenhouse",
    "snippet": "@@ -4,2 @@ (3 before, 0 after)\n\nThe timer on the drip",
}
UPDATED = 'print("[1/1] memory-dir-notes (x)"); print("Indexed: 4 new, 0 updated, 0 unchanged, 0 removed")'
SPAWNING = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(__file__ + ".child", "w") as file:
    file.write(str(child.pid))
time.sleep(600)
"""


@pytest.fixture
def memory(open_qmd, fake):
    """Open a memory that believes it is indexed."""
    fake.does(UPDATED)
    memory = open_qmd(str(fake.path))
    assert memory.sync().error == ""
    return memory


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, which includes zombies."""
    state = Path(f"/proc/{pid}/stat")
    if Path("/proc/self").is_dir():
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def child_of(fake) -> int:
    file = fake.path.with_name("qmd.child")
    wait_until(lambda: file.exists() and file.read_text() != "", 120)
    return int(file.read_text())


def test_hanging_qmd_is_killed_with_children(open_qmd, fake):
    started = fake.path.with_name("qmd.child")
    for seconds in (2, 20, 200):  # on a busy machine it may not have started a child yet
        fake.does(UPDATED)
        memory = open_qmd(str(fake.path), limits={"timeout_ms": 1000 * seconds})
        memory.sync()
        fake.does(SPAWNING)
        with pytest.raises(QmdTooSlow, match=r"search took longer than \d+.* s"):
            memory.search("drip")
        if started.exists() and started.read_text():
            break
    wait_until(lambda: has_ended(child_of(fake)), 60)


def test_cancel_ends_command_immediately(memory, fake):
    fake.does(SPAWNING)
    cancel = CancelToken()

    def stop() -> None:
        child_of(fake)
        cancel.cancel()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(Cancelled):
        memory.search("drip", cancel=cancel)
    thread.join()
    wait_until(lambda: has_ended(child_of(fake)), 60)


def test_sync_cancel_ends_processes(memory, fake):
    fake.does(SPAWNING)
    cancel = CancelToken()
    thread = threading.Thread(target=lambda: (child_of(fake), cancel.cancel()))
    thread.start()
    assert memory.sync(cancel=cancel).cancelled
    thread.join()
    wait_until(lambda: has_ended(child_of(fake)), 60)
    assert memory.status().dirty


def test_close_ends_running_command(open_qmd, fake):
    fake.does(UPDATED)
    memory = open_qmd(str(fake.path))
    memory.sync()
    fake.does(SPAWNING)
    raised = []

    def search() -> None:
        try:
            memory.search("drip")
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=search)
    thread.start()
    child = child_of(fake)
    memory.close()
    thread.join()
    assert isinstance(raised[0], Closed)
    wait_until(lambda: has_ended(child))
    with pytest.raises(Closed):
        memory.search("drip")


SEARCHING = """
import sys
from pathlib import Path
import msgspec
from engine.backends.qmd.memory import QmdMemory
from engine.settings import Settings
settings = Settings()
store = msgspec.structs.replace(settings.store, path=sys.argv[3])
qmd = msgspec.structs.replace(settings.qmd, command=sys.argv[2])
settings = msgspec.structs.replace(settings, backend="qmd", store=store, qmd=qmd)
QmdMemory(Path(sys.argv[1]), settings, executor=None, background=False).sync()
"""


def test_killed_program_leaves_no_qmd_process(fake, workspace, tmp_path):
    fake.does(SPAWNING)
    arguments = [sys.executable, "-c", SEARCHING, str(workspace), str(fake.path), str(tmp_path / "data")]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    program = subprocess.Popen(arguments, env={**os.environ, "TMPDIR": str(temporary)})
    try:
        child = child_of(fake)
        assert not has_ended(child)
        assert list(temporary.iterdir())  # the output files of qmd
    finally:
        program.kill()
        program.wait()
    wait_until(lambda: has_ended(child) and not list(temporary.iterdir()), 120)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('hello')", "can.t be read"),
        ("pass", "returned no answer"),
        ("print('[{\"file\": 1}]')", "without a file name"),
        ("print('[' * 100000)", "can.t be read"),
        ("print('x' * 300000)", "printed too much output"),
        ("while True: print('x' * 1000)", "printed too much output"),
        (f"print({json.dumps(ROW)!r}[:40], flush=True); os.kill(os.getpid(), signal.SIGKILL)", r"signal 9"),
        ("print('[]'); sys.exit(3)", r"failed: \[\]"),
        ("sys.stderr.write('Error: disk I/O error\\n    at f (x.js:1)\\n'); sys.exit(1)", r"Error: disk I/O error\.$"),
    ],
)
def test_invalid_output_is_error(memory, fake, body, message):
    fake.does(body)
    with pytest.raises(QmdError, match=message) as raised:
        memory.search("drip")
    assert isinstance(raised.value, BackendError)


def test_an_answer_between_noise_counts(memory, fake):
    rows = json.dumps([ROW])
    fake.does(f"print('[node-llama-cpp] warming up\\n[1/3] loading\\n' + {rows!r} + '\\nbye')")
    (result,) = memory.search("drip").results
    assert (result.path, result.score, result.end_line) == ("greenhouse.md", 0.5, 5)


@pytest.mark.parametrize(
    "body", ["print('No results found.')", "print('[]')", "sys.stderr.write('warn: No results found')"]
)
def test_empty_result_is_not_an_error(memory, fake, body):
    fake.does(body)
    assert memory.search("drip").results == ()


def test_note_that_faults_hides_no_other(memory, fake, monkeypatch):
    def faulty(text, path):
        if path == "greenhouse.md":
            raise KeyError(text)
        return read_metadata(text, path)

    monkeypatch.setattr(qmd_search, "read_metadata", faulty)
    rows = [ROW, {**ROW, "docid": "#def456", "file": "qmd://memory-dir-notes/shopping.md"}]
    fake.does(f"print({json.dumps(rows)!r})")
    assert [result.path for result in memory.search("drip").results] == ["shopping.md"]


def test_foreign_results_are_dropped(memory, fake):
    files = (
        "evil/greenhouse.md",
        "memory-dir-notes/../../etc/passwd",
        "memory-dir-notes/.env",
        "memory-dir-notes/gone.md",
    )
    rows = [{**ROW, "file": f"qmd://{file}"} for file in files]
    fake.does(f"print({json.dumps(rows)!r})")
    assert memory.search("drip").results == ()


def test_missing_command_names_fix(open_qmd, tmp_path):
    memory = open_qmd(str(tmp_path / "no qmd"))
    with pytest.raises(QmdMissing, match="npm i -g @tobilu/qmd"):
        memory.search("drip")
    report = memory.sync()
    assert "was not found" in report.error
    assert "was not found" in (memory.status().index_error or "")
    assert not memory.probe_vector().ok


def test_non_program_reported(open_qmd, tmp_path):
    file = tmp_path / "qmd"
    file.write_bytes(b"\x00nothing to run")
    file.chmod(0o755)
    with pytest.raises(QmdMissing, match="cannot be run"):
        open_qmd(str(file)).search("drip")


@pytest.mark.parametrize(
    ("version", "message"), [("qmd 0.9.0", "0.9.0 is too old"), ("hello", "does not report a qmd version")]
)
def test_unsupported_version_is_reported(open_qmd, fake, version, message):
    fake.does("", beginning=f"#!{sys.executable}\nprint({version!r})\n")
    with pytest.raises(QmdMissing, match=message):
        open_qmd(str(fake.path)).search("drip")


def test_unknown_verb_falls_back_to_query(memory, fake):
    rows = json.dumps([ROW])
    fake.does(f"""
        if verb == "search":
            sys.exit("Unknown option '--json'")
        print({rows!r})
    """)
    assert memory.search("drip").results
    assert [call[0] for call in fake.calls()[-2:]] == ["search", "query"]


def test_query_follows_end_of_options(memory, fake):
    fake.does("print('[]')")
    memory.search('drip "left valve" --index evil')
    call = fake.calls()[-1]
    at = call.index("--")
    assert call[1:3] == ["--index", "index"]
    assert len(call) == at + 2
    assert "evil" not in call[:at]


def test_update_is_retried_while_index_is_busy(memory, fake):
    fake.does(f"""
        if verb == "update" and not os.path.exists(__file__ + ".once"):
            open(__file__ + ".once", "w").close()
            sys.exit("SqliteError: database is locked")
        {UPDATED}
    """)
    assert memory.sync().error == ""


def test_duplicate_documents_rebuilt_and_counted_once(memory, fake, data):
    config = data() / "xdg-config/index.yml"
    configuration = config.read_text()
    fake.does(f"""
        if verb == "update":
            {UPDATED}
            print("⚠ Skipped unreadable file: a.md (EACCES)")
            if not os.path.exists(__file__ + ".once"):
                open(__file__ + ".once", "w").close()
                sys.exit("SqliteError: UNIQUE constraint failed: documents.collection, documents.path")
    """)
    report = memory.sync()
    assert (report.error, report.files_indexed) == ("", 4)
    assert [issue.path for issue in report.failed] == ["a.md"]
    verbs = [call[:2] for call in fake.calls()][-4:]
    assert verbs == [["update", "--index"], ["collection", "remove"], ["collection", "list"], ["update", "--index"]]
    assert config.read_text() == configuration


def test_failed_update_reported_and_old_index_used(memory, fake):
    fake.does("sys.exit('Error: something broke') if verb == 'update' else print('[]')")
    report = memory.sync()
    assert report.error == "qmd update failed: Error: something broke."
    status = memory.status()
    assert status.index_error == report.error
    assert status.dirty
    assert memory.search("drip").results == ()


@pytest.fixture
def with_models(open_qmd, fake, monkeypatch):
    """Open a memory with models enabled and vectors available."""
    monkeypatch.setattr("engine.backends.qmd.memory.why_keywords_only", lambda *_: "")
    fake.does(UPDATED)
    memory = open_qmd(str(fake.path), qmd={"search_mode": "query"})
    memory.sync()
    return memory


def test_hanging_models_fall_back_then_pause(with_models, fake, monkeypatch):
    monkeypatch.setattr(with_models._qmd_search._runner, "_seconds", lambda: 2.0)
    rows = json.dumps([ROW])
    fake.does(f"""
        if verb == "query":
            time.sleep(600)
        print({rows!r})
    """)
    outcome = with_models.search("drip")
    assert outcome.mode == "keyword"
    assert "query took longer" in outcome.notice
    assert len(outcome.results) == 1
    outcome = with_models.search("drip timer")
    assert "failed recently, so only keywords are searched." in outcome.notice
    assert [call[0] for call in fake.calls()].count("query") == 2  # with all its models, then by vectors alone


def test_failed_models_fall_back_to_vectors(with_models, fake):
    legs = [{"source": "vec", "backendScore": 0.7, "rrfContribution": 0.02}]
    rows = json.dumps([{**ROW, "score": 1, "explain": {"rrf": {"contributions": legs}}}])
    fake.does(f"""
        if "--no-rerank" not in args:
            sys.exit("Error: No model file found")
        print({rows!r})
    """)
    outcome = with_models.search('drip -hose "the drip"')
    assert (outcome.mode, outcome.results[0].score) == ("hybrid", 0.7)
    assert "No model file found" in outcome.notice
    assert "not re-ranked" in outcome.notice
    assert fake.calls()[-1][-1] == 'lex: drip "the drip" -hose\nvec: drip the drip'
    assert with_models.search("timer").results
    assert [call[0] for call in fake.calls()].count("query") == 3


def test_model_results_must_contain_phrases(with_models, fake):
    fake.does(f"print({json.dumps([ROW])!r})")
    assert with_models.search("water").results
    assert with_models.search('water "drip irrigation"').results
    assert not with_models.search('water "irrigation drip"').results
    assert not with_models.search("water -timer").results
    assert with_models.search("water -tim").results


def test_model_scores_explained(with_models, fake):
    legs = [("fts", 0.4, 0.01), ("vec", 0.8, 0.03)]
    listed = [{"source": source, "backendScore": score, "rrfContribution": weight} for source, score, weight in legs]
    rows = json.dumps([{**ROW, "explain": {"rrf": {"contributions": listed}}}])
    fake.does(f"print({rows!r})")
    outcome = with_models.search("drip")
    (result,) = outcome.results
    assert outcome.mode == "hybrid"
    assert (result.text_score, result.vector_score, result.text_share) == (0.4, 0.8, 0.25)
    assert with_models.search("drip", mode="keyword").mode == "keyword"


def test_repeated_query_runs_once(memory, fake):
    fake.does(f"print({json.dumps([ROW])!r})")
    before = len(fake.calls())
    for _ in range(3):
        assert memory.search("drip").results
    assert len(fake.calls()) == before + 1


def test_progress_reported_while_running(memory, fake):
    fake.does("""
        print("[1/1] memory-dir-notes (x)", flush=True)
        while not os.path.exists(__file__ + ".go"):
            time.sleep(0.01)
        print("Indexed: 1 new, 1 updated, 2 unchanged, 0 removed", flush=True)
        print("⚠ Skipped unreadable file: people/ines.md (EACCES)", file=sys.stderr)
    """)
    seen = []

    def tell(update) -> None:
        seen.append(update)
        if update.current_file == "memory-dir-notes":
            fake.path.with_name("qmd.go").touch()

    report = memory.sync(progress=tell)
    assert (report.files_indexed, report.files_unchanged) == (2, 2)
    assert [(issue.path, issue.rule) for issue in report.failed] == [("people/ines.md", "unreadable")]
    assert seen[-1].phase == "done"
    assert memory.status().failed_files == report.failed


def test_stored_count_reported_during_long_collection(open_qmd, fake):
    fake.does("""
        import sqlite3
        place = os.environ["XDG_CACHE_HOME"] + "/qmd"
        os.makedirs(place)
        database = sqlite3.connect(place + "/index.sqlite")
        database.execute("CREATE TABLE documents (hash, collection, active)")
        database.execute("CREATE TABLE content_vectors (hash)")
        database.execute("INSERT INTO documents VALUES (1, 'memory-dir-notes', 1), (2, 'memory-dir-notes', 1)")
        database.commit()
        print("[1/1] memory-dir-notes (x)", flush=True)
        while not os.path.exists(__file__ + ".go"):
            time.sleep(0.01)
        print("Indexed: 4 new, 0 updated, 0 unchanged, 0 removed")
    """)
    memory = open_qmd(str(fake.path))
    done = set()

    def tell(update) -> None:
        done.add(update.completed)
        if update.completed == 2:
            fake.path.with_name("qmd.go").touch()

    assert memory.sync(progress=tell).error == ""
    assert 2 in done
    assert memory.status().files == 2


def test_hanging_start_ends_within_search_time(open_qmd, fake):
    fake.does("", beginning=f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
    memory = open_qmd(str(fake.path), limits={"timeout_ms": 300})
    with pytest.raises(QmdTooSlow, match=r"--version took longer than 0\.3 s"):
        memory.search("drip")


def test_read_only_folder_is_reported(open_qmd, fake, tmp_path):
    fake.does("print('[]')")
    memory = open_qmd(str(fake.path))
    [index] = (tmp_path / "data/indexes").iterdir()
    (index / "qmd").write_text("in the way")
    with pytest.raises(QmdError, match="cannot be written"):
        memory.search("drip")
    assert "cannot be written" in memory.sync().error


def test_environment_of_user_qmd_is_not_inherited(memory, fake, data, monkeypatch, tmp_path):
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "theirs"))
    monkeypatch.setenv("CI", "true")
    fake.does("""
        with open(__file__ + ".env", "w") as file:
            json.dump([dict(os.environ), os.getcwd()], file)
        print("[]")
    """)
    memory.search("drip")
    environment, folder = json.loads(fake.path.with_name("qmd.env").read_text())
    home = str(data())
    assert folder == environment["PWD"] == home
    assert not {"INDEX_PATH", "CI"} & environment.keys()
    for name in ("XDG_CONFIG_HOME", "QMD_CONFIG_DIR", "XDG_CACHE_HOME"):
        assert environment[name].startswith(home)
    assert environment["NO_COLOR"] == "1"
    assert environment["PATH"].split(os.pathsep)[0] == str(fake.path.parent)


def test_embedding_pauses_after_failures_then_continues(with_models, fake, monkeypatch):
    maintenance = with_models._sync.maintenance
    monkeypatch.setattr(with_models._index, "counts", lambda: QmdCounts(pending=4))
    fake.does(f"sys.exit('Error: no model') if verb == 'embed' else None\n{UPDATED}")
    report = with_models.sync(reason="interval")
    assert report.provider_failed
    assert "no model" in report.error
    assert not with_models.sync(reason="interval").provider_failed
    assert not maintenance.embed_due("watch", False)
    assert maintenance.embed_due("manual", False)  # requested by the user
    assert [call[0] for call in fake.calls()].count("embed") == 1
