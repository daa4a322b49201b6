"""A failing table results in one sentence in bounded time, and never affects the machine's own index."""

import asyncio
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from engine import open_memory
from engine.backends import builtin
from engine.backends.lancedb import event_loop, table_schema
from engine.backends.lancedb.error_messages import Conflict, TableMissing, TableReplaced, described
from engine.base.cancellation import CancelToken
from engine.base.errors import BackendError, Cancelled, Closed, DiskFull
from engine.settings.backend_settings import LanceDbSettings
from tests.helpers.fake_provider import FakeProvider, selection_of
from tests.helpers.shared_tables import rows_of, table_settings

HOSE = {"hose.md": "# Hose\n\nThe irrigation hose has sixteen millimetres.\n"}
NOBODY = {"endpoint": "http://127.0.0.1:9", "region": "us-east-1", "client_max_retries": "0"}
"""An endpoint on which no server listens."""


@pytest.fixture
def no_network(monkeypatch) -> LanceDbSettings:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    return LanceDbSettings(uri="s3://memory/x", table="notes", storage_options=NOBODY, timeout_seconds=60)


def test_offline_sync_fills_own_index_then_shares(machine, no_network, tmp_path) -> None:
    desk = machine("desk", notes=HOSE, lancedb=no_network)

    report = desk.sync()

    assert (report.files_indexed, report.vectors_embedded) == (1, 1)
    assert "does not answer: check the network" in report.error
    assert "testing" not in report.error
    with pytest.raises(BackendError, match="does not answer"):
        desk.search("irrigation")
    status = desk.status()
    assert status.dirty
    assert "does not answer" in (status.index_error or "")
    assert desk.read_file("hose.md").text == HOSE["hose.md"]
    desk.close()

    again = machine("desk")
    assert not again.sync().error
    assert [hit.path for hit in again.search("irrigation").results] == ["hose.md"]


def test_fallback_answers_without_reindexing(no_network, tmp_path, monkeypatch) -> None:
    use = FakeProvider()
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(use))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "hose.md").write_text(HOSE["hose.md"])
    settings = msgspec.structs.replace(table_settings(tmp_path / "data", "", "desk"), lancedb=no_network)
    memory = open_memory(notes, settings)
    try:
        memory.sync()
        embedded = len(use.embedded)

        answer = memory.search("irrigation")

        assert [hit.path for hit in answer.results] == ["hose.md"]
        assert answer.mode == "hybrid"
        assert len(use.embedded) == embedded
        fallback = memory.status().fallback
        assert fallback is not None
        assert (fallback.from_, "does not answer" in fallback.reason) == ("LanceDB", True)
    finally:
        memory.close()


def test_plain_http_only_to_this_machine(machine) -> None:
    elsewhere = LanceDbSettings(uri="s3://memory/x", storage_options={"endpoint": "http://storage.example:9000"})

    report = machine("desk", notes=HOSE, lancedb=elsewhere).sync()

    assert "is not encrypted" in report.error
    assert "lancedb.allow_http" in report.error


def test_foreign_table_is_not_changed(machine, tmp_path) -> None:
    import lancedb

    lancedb.connect(str(tmp_path / "shared")).create_table("notes", [{"id": 1, "text": "theirs"}])

    desk = machine("desk", notes=HOSE)
    report = desk.sync()

    assert "was not made by Mnemoscope" in report.error
    with pytest.raises(BackendError, match="was not made by Mnemoscope"):
        desk.search("irrigation")
    assert rows_of(str(tmp_path / "shared")) == [{"id": 1, "text": "theirs"}]


def test_newer_table_is_not_changed(machine, tmp_path) -> None:
    import lancedb

    newer = table_schema.schema().with_metadata({table_schema.VERSION_KEY: b"2"})
    lancedb.connect(str(tmp_path / "shared")).create_table("notes", schema=newer)

    assert "newer version of Mnemoscope" in machine("desk", notes=HOSE).sync().error
    assert rows_of(str(tmp_path / "shared")) == []


def test_cancel_ends_waiting_search(machine) -> None:
    desk = machine("desk", notes=HOSE)
    desk.sync()
    token = CancelToken()

    async def hang() -> None:
        token.cancel()
        await asyncio.Event().wait()

    with pytest.raises(Cancelled):
        desk.table.call(hang(), token)
    assert desk.search("irrigation").results


