"""The choices of search engine and embedding model in the settings dialog, as values without widgets.

A choice is made from settings and applied to settings. Pure functions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

import msgspec

import engine
from engine import Settings, marked, tr


class Engine(NamedTuple):
    """A search engine that the user can choose."""

    name: str
    """Name in the settings."""
    title: str
    description: str
    needs: str


ENGINES = (
    Engine(
        "builtin",
        marked("Built-in index"),
        marked("Words and meaning in one index on this machine; everything in this window works with it."),
        marked("Needs no other program."),
    ),
    Engine(
        "qmd",
        "qmd",
        marked("The index and the models of the command qmd, if you use it already."),
        marked("Needs qmd 2.6.3 or newer: npm i -g @tobilu/qmd, on Node 22 or newer."),
    ),
    Engine(
        "lancedb",
        marked("LanceDB table"),
        marked("A table in a folder, in S3 or in LanceDB Cloud that several machines can share."),
        marked('Needs the package lancedb: install from the source with pipx install --force ".[lancedb]".'),
    ),
)
TITLES = {engine.name: engine.title for engine in ENGINES}
_PROGRAMS = {"qmd": "qmd", "lancedb": "LanceDB"}


_Choice = TypeVar("_Choice", bound="FormChoice")
_Section = TypeVar("_Section", bound=msgspec.Struct)


class FormChoice:
    """Base class of the values of a form, as in `Settings`: frozen dataclasses whose fields are options."""

    KEYS: ClassVar[Mapping[str, str]]
    """The option of each field, by its name in the settings file."""

    @classmethod
    def of(cls: type[_Choice], settings: Settings) -> _Choice:
        return cls(**{name: engine.value_at(settings, key) for name, key in cls.KEYS.items()})

    def applied_to(self, settings: Settings) -> Settings:
        """Return the settings with this choice applied. Raises `SettingsError` for an invalid one."""
        for name, key in self.KEYS.items():
            settings = _with_option(settings, key, getattr(self, name))
        return settings

    def changes(self: _Choice, before: _Choice) -> dict[str, Any]:
        """Return the options that differ from `before`, by their names in the settings file; None removes an option."""
        pairs = ((key, getattr(self, name), getattr(before, name)) for name, key in self.KEYS.items())
        return {key: now for key, now, then in pairs if now != then}


def _with_option(section: _Section, key: str, value: Any) -> _Section:
    name, _, inner = key.partition(".")
    return msgspec.structs.replace(
        section, **{name: _with_option(getattr(section, name), inner, value) if inner else value}
    )


@dataclass(frozen=True)
class EngineChoice(FormChoice):
    """The chosen engine with its options."""

    KEYS: ClassVar = {
        "backend": "backend",
        "command": "qmd.command",
        "search_mode": "qmd.search_mode",
        "uri": "lancedb.uri",
        "table": "lancedb.table",
        "machine": "lancedb.machine",
    }

    backend: str
    command: str = "qmd"
    search_mode: str = "search"
    uri: str = ""
    table: str = ""
    machine: str = ""

    @property
    def external(self) -> bool:
        """Whether the engine's table is on another machine."""
        return self.backend == "lancedb" and "://" in self.uri


def switch_text(choice: EngineChoice, before: EngineChoice) -> str:
    """Describe the effects of saving the choice; empty if nothing changes."""
    if choice == before:
        return ""
    if choice.backend == before.backend:
        follows = tr("This folder is opened again with these settings.")
    elif before.backend == "builtin":
        follows = tr(
            "Another index is made with the next update, which may take a while. Nothing is deleted: the index of "
            "the built-in engine stays, so you can go back at any time."
        )
    else:
        follows = tr(
            "Another index is made with the next update, which may take a while. Nothing is deleted: the index of "
            "{engine} stays, so you can go back at any time.",
            engine=_PROGRAMS.get(before.backend, before.backend),
        )
    if not choice.external:
        return follows
    stored = tr("The text of your notes and sessions is stored at {address}, with secrets masked.", address=choice.uri)
    return f"{stored} {follows}"


REMOTE = engine.remote_names()


@dataclass(frozen=True)
class EmbeddingChoice(FormChoice):
    """The chosen embedding model with its options."""

    KEYS: ClassVar = {
        **{name: name for name in ("provider", "model", "dimensions", "fallback", "prices")},
        "base_url": "remote.base_url",
        "approved": "remote.approved",
        "batch": "remote.batch.enabled",
        "model_path": "local.model_path",
    }

    provider: str
    model: str = ""
    dimensions: int | None = None
    fallback: str = "none"
    base_url: str = ""
    approved: tuple[str, ...] = ()
    batch: bool = False
    model_path: str = ""
    prices: Mapping[str, float] = field(default_factory=dict)

    @property
    def own_model(self) -> str:
        """The provider's default model; empty if only the server knows it."""
        preset = engine.preset_of(self.base_url) if self.provider == "openai" and self.base_url else None
        known = engine.models_of(self.provider)
        return preset.model if preset is not None else known[0].model if known else ""

    @property
    def price(self) -> float | None:
        """The user's price for a million tokens, in US dollars; None for the list price."""
        return self.prices.get(self._priced)

    def with_price(self, price: float | None) -> "EmbeddingChoice":
        others = {name: dollars for name, dollars in self.prices.items() if name != self._priced}
        return replace(self, prices=others if price is None else others | {self._priced: price})

    @property
    def _priced(self) -> str:
        return f"{self.provider}/{self.model or self.own_model}"

    @property
    def remote(self) -> bool:
        """Whether the provider is a server, which may be a local one."""
        return self.provider in REMOTE

    @property
    def needs_key(self) -> bool:
        """Whether an API key is required, as far as known; False for a server at another address."""
        if self.provider != "openai":
            return self.remote
        preset = engine.preset_of(self.base_url) if self.base_url else engine.PRESETS[0]
        return preset is not None and preset.needs_key

    @property
    def may_batch(self) -> bool:
        """Whether batch jobs are available; of the known OpenAI-compatible servers only OpenAI has them."""
        preset = engine.preset_of(self.base_url) if self.base_url else None
        return self.remote and (self.provider != "openai" or preset is None or preset is engine.PRESETS[0])

    def with_provider(self, provider: str) -> "EmbeddingChoice":
        """Return the choice with another provider and its default model and server."""
        return replace(self, provider=provider, model="", dimensions=None, base_url="")

    def with_approved(self, provider: str, approved: bool) -> "EmbeddingChoice":
        """Return the choice with or without approval to send texts to a provider."""
        providers = tuple(name for name in REMOTE if (approved if name == provider else name in self.approved))
        return replace(self, approved=providers)
