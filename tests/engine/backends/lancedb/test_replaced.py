"""A table that other machines delete, recreate or clean up, and processes that die while writing to it."""

import json
import shutil
import subprocess
import sys
import time
import traceback
from datetime import timedelta
from pathlib import Path

import pytest

from engine.backends.lancedb import table_writer
from engine.base.errors import BackendError
from tests.engine.backends.lancedb.conftest import write
from tests.helpers.shared_tables import doubled, rows_of

ROOT = Path(__file__).resolve().parents[4]
HOSE = {"hose.md": "# Hose\n\nThe irrigation hose has sixteen millimetres.\n"}
GAUGE = {"gauge.md": "# Gauge\n\nThe irrigation gauge hangs in the shed.\n"}


@pytest.fixture
def table(tmp_path: Path) -> str:
    return str(tmp_path / "shared")


def found(memory) -> set[str]:
    """Return the paths found in the current version of the table."""
    memory.table.changed()
    return {hit.path for hit in memory.search("irrigation", min_score=0.0, max_results=50).results}


def test_deleted_table_recreated_by_next_sync(machine, table) -> None:
    desk, shed = machine("desk", notes=HOSE), machine("shed", notes=GAUGE)
    desk.sync()
    shed.sync()
    assert found(desk) == {"hose.md", "//shed/gauge.md"}

    shutil.rmtree(table)

    assert found(desk) == set()
    assert desk.search("irrigation").notice == "Nothing is indexed yet."
    assert (desk.status().files, desk.status().index_error) == (0, None)
    assert not desk.sync().error
    assert not shed.sync().error
    assert found(desk) == {"hose.md", "//shed/gauge.md"}
    assert found(shed) == {"//desk/hose.md", "gauge.md"}


def test_recreated_table_not_mistaken_for_old(machine, table) -> None:
    desk, shed = machine("desk", notes=HOSE), machine("shed", notes=GAUGE)
    for memory in (desk, shed, desk):
        memory.sync()
    found(desk)

    shutil.rmtree(table)
    third = machine("third", notes={"third.md": "# Third\n\nMore irrigation.\n"})
    third.sync()

    assert found(desk) == {"//third/third.md"}
    assert not desk.sync().error
    assert not shed.sync().error
    assert {row["path"] for row in rows_of(table)} == {"hose.md", "gauge.md", "third.md"}


def test_answers_not_shared_across_equal_versions(machine, table) -> None:
    desk, reader = machine("desk", notes=HOSE), machine("reader", notes={})
    desk.sync()
    assert found(reader) == {"//desk/hose.md"}
    before = reader.table.view().version

    shutil.rmtree(table)
    machine("third", notes={"third.md": "# Third\n\nMore irrigation.\n"}).sync()

    assert found(reader) == {"//third/third.md"}
    assert reader.table.view().version == before


def test_reader_retries_when_version_removed(machine, table) -> None:
    """Another machine's clock is hours ahead."""
    import lancedb

    desk, shed = machine("desk", notes=HOSE), machine("shed", notes={})
    desk.sync()
    shed.table.view()  # the files of this version are not read yet
    write(Path(desk.status().workspace_dir), GAUGE)
    desk.sync()
    with pytest.warns(UserWarning, match="removes every version"):
        lancedb.connect(table).open_table("notes").optimize(cleanup_older_than=timedelta(0))

    paths = {hit.path for hit in shed.search("irrigation", min_score=0.0).results}

    assert paths == {"//desk/hose.md", "//desk/gauge.md"}
    assert shed.read_file("//desk/gauge.md").text.startswith("# Gauge")
    assert shed.status().files == 2