def test_unanswered_request_times_out(machine) -> None:
    desk = machine("desk", notes=HOSE)
    desk.sync()

    async def hang() -> None:
        await asyncio.Event().wait()

    with pytest.raises(BackendError, match="did not answer in time"):
        desk.table.call(hang(), seconds=0.05)


def test_close_ends_waiting_calls_and_threads() -> None:
    import threading

    bridged, begun = event_loop.AsyncBridge(), threading.Event()
    raised: list[BaseException] = []

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    def wait() -> None:
        try:
            bridged.run(hang(), seconds=60)
        except BaseException as error:
            raised.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    begun.wait()
    bridged.close()
    waiting.join()

    assert [type(error) for error in raised] == [Closed]
    with pytest.raises(Closed):
        bridged.run(hang(), seconds=1)


def test_commit_conflict_is_retried(machine, monkeypatch) -> None:
    desk = machine("desk", notes=HOSE)
    real, failures = desk.table.call, [RuntimeError("Retryable commit conflict for version 7"), None]

    def call(work, *arguments, **options):
        if getattr(work, "__name__", "") == "commit" and (problem := failures.pop(0) if failures else None):
            work.close()
            raise described(problem, "there")
        return real(work, *arguments, **options)

    monkeypatch.setattr(desk.table, "call", call)

    assert not desk.sync().error
    assert failures == []
    assert desk.search("irrigation").results


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("Generic S3 error: <Code>NoSuchBucket</Code>", BackendError, "bucket does not exist"),
        ("status 403 Forbidden: SignatureDoesNotMatch", BackendError, "refuses the credentials"),
        ("the credential provider was not enabled", BackendError, "refuses the credentials"),
        ("error sending request for url (https://key:secret@host/x?X-Amz-Signature=abc)", BackendError, "not answer"),
        ("operation timed out", BackendError, "not answer"),
        ("Failed to connect to namespace: RetryErrorImpl { inner: BareRedirect }", BackendError, "in another region"),
        ("Failed to connect: <Code>AuthorizationHeaderMalformed</Code> expecting 'eu'", BackendError, "another region"),
        ("lance error: Not found: memory/notes.lance/data/01.lance", TableReplaced, "has replaced"),
        ("io error: No space left on device (os error 28)", DiskFull, "is full"),
        ("Commit conflict for version 12", Conflict, "next update"),
        ("Table 'notes' was not found", TableMissing, "next update"),
        ("an unknown error: sk-verysecret", BackendError, "LanceDB failed (RuntimeError)"),
    ],
)
def test_error_message_names_cause_without_secrets(text, kind, part) -> None:
    error = described(RuntimeError(text), "s3://memory/notes")

    assert type(error) is kind or isinstance(error, kind)
    assert part in str(error)
    assert str(error).endswith(".")
    assert not any(word in str(error) for word in ("secret", "Signature=", "os error"))


def test_missing_package_names_install(tmp_path) -> None:
    code = f"""
import sys
sys.modules["lancedb"] = None
from pathlib import Path
from engine import open_memory
from engine.settings import Settings
memory = open_memory(Path({str(tmp_path)!r}), Settings(backend="lancedb", provider="none"))
print(memory.sync().error)
memory.close()
"""
    root = Path(__file__).resolve().parents[4]
    told_ = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout

    assert told_.strip() == (
        "The LanceDB backend needs the package lancedb, which this installation doesn't have: "
        'install Mnemoscope from its source with pipx install --force ".[lancedb]", or set backend = "builtin".'
    )


def test_lancedb_is_imported_on_first_use(tmp_path) -> None:
    code = f"""
import sys
from pathlib import Path
from engine import open_memory
from engine.settings import Settings
memory = open_memory(Path({str(tmp_path)!r}), Settings(backend="lancedb", provider="none"))
memory.sessions()
print("lancedb" in sys.modules, "pyarrow" in sys.modules)
memory.close()
"""
    root = Path(__file__).resolve().parents[4]
    told_ = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout

    assert told_.split() == ["False", "False"]
