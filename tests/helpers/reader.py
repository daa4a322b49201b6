"""A screen reader of a few sentences, run as `python -m tests.helpers.reader SETTINGS` with an X server and a
session bus of its own: starts the program with its samples, and prints what it heard there, one line each."""

import subprocess
import sys

from tests.helpers.atspi import AccessibleObject, Bus, until


def main(settings: str) -> None:
    program = subprocess.Popen([sys.executable, "-m", "gui", "--demo", "--config", settings])
    try:
        bus = Bus()
        _read(until(lambda: bus.program("mnemoscope")))
        bus.close()
    finally:
        program.terminate()
        program.wait(60)


def _read(program: AccessibleObject) -> None:
    until(lambda: program.find("label", "Up to date"))
    box = program.find("text", "Search")
    print(f"text box: {box.name}", flush=True)
    box.write("irrigation timer")
    results = until(lambda: _with_rows(program.find("list", "Results")))
    print(results.description.split(" in ")[0], flush=True)
    print(f"row: {_row(results)}", flush=True)
    program.find("check box", "Sessions").press()
    sessions = until(lambda: _with_rows(program.find("list", "Sessions")))
    print(f"pressed: Sessions, and heard the list {sessions.name}", flush=True)
    messages = until(lambda: program.find("list", "Conversation").children())
    print(f"message: {messages[0].name}", flush=True)


def _with_rows(node: AccessibleObject) -> AccessibleObject | None:
    return node if node.children() else None


def _row(node: AccessibleObject) -> str:
    return next(row.name for row in node.children() if "irrigation" in row.name.lower())


if __name__ == "__main__":
    main(*sys.argv[1:])
