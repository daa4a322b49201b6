"""Registers an invented embedding provider by its declaration, and prints its settings and texts as JSON.

Run as a process of its own: the choices in the settings are made when they are imported.
"""

import json
import os
import sys
import types
from contextlib import closing
from pathlib import Path

from engine.providers import Calibration, ModelMetadata, Provider, registry

registry.PROVIDERS += (
    Provider(
        name="acme",
        label="Acme Vectors",
        sentence="The service of Acme.",
        aliases=("acme-ai",),
        module="acme",
        owner="Acme Inc.",
        hosts=("api.acme.test",),
        key_variables=("ACME_KEY",),
        models=(
            ModelMetadata(
                *("acme", "acme-1", 64, (64,), 512, 0.5, 0.25),
                *(Calibration(0.2, 0.6, 0.5), "https://acme.test/prices", "2026-11-22"),
            ),
        ),
    ),
)

import engine  # noqa: E402 - only now, so that the choices contain the provider
from engine.embedding.consent import consent_of, remote_fallback, require_consent  # noqa: E402
from engine.embedding.model_catalog import price_of  # noqa: E402
from engine.embedding.provider_selection import select_provider  # noqa: E402
from tests.helpers.fake_provider import FakeProvider  # noqa: E402


def main(folder: Path) -> None:
    made = types.ModuleType("engine.embedding.acme")
    made.make = lambda settings, key: FakeProvider(id=f"acme with {key}", model="acme-1")  # type: ignore[attr-defined]
    sys.modules[made.__name__] = made
    os.environ["ACME_KEY"] = "acme-key"

    config = folder / "settings.toml"
    config.write_text('version = 1\n[defaults]\nprovider = "acme"\nfallback = "acme"\nremote.approved = ["acme"]\n')
    settings = engine.load_settings(config=config)
    refused = ""
    try:
        require_consent(engine.Settings(), "acme")
    except engine.ProviderError as error:
        refused = str(error)
    found = {
        "choices": {one.key: one.choices for one in engine.all_options() if "acme" in one.choices},
        "alias": engine.option_problem("provider", "acme-ai"),
        "refused": refused,
        "consent": consent_of(settings, "acme"),
        "fallback": remote_fallback(engine.Settings(fallback="acme")),
        "owner": registry.owner_of("https://api.acme.test/v1"),
        "price": price_of(settings, "acme", "acme-1"),
        "models": [metadata.model for metadata in engine.models_of("acme")],
        "selected": select_provider(settings).provider.id,
    }
    workspace = folder / "notes"
    workspace.mkdir()
    (workspace / "note.md").write_text("# Herons\n")
    with closing(engine.open_memory(workspace, settings)) as memory:
        memory.sync(approve=True)
        found["status"] = memory.status().provider
    print(json.dumps(found | dialog_texts(settings)))


def dialog_texts(settings: engine.Settings) -> dict[str, object]:
    """Return the texts about the provider in the settings dialog."""
    from gui.settings.engine_and_model_choice import REMOTE
    from gui.settings.option_pages import match_rank, placed_options, words_of
    from gui.settings.value_formatting import NAMES, OWNERS, PROVIDERS, SENTENCES, sent_text

    return {
        "label": NAMES["acme"],
        "sentence": SENTENCES["acme"],
        "agreement": OWNERS["acme"],
        "listed": [name for name, *_ in PROVIDERS],
        "remote": REMOTE,
        "sent": sent_text(settings),
        "searched": match_rank(placed_options()["provider"], "embedded", words_of("acme vectors")) is not None,
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
