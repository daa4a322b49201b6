"""Compare the manual page with the command line's own help."""

import re
import shutil
import subprocess

import pytest

from engine.cli.arguments import VERBS, make_parser
from gui.app.command_line import make_parser as make_window_parser


@pytest.fixture
def page(load):
    return load("building/man_page").man_page()


def read(page: str) -> str:
    """Return the page as displayed, without roff escapes."""
    plain = page.replace("\\-", "-").replace("\\(aq", "'").replace("\\(dq", '"').replace("\\e", "\\")
    return re.sub(r"\\f[BIR]", "", plain)


@pytest.mark.parametrize("verb", VERBS)
def test_man_page_has_every_verb_option(page, verb, capsys):
    with pytest.raises(SystemExit):
        make_parser().parse_args([verb, "--help"])
    printed = capsys.readouterr().out
    _, _, section = read(page).partition(f"\n.SS {verb}\n")
    section = re.split(rf"\n\.S[SH] (?!{verb} )", section)[0]
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", printed)) - {"--help", "--no-diverse"}
    assert options
    assert options <= set(re.findall(r"--[a-z][a-z-]+", section))


def test_man_page_has_every_window_option(page):
    help_text = make_window_parser().format_help()
    _, _, section = read(page).partition(".SH OPTIONS OF THE WINDOW\n")
    section = section.partition("\n.SH ")[0]
    options = set(re.findall(r"(?<![\w-])--[a-z]+", help_text)) - {"--help"}
    assert options == set(re.findall(r"(?<=\n)--[a-z]+", section))
    assert "first-run" in section


def test_man_page_text_contains_no_stray_request(page):
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".PP", ".br", ".ad"}


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed here")
def test_man_reports_no_warning(page, tmp_path):
    path = tmp_path / "mnemoscope.1"
    path.write_text(page)
    command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
