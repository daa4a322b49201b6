"""Settings that can be applied to an open memory, without applying others."""

import pytest

from engine.memory.settings_impact import _other_value
from engine.settings import Settings
from engine.settings.catalog import Option, all_options, value_at
from engine.settings.saving import SettingChange, SettingLayers
from engine.settings.settings_section import with_query_settings

ANSWERING = ("query.", "qmd.min_score", "qmd.limits.")


@pytest.mark.parametrize("option", all_options(), ids=lambda option: option.key)
def test_live_options_match_their_keys(option: Option):
    change = SettingChange(option.key, "defaults", _other_value(option))
    other = SettingLayers({}, {}).changed([change]).settings
    taken = with_query_settings(Settings(), other)
    expected = other if option.key.startswith(ANSWERING) else Settings()
    assert value_at(taken, option.key) == value_at(expected, option.key)
    assert value_at(other, option.key) != value_at(Settings(), option.key)
