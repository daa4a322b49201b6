"""Check that the locks pin every dependency to one version with hashes, and name no host."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-bundle.lock"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def entries(lock: str) -> dict[str, str]:
    """Return each `name==version ; marker` with its lines."""
    text = (ROOT / "packaging" / lock).read_text("utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {entry.partition(" \\")[0]: entry for entry in re.split(r"\n(?=\S)", lines)}


def names(requirements: list[str]) -> set[str]:
    return {normal(re.match(r"[\w.-]+", requirement)[0]) for requirement in requirements}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_lock_entry_is_pinned_with_hashes(lock):
    for head, entry in entries(lock).items():
        assert re.match(r"[a-z0-9-]+==[\w.]+( ; .+)?$", head)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry)
    assert "://" not in (ROOT / "packaging" / lock).read_text("utf-8")


def test_locks_contain_all_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = names(project["project"]["dependencies"] + project["dependency-groups"]["install"])
    locked = names(list(entries("requirements.lock")))
    assert wanted <= locked
    extras, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
    assert names(extras["dev"]) | locked <= names(list(entries("requirements-dev.lock")))
    assert names(groups["bundle"]) | locked <= names(list(entries("requirements-bundle.lock")))


def test_dev_and_bundle_locks_use_released_versions():
    """Compare without markers, because a tool may need a package on more systems than the program does."""
    people, tests, bundle = ({head.partition(" ;")[0] for head in entries(lock)} for lock in LOCKS)
    assert people <= tests
    assert people <= bundle
