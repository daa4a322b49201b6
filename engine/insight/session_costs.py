"""Computes the cost of sessions: as their transcripts record it, else by a dated table of prices."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import msgspec

from engine.base.errors import SettingsError
from engine.base.language import tr
from engine.base.private_files import read_file
from engine.records import ModelUsage, PriceSource

_MILLION = 1_000_000
_LARGEST_FILE = 1024**2
_Price = Annotated[float, msgspec.Meta(ge=0)]

# Names as agents write them: `anthropic/claude-opus-4.5`, `us.anthropic.claude-opus-4-5-20251101-v1:0`,
# `claude-opus-4-5@20251101`, `claude-opus-4-5[1m]`, `models/gemini-2.5-pro`, `gpt-5-2025-08-07`, `deepseek-chat:free`.
_OWNER = re.compile(r"^(?:.*/)?(?:[a-z]{2,6}\.)?(?:anthropic\.)?")
_ENDING = re.compile(r"(?:\[[^\]]*\]|:[\w.-]*|-v\d+|[-@]20\d{6}|-20\d\d-\d\d-\d\d|-latest|-thinking)$")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")


class _ModelPrice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens; kinds without a price cost what `input` costs."""

    input: _Price
    output: _Price
    cache_read: _Price | None = None
    cache_write: _Price | None = None
    cache_write_hour: _Price | None = None

    def of(self, usage: ModelUsage) -> float | None:
        """Return the cost of these tokens in US dollars; None if the number of tokens sent or received is unknown."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        written = usage.cache_write_tokens or 0
        hour = min(written, usage.cache_write_hour_tokens or 0)
        write = self.input if self.cache_write is None else self.cache_write
        parts = (
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens or 0, self.input if self.cache_read is None else self.cache_read),
            (written - hour, write),
            (hour, write if self.cache_write_hour is None else self.cache_write_hour),
        )
        return sum(tokens * price for tokens, price in parts) / _MILLION


class _PriceList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: Mapping[str, _ModelPrice]
    source: str = ""
    date: str = ""


class _PriceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    list: tuple[_PriceList, ...]


class Prices:
    """A table of prices by model."""

    def __init__(self, lists: tuple[_PriceList, ...]) -> None:
        """A price in an earlier list has precedence."""
        self.sources = tuple(PriceSource(source=one.source, date=one.date) for one in lists)
        self._models = {name: price for one in reversed(lists) for name, price in one.models.items()}

    def cost(self, usage: ModelUsage) -> float | None:
        """Return the cost in US dollars: as recorded, else by the table; None if it is unknown."""
        if usage.recorded_cost is not None:
            return usage.recorded_cost
        price = self._price(usage.model)
        return None if price is None else price.of(usage)

    def knows(self, model: str) -> bool:
        """Whether the table has a price of this model, under any name that agents give it."""
        return self._price(model) is not None

    def _price(self, model: str) -> _ModelPrice | None:
        return next((self._models[name] for name in _names(model) if name in self._models), None)


@lru_cache(maxsize=256)
def _names(model: str) -> tuple[str, ...]:
    """Return the model's name, and shorter forms of it that denote the same model."""
    short = _OWNER.sub("", model.lower())
    names = [model, short]
    while (shorter := _ENDING.sub("", short)) != short:
        names.append(short := shorter)
    return (*names, *(_POINT.sub("-", name) for name in names))


def load_prices(path: str = "") -> Prices:
    """Load the built-in price table, and before it the user's own from this path. Raises `SettingsError`."""
    built_in = _built_in()
    return Prices((*_parse(_own(path), path), *built_in) if path else built_in)


@lru_cache(maxsize=1)
def _built_in() -> tuple[_PriceList, ...]:
    name = "model_prices.toml"
    return _parse(files("resources").joinpath(name).read_bytes(), name)


def _own(path: str) -> bytes:
    try:
        return read_file(Path(path).expanduser(), _LARGEST_FILE)
    except (OSError, ValueError) as error:
        raise SettingsError(tr("Can't read the price list {file}: {problem}", file=path, problem=error)) from None


def _parse(data: bytes, path: str) -> tuple[_PriceList, ...]:
    try:
        lists = msgspec.convert(tomllib.loads(data.decode()), _PriceFile).list
    except (ValueError, msgspec.ValidationError) as error:
        raise SettingsError(tr("Can't read the price list {file}: {problem}", file=path, problem=error)) from None
    return tuple(msgspec.structs.replace(one, source=one.source or path) for one in lists)
