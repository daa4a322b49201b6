"""The ignore rules of discovery, guard and watcher, applied to whole paths like the watcher does."""

import pytest

from engine.corpus.ignore_rules import IgnoreRules
from engine.settings import Settings

RULES = IgnoreRules(Settings(exclude=("drafts/", "*.tmp.md"), include=("work/**", "drafts/**", "venv/**")))


@pytest.mark.parametrize(
    ("path", "is_dir", "rule"),
    [
        ("work/a.md", False, None),
        ("work", True, None),
        ("work/deep/er", True, None),
        ("work/node_modules", True, "ignored-folder"),
        ("work/logseq/bak/pages/a.md", False, "ignored-folder"),
        ("work/logseq/bakery.md", False, None),
        ("work/node_modules/deep/a.md", False, "ignored-folder"),
        ("venv/lib/a.md", False, "ignored-folder"),
        ("work/.trash/a.md", False, "hidden"),
        ("work/.aws/a.md", False, "secret"),
        ("work/Keychains/a.md", False, "secret"),
        ("work/.env.production", False, "secret"),
        ("work/ID_RSA", False, "secret"),
        ("work/id_ed25519.pub", False, "secret"),
        ("work/login.keychain-db", False, "secret"),
        ("work/.git-credentials", False, "secret"),
        ("work/monkey.md", False, None),
        ("work/a.png", False, "extension"),
        ("work/a.tmp.md", False, "exclude"),
        ("drafts/sub/a.md", False, "exclude"),
        ("play/a.md", False, "not-included"),
        ("play", True, "not-included"),
        ("work/a\x1b.md", False, "bad-name"),
    ],
)
def test_path_is_excluded_by_rules_of_all_parents(path: str, is_dir: bool, rule: str | None) -> None:
    assert RULES.rule_for(path, is_dir) == rule


def test_a_folder_named_as_a_root_is_not_hidden_itself() -> None:
    rules = IgnoreRules(Settings())
    assert rules.rule_for(".notes/a.md", False) == "hidden"
    assert rules.rule_for(".notes/a.md", False, root=".notes") is None
    assert rules.rule_for(".notes/.trash/a.md", False, root=".notes") == "hidden"
    assert rules.rule_for("venv/docs/a.md", False, root="venv/docs") is None
