import os
import stat

import msgspec
import pytest

import engine
from engine import BackendError, Settings


def _qmd(command: str, **changes) -> Settings:
    usual = Settings(backend="qmd")
    return msgspec.structs.replace(usual, qmd=msgspec.structs.replace(usual.qmd, command=command, **changes))


def test_try_backend_builtin_is_ready(tmp_path):
    assert engine.try_backend(tmp_path, Settings()) == "The built-in index is part of this program and ready to use."


def test_missing_command_named_with_fix(tmp_path):
    with pytest.raises(BackendError, match="nowhere-qmd was not found: install it with npm"):
        engine.try_backend(tmp_path, _qmd("nowhere-qmd"))


@pytest.mark.skipif(os.name == "nt", reason="a script without a file extension")
def test_working_command_named_with_version(tmp_path):
    command = tmp_path / "qmd"
    command.write_text("#!/bin/sh\necho qmd 2.8.3\n")
    command.chmod(command.stat().st_mode | stat.S_IEXEC)
    assert engine.try_backend(tmp_path, _qmd(str(command))) == "qmd 2.8.3 answered."
    assert "qmd pull" in engine.try_backend(tmp_path, _qmd(str(command), search_mode="query"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["qmd"]


def _lance(uri: str) -> Settings:
    usual = Settings(backend="lancedb")
    return msgspec.structs.replace(usual, lancedb=msgspec.structs.replace(usual.lancedb, uri=uri, table="notes"))


def test_table_described_without_creating(tmp_path):
    pytest.importorskip("lancedb")
    notes, place = tmp_path / "notes", tmp_path / "table"
    notes.mkdir()
    (notes / "hose.md").write_text("# Hose\n\nThe drip hose has 16 mm.\n")
    settings = msgspec.structs.replace(_lance(str(place)), provider="none")
    assert "The first update creates the table" in engine.try_backend(notes, settings)
    memory = engine.open_memory(notes, settings)
    memory.sync()
    memory.close()
    assert engine.try_backend(notes, settings).endswith("1 passage of 1 file from 1 machine.")


def test_a_table_that_cannot_be_used_says_why(tmp_path):
    pytest.importorskip("lancedb")
    with pytest.raises(engine.MnemoscopeError, match="choose a folder outside"):
        engine.try_backend(tmp_path, _lance(str(tmp_path / "inside")))
