"""A table in object storage: an S3 server on loopback, and machines in separate processes."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.settings.backend_settings import LanceDbSettings
from tests.engine.backends.lancedb.conftest import write
from tests.helpers.shared_tables import doubled, rows_of, s3_options

ROOT = Path(__file__).resolve().parents[4]
BUCKET = "memory"
KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Return the address of a server with one bucket."""
    pytest.importorskip("moto.server")
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    secrets = {name.lower(): value for name, value in KEYS.items()}
    boto3.client("s3", endpoint_url=address, region_name="us-east-1", **secrets).create_bucket(Bucket=BUCKET)
    yield address
    server.stop()


@pytest.fixture
def keys(monkeypatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def on_s3(machine, endpoint, keys, tmp_path):
    """Open machines on a table in the bucket that no other test uses."""
    address = LanceDbSettings(
        uri=f"s3://{BUCKET}/{tmp_path.name}", table="notes", storage_options=s3_options(endpoint), timeout_seconds=20
    )

    def open_(name: str, *, notes: dict[str, str] | None = None, **changes: Any):
        import msgspec

        return machine(name, notes=notes, lancedb=msgspec.structs.replace(address, machine=name, **changes))

    return open_


def all_options(endpoint: str) -> dict[str, str]:
    return {**s3_options(endpoint), "allow_http": "true", **{name.lower(): value for name, value in KEYS.items()}}


def test_machines_share_notes_through_a_bucket(on_s3) -> None:
    desk, shed = on_s3("desk", notes={"hose.md": "# Hose\n\nThe irrigation hose.\n"}), on_s3("shed", notes={})

    assert not desk.sync().error

    answer = shed.search("irrigation")
    assert [hit.path for hit in answer.results] == ["//desk/hose.md"]
    assert answer.mode == "hybrid"
    status = desk.status()
    assert status.db_path.startswith(f"s3://{BUCKET}/")
    assert (status.custom["table"]["remote"], status.custom["table"]["consent"]) == (True, "lancedb.uri")
    assert "testing" not in str(status)


def test_note_shared_masked_with_its_vector(on_s3, endpoint, tmp_path) -> None:
    secret = "ghp_" + "a1B2c3D4" * 5
    desk = on_s3("desk", notes={"keys.md": f"# Keys\n\nThe irrigation server takes {secret}, says Ines.\n"})
    desk.sync()

    rows = rows_of(f"s3://{BUCKET}/{tmp_path.name}", all_options(endpoint))

    assert secret not in str(rows)
    assert [row["vector"] is not None for row in rows if row["ordinal"] >= 0] == [True]
    (found,) = on_s3("shed", notes={}).search("irrigation server").results
    assert "The irrigation server takes" in found.snippet


def test_table_of_passwords_is_masked_in_every_chunk(on_s3, endpoint, tmp_path) -> None:
    lines = "".join(f"| host{row} | ada | boat{row}word |\n" for row in range(400))
    desk = on_s3("desk", notes={"keys.md": f"# Keys\n\n| Host | User | Password |\n|---|---|---|\n{lines}"})
    desk.sync()

    sent = str(rows_of(f"s3://{BUCKET}/{tmp_path.name}", all_options(endpoint)))

    assert desk.status().chunks > 1
    assert "host399" in sent
    assert [row for row in range(400) if f"boat{row}word" in sent] == []


def test_missing_bucket_reported(on_s3) -> None:
    desk = on_s3("desk", notes={"hose.md": "# Hose\n"}, uri="s3://nowhere/at/all")

    report = desk.sync()

    assert report.files_indexed == 1
    assert "bucket does not exist" in report.error
    assert desk.probe_vector().error == report.error
    assert desk.status().index_error == report.error


def test_parallel_writers_leave_each_row_once(endpoint, tmp_path, keys) -> None:
    uri = f"s3://{BUCKET}/{tmp_path.name}"
    common = {f"note-{number}.md": f"# Note {number}\n\nBoth have note {number}.\n" for number in range(12)}
    times = 2
    workers = []
    for name in ("desk", "shed"):
        notes = tmp_path / name / "notes"
        notes.mkdir(parents=True)
        write(notes, {**common, f"only-{name}.md": f"# Only\n\nThe {name} alone has this.\n"})
        command = [notes, tmp_path / name / "data", uri, name, endpoint, times]
        workers.append(
            subprocess.Popen(
                [sys.executable, "-m", "tests.helpers.table_worker", *map(str, command)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()

    outputs = [json.loads(worker.communicate(timeout=240)[0]) for worker in workers]

    assert [answer["errors"] for answer in outputs] == [[], []]
    rows = rows_of(uri, all_options(endpoint))
    assert doubled(rows) == []
    files = {row["path"]: row for row in rows if row["ordinal"] == -1}
    assert len(files) == sum(row["ordinal"] == -1 for row in rows)
    assert set(files) == {*common, "only-desk.md", "only-shed.md", "counter-desk.md", "counter-shed.md"}
    for path, row in files.items():
        passages = [other for other in rows if other["file"] == row["file"] and other["ordinal"] >= 0]
        assert sorted(other["ordinal"] for other in passages) == list(range(row["passages"])), path
        assert all(other["vector"] is not None for other in passages), path
        held = {part.partition(":")[2] for part in row["holders"].split(",") if part}
        assert held == ({"desk", "shed"} if path in common else {path.removesuffix(".md").partition("-")[2]}), path
    assert f"counts to {times - 1} wholly" in files_text(rows, "counter-desk.md")


def test_reader_sees_whole_files_during_write(on_s3, endpoint, tmp_path) -> None:
    reader = on_s3("reader", notes={})
    notes = tmp_path / "desk/notes"
    notes.mkdir(parents=True)
    command = [notes, tmp_path / "desk/data", f"s3://{BUCKET}/{tmp_path.name}", "desk", endpoint, 3]
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.table_worker", *map(str, command)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()

    seen = set()
    while worker.poll() is None:
        time.sleep(0.05)  # leaves the processor to the worker
        reader.table._looked = float("-inf")
        answer = reader.search("counts wholly again", max_results=50, min_score=0.0)
        if not answer.results:
            continue
        whole = reader.read_file("//desk/counter-desk.md").text
        counts = {word for line in whole.splitlines() if line.startswith("Again") for word in line.split()[1:2]}
        assert len(counts) == 1, "the note mixes two versions"
        assert whole.count("Again") == 200
        seen |= counts

    outputs = json.loads(worker.communicate()[0].splitlines()[-1])
    assert outputs["errors"] == []
    assert seen


def files_text(rows: list[dict[str, Any]], path: str) -> str:
    return "\n".join(row["text"] for row in rows if row["path"] == path and row["ordinal"] >= 0)


def test_recreated_bucket_is_filled_again(on_s3, endpoint, tmp_path) -> None:
    import boto3

    secrets = {name.lower(): value for name, value in KEYS.items()}
    storage = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **secrets)
    storage.create_bucket(Bucket="comes-and-goes")
    notes = {"hose.md": "# Hose\n\nThe irrigation hose.\n"}
    desk, shed = (on_s3(name, notes=notes, uri="s3://comes-and-goes/memory") for name in ("desk", "shed"))
    for memory in (desk, shed):
        assert not memory.sync().error

    for entry in storage.list_objects_v2(Bucket="comes-and-goes")["Contents"]:
        storage.delete_object(Bucket="comes-and-goes", Key=entry["Key"])
    storage.delete_bucket(Bucket="comes-and-goes")

    assert "bucket does not exist" in desk.sync().error
    storage.create_bucket(Bucket="comes-and-goes")
    assert desk.sync().error == ""
    assert shed.sync().error == ""
    assert [hit.path for hit in shed.search("irrigation").results] == ["hose.md"]
    rows = rows_of("s3://comes-and-goes/memory", all_options(endpoint))
    assert [row["holders"].count(":") for row in rows if row["ordinal"] == -1] == [2]
