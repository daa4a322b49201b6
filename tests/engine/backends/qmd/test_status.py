"""Which sessions may search with `qmd`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.qmd.status import may_search
from engine.base.errors import SettingsError
from engine.settings.backend_settings import QmdScopeSettings
from engine.settings.loading import load_settings


def test_first_matching_rule_decides():
    scope = QmdScopeSettings(rules=("deny discord/*", "allow direct", "allow slack/group"))
    assert may_search(scope, "agent:a:main")
    assert not may_search(scope, "agent:a:discord:direct:1")
    assert may_search(scope, "agent:a:slack:group:1")
    assert not may_search(scope, "agent:a:slack:channel:1")
    assert not may_search(scope, "agent:a:subagent:1")
    assert may_search(QmdScopeSettings(default="allow", rules=("deny group",)), "agent:a:subagent:1")


@pytest.mark.parametrize("key", [None, "", "  "])
def test_rules_do_not_limit_the_user(key):
    assert may_search(QmdScopeSettings(rules=("deny *",)), key)


def test_default_rules_allow_direct_chats_only():
    assert may_search(QmdScopeSettings(), "agent:main:main")
    assert not may_search(QmdScopeSettings(), "agent:main:discord:group:1")
    assert not may_search(QmdScopeSettings(), "agent:main:discord:channel:1")
    assert not may_search(QmdScopeSettings(), "agent:main:matrix:room:1")
    assert not may_search(QmdScopeSettings(default="allow", rules=("deny group",)), "agent:main:matrix:room:1")


@given(st.text())
def test_any_session_key_gets_a_decision(key):
    assert may_search(QmdScopeSettings(), key) in (True, False)


def test_invalid_scope_rule_is_refused(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('[defaults.qmd.scope]\nrules = ["allow direct", "permit group"]\n')
    with pytest.raises(SettingsError, match=r'line 2: "qmd\.scope\.rules" contains "permit group"'):
        load_settings(tmp_path, config=file)
