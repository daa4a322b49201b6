"""One declaration makes a provider known everywhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.embedding.provider_selection import FACTORIES
from engine.providers.registry import PROVIDERS, provider_names, remote_names
from tests.helpers.background import LONGEST_WAIT

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("invented")
    environ = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(folder)}
    command = [sys.executable, str(ROOT / "tests/helpers/invented_provider.py"), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ, timeout=LONGEST_WAIT)
    assert done.returncode == 0, done.stderr
    known: dict[str, object] = json.loads(done.stdout)
    return known


def test_declared_provider_is_a_choice_in_the_settings(found) -> None:
    assert sorted(found["choices"]) == ["fallback", "provider", "remote.approved"]
    assert found["alias"] == 'It is called "acme" in Mnemoscope.'


def test_declared_provider_needs_consent_and_gets_its_key(found) -> None:
    assert found["refused"].startswith("Nothing is sent to acme before you agree")
    assert found["consent"] == "named as provider"
    assert found["selected"] == "acme with acme-key"
    assert found["fallback"] == ["acme", "api.acme.test"]


def test_declared_provider_has_its_hosts_models_and_prices(found) -> None:
    assert found["owner"] == "acme"
    assert found["models"] == ["acme-1"]
    assert found["price"] == 0.5
    assert found["status"] == "acme with acme-key"


def test_declared_provider_is_shown_with_its_consent_text(found) -> None:
    assert (found["label"], found["sentence"]) == ("Acme Vectors", "The service of Acme.")
    assert found["agreement"] == "Acme Inc."
    assert found["listed"] == [*provider_names(), "acme", "auto", "none"]
    assert found["remote"] == [*remote_names(), "acme"]
    assert "are sent to api.acme.test." in found["sent"]
    assert found["searched"]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_remote_providers_name_owner_keys_and_models(provider) -> None:
    remote = bool(provider.hosts)
    assert [bool(provider.owner), bool(provider.key_variables), bool(provider.models)] == [remote] * 3
    assert {metadata.provider for metadata in provider.models} <= {provider.name}
    assert provider.name in FACTORIES
