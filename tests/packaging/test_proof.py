"""Test that the verification of a bundle fails on each kind of defect."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fakes are shell scripts")

ANSWERS = """\
STATUS='{"vector": {"available": true}, "provider": "embedded"}'
WATERING='{"results": [{"path": "watering.md"}]}'
SLEEP='{"results": [{"path": "sleep.md"}]}'
"""


def program(tmp_path, lines):
    path = tmp_path / "mnemoscope"
    path.write_text("#!/bin/sh\n" + ANSWERS + lines)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("echo broken >&2; exit 3", "--version"),
        ("echo something else", "--version"),
        ('case "$1" in --version) echo mnemoscope 1;; index) exit 1;; esac', "index"),
        (
            """case "$1" in --version) echo mnemoscope 1;; search) echo '{"results": []}';; esac""",
            "search 'irrigation timer'",
        ),
        (
            """case "$1" in --version) echo mnemoscope 1;; index) echo 'Indexing files 1/2 · elapsed 0:09' >&2;; """
            """search) echo '{"results": []}';; esac""",
            "search 'irrigation timer'",
        ),
        (
            'case "$1" in --version) echo mnemoscope 1;; '
            """search) echo "$WATERING";; esac""",
            "search 'insomnia'",
        ),
        (
            """case "$1 $2" in --version*) echo mnemoscope 1;; status*) echo "$STATUS";; """
            """search*insomnia) echo "$SLEEP";; search*) echo "$WATERING";; """
            "mcp*) for answer in hello nothing; do read line; echo $answer; done; read line;; esac",
            "mcp\nIt ended with 0: nothing",
        ),
        (
            """case "$1 $2" in --version*) echo mnemoscope 1;; status*) echo "$STATUS";; """
            """search*insomnia) echo "$SLEEP";; search*) echo "$WATERING";; mcp*) exit 3;; esac""",
            "mcp\nIt ended with 3",
        ),
    ],
)
def test_prove_names_each_defect(load, tmp_path, lines, expected):
    with pytest.raises(SystemExit) as stopped:
        load("proof").prove(program(tmp_path, lines))
    assert expected in str(stopped.value)
