"""The model file named in the settings, and its presence on disk."""

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.gguf_file import GgufFile
from engine.embedding.model_catalog import Traits, traits_named
from engine.settings import Settings

DEFAULT_MODEL = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf"
"""EmbeddingGemma, 300 million parameters, over 100 languages; also the reference's choice."""
_HUB = "hf:"
_HUB_ID = re.compile(r"hf:(?P<repository>[\w.-]+/[\w.-]+)/(?P<file>[\w.+/-]+\.gguf)", re.ASCII | re.IGNORECASE)
_PIECE = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)


@dataclass(frozen=True)
class HubFile:
    """A model file on the hub."""

    repository: str
    """owner/name"""
    file: str

    @property
    def id(self) -> str:
        return f"{_HUB}{self.repository}/{self.file}"


@dataclass(frozen=True)
class ModelPlace:
    """Path of the configured model file; the file is possibly still to be downloaded."""

    path: Path
    hub: HubFile | None
    """Its source; None for a local file of the user."""


def model_place(settings: Settings) -> ModelPlace:
    """Resolve the model named in the settings, without reading files.

    Raises `ProviderError` for a name that is neither a hub id nor an absolute path.
    """
    named = settings.local.model_path or DEFAULT_MODEL
    if not named.lower().startswith(_HUB):
        path = Path(os.path.expanduser(named))
        if not path.is_absolute():
            raise ProviderError(
                tr(
                    '"{named}" is not a full path: name the GGUF file in local.model_path with its folders, or a '
                    "model of the hub as hf:owner/repository/file.gguf.",
                    named=named,
                )
            )
        return ModelPlace(path, None)
    match = _HUB_ID.fullmatch(named)
    if match is None or not {"", ".", ".."}.isdisjoint(named.removeprefix(_HUB).split("/")):
        raise ProviderError(
            tr('"{named}" is no file of the hub: write it as hf:owner/repository/file.gguf.', named=named)
        )
    if _PIECE.search(named):
        raise ProviderError(
            tr('"{named}" is one of several pieces of a model: choose a model in a single file.', named=named)
        )
    hub = HubFile(match["repository"], match["file"])
    folder = settings.local.model_cache_dir
    base = (
        Path(os.path.expanduser(folder)) if folder else Path(platformdirs.user_data_dir("mnemoscope", False)) / "models"
    )
    return ModelPlace(base.joinpath(*hub.repository.split("/"), *hub.file.split("/")), hub)


def model_on_disk(settings: Settings) -> bool:
    """Whether the configured or default model can be used without a download."""
    try:
        return model_place(settings).path.is_file()
    except (ProviderError, OSError):
        return False


def llama_installed() -> bool:
    """Whether the optional package that runs the models is installed."""
    return importlib.util.find_spec("xllamacpp") is not None


def missing_model(settings: Settings) -> str:
    """Hub id of the model to download before the configured gguf provider can work, else ""."""
    if settings.provider != "gguf" or not settings.store.vector.enabled or not llama_installed():
        return ""
    try:
        place = model_place(settings)
    except ProviderError:
        return ""
    return "" if place.hub is None or place.path.is_file() else place.hub.id


def traits_of(model: GgufFile) -> Traits:
    """Find the model's traits by its architecture, name and file name; unknown models get plain text."""
    return traits_named(f"{model.architecture} {model.name} {Path(model.path).name}")