@pytest.fixture
def tidied_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old versions of the table are removed after a few commits."""
    monkeypatch.setattr(table_writer, "_KEEP_VERSIONS", timedelta(0))
    monkeypatch.setattr(table_writer, "_VERSIONS_TO_TIDY", 8)


@pytest.mark.filterwarnings("ignore:optimize:UserWarning")  # keeping no old versions is intended
@pytest.mark.usefixtures("tidied_soon")
def test_many_small_updates_leave_few_files(machine, table) -> None:
    def files() -> int:
        return sum(path.is_file() for path in Path(table).rglob("*"))

    desk = machine("desk", notes=HOSE)
    desk.sync()
    notes, most = Path(desk.status().workspace_dir), 0
    for number in range(20):
        write(notes, {"hose.md": f"# Hose\n\nThe irrigation hose number {number}.\n"})
        assert not desk.sync().error
        most = max(most, files())

    assert most < 50, "one update leaves three files behind, so 20 of them leave 60"
    assert "number 19" in desk.search("irrigation").results[0].snippet


@pytest.mark.filterwarnings("ignore:optimize:UserWarning")
@pytest.mark.usefixtures("tidied_soon")
def test_versions_of_ended_programs_cleaned_up(machine, table) -> None:
    """As with `mnemoscope index` from a timer: no single run makes enough commits to trigger a cleanup."""
    versions = []
    for number in range(16):
        desk = machine("desk", notes={"hose.md": f"# Hose\n\nThe irrigation hose number {number}.\n"})
        assert not desk.sync().error
        versions.append(len(list(Path(table).glob("notes.lance/_versions/*.manifest"))))
        desk.close()
    assert max(versions) <= 8 + 4
    assert min(versions[8:]) <= 3


def test_status_works_when_table_disappears(machine, table) -> None:
    machine("shed", notes=GAUGE).sync()
    desk = machine("desk", notes=HOSE)
    desk._background = True
    desk.table.view()  # opened, but nothing read
    real = desk.table.call

    def refuse(work, *arguments, **options):
        work.close()
        raise BackendError("The storage is away.")

    desk.table.call = desk.table._view._call = refuse
    status = desk.status()
    assert (status.files, status.index_error) == (0, "The storage is away.")

    desk.table.call = desk.table._view._call = real
    desk._failed = 0.0
    assert (desk.status().files, desk.status().index_error) == (1, None)


def test_traceback_has_no_lancedb_text(machine) -> None:
    desk = machine("desk", notes=HOSE)
    desk.sync()

    async def fail(secret: str) -> None:
        raise RuntimeError(f"forbidden: https://host/?X-Amz-Signature={secret}")

    with pytest.raises(BackendError, match="refuses the credentials") as raised:
        desk.table.call(fail("".join(["abcdef", "0123"])))

    assert "abcdef0123" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_write_is_harmless(machine, table, tmp_path) -> None:
    notes = tmp_path / "desk/notes"
    notes.mkdir(parents=True)
    write(notes, {f"note-{number}.md": f"# Note {number}\n\nIrrigation note {number}.\n" for number in range(20)})
    command = [sys.executable, "-m", "tests.helpers.table_worker"]
    arguments = [str(notes), str(tmp_path / "desk/data"), table, "desk", ""]
    shed = machine("shed", notes=GAUGE)
    shed.sync()
    start = shed.table.view(fresh=True).version
    worker = subprocess.Popen(
        [*command, *arguments, "1000"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"  # after seconds, in which each look at the table takes as much
    worker.stdin.write("go\n")
    worker.stdin.flush()
    while shed.table.view(fresh=True).version < start + 2:
        assert worker.poll() is None
        time.sleep(0.05)  # leaves the processor to the worker
    worker.kill()
    worker.communicate()  # waits, and closes the pipes
    assert "gauge.md" in found(shed)
    write(Path(shed.status().workspace_dir), {"gauge.md": "# Gauge\n\nThe irrigation gauge is back.\n"})
    assert not shed.sync().error

    last = subprocess.run(
        [*command, *arguments, "1"], cwd=ROOT, input="go\n", capture_output=True, text=True, check=True
    )

    assert json.loads(last.stdout.splitlines()[-1]) == {"errors": []}
    rows = rows_of(table)
    assert doubled(rows) == []
    files = [row for row in rows if row["ordinal"] == -1]
    assert len({row["path"] for row in files}) == len(files) == 20 + 1 + 1
    for file in files:
        assert sorted(row["ordinal"] for row in rows if row["file"] == file["file"]) == list(
            range(-1, file["passages"])
        )
