"""Check that the files, folders, headings and classes named in the repository's documents exist."""

import re
import textwrap
from functools import cache
from pathlib import Path

import pytest

from engine import VERBS, load_settings
from engine.cli.arguments import parse_arguments
from engine.corpus.transcripts.registry import AGENTS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ROOT / "packaging" / "RELEASE.md",
    ROOT / "packaging" / "pictures" / "README.md",
    *sorted((ROOT / "packaging" / "manual").glob("*.md")),
]
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|srcset)=\"([^\"]+)\"")
_COMMAND = re.compile(rf"(?:mnemoscope |`)({'|'.join(VERBS)})\b([^\n`#]*)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+(?:\.(?:py|toml|lock|spec|html|md|po)|/))(?:: (\w+))?`")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_OF_A_PERSON = {"MEMORY.md", "memory/"}
"""Names of files among a user's notes."""


@cache
def known() -> frozenset[str]:
    """Return every file and folder of the program, as paths from the root; folders end in a slash."""
    there: set[str] = {path.name for path in ROOT.iterdir() if path.is_file()}
    for room in ("engine", "gui", "packaging", "resources", "tests"):
        for path in (ROOT / room, *(ROOT / room).rglob("*")):
            there.add(path.relative_to(ROOT).as_posix() + ("/" if path.is_dir() else ""))
    return frozenset(there)


def anchors(document: Path) -> set[str]:
    """Return the anchors of a page, as GitHub derives them from the headings."""
    headings = _HEADING.findall(document.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_and_pictures_have_valid_targets(document: Path):
    text = _CODE.sub("code", document.read_text("utf-8"))  # the syntax of a link may be explained there
    for link, picture in _LINK.findall(text):
        target, _, anchor = (link or picture).partition("#")
        if "://" in target:
            continue
        linked = document.parent / target if target else document
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_every_picture_is_on_pictures_page():
    pictures = ROOT / "packaging" / "pictures"
    pictures_in_folder = {picture.name for picture in pictures.glob("*.png")}
    assert pictures_in_folder == set(re.findall(r"\]\(([\w-]+\.png)\)", (pictures / "README.md").read_text("utf-8")))


def test_readme_and_contributing_are_short() -> None:
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in DOCUMENTS[:2]}
    assert lines["README.md"] < 200
    assert lines["CONTRIBUTING.md"] < 250


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_named_files_and_classes_exist(name: str):
    named = _NAMED.findall((ROOT / name).read_text("utf-8"))
    for path, thing in named:
        if path in _OF_A_PERSON:
            continue
        ends = [there for there in known() if f"/{there}".endswith(f"/{path}")]
        assert ends, path
        if thing:
            pattern = re.compile(rf"^(?:class|def) {thing}\b", re.MULTILINE)
            assert any(pattern.search((ROOT / there).read_text("utf-8")) for there in ends), f"{path}: {thing}"
    assert name == "README.md" or len(named) > 50  # or the expression above finds nothing any more


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "packaging/manual/tour.md",
        "resources/guide/sessions.md",
        "resources/guide/de/sessions.md",
    ],
)
def test_page_names_every_agent(name: str):
    text = " ".join((ROOT / name).read_text("utf-8").split())
    labels = [agent.label for agent in AGENTS if not agent.downloaded]
    assert [label for label in labels if not re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text)] == []


def test_pages_count_the_agents():
    every = sum(not agent.downloaded for agent in AGENTS)
    store = ROOT / "packaging" / "linux" / "org.mnemoscope.Mnemoscope.metainfo.xml"
    for page, count, expected in (
        (ROOT / "README.md", r"sessions of \[(\d+) agents", every),
        (ROOT / "CHANGELOG.md", r"(\d+) agents", every),
        (ROOT / "CONTRIBUTING.md", r"(\d+) agents", every),
        (store, r"(\d+) (?:other agents|weiteren Agenten)", every - 5),  # it names five
    ):
        counted = re.findall(count, " ".join(page.read_text("utf-8").split()))
        assert {int(number) for number in counted} == {expected}, page.name


def help_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        parse_arguments([*words, "--help"])
    return capsys.readouterr().out


def test_options_in_pages_exist(capsys: pytest.CaptureFixture[str]):
    pages = [*DOCUMENTS, *(ROOT / "resources" / "guide").rglob("*.md")]
    used = {
        (page, verb, tuple(rest.split()[:1]), option)
        for page in pages
        for verb, rest in _COMMAND.findall(page.read_text("utf-8"))
        for option in _OPTION.findall(rest)
    }
    assert len(used) > 40
    for page, verb, following, option in used:
        subcommand = [word for word in following if verb in ("sessions", "facts") and word.isalpha()]
        assert option in _OPTION.findall(help_of([verb, *subcommand], capsys)), f"{page.name}: {verb} {option}"


def examples() -> list[str]:
    """Return the settings examples of the pages, one TOML text per code block."""
    pages = [ROOT / "README.md", *(ROOT / "packaging" / "manual").glob("*.md")]
    blocks = (
        textwrap.dedent(block)
        for page in pages
        for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", page.read_text("utf-8"), re.MULTILINE)
    )
    return [block for block in blocks if block.lstrip().startswith("[defaults")]


def test_settings_examples_are_valid(tmp_path):
    blocks = examples()
    assert len(blocks) > 5
    for number, block in enumerate(blocks):
        file = tmp_path / f"{number}.toml"
        file.write_text(block, "utf-8")
        load_settings(tmp_path, config=file)
