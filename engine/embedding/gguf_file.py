"""Find the GGUF model file that the settings name, and read its metadata before llama.cpp loads it.

Unsuitable files thus get a clear error message. The format follows the public specification (github.com/ggml-org/ggml,
docs/gguf.md, versions 2 and 3): little-endian, the magic, a version, two counts, then names with typed values.
"""

import hashlib
import importlib.util
import mmap
import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.base.private_files import data_folder
from engine.embedding.model_catalog import Traits, traits_named
from engine.settings import Settings

_MAGIC = b"GGUF"
_VERSIONS = {2, 3}
_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_MAX_VALUES = 10_000
_MAX_BYTES = 64 * 1024 * 1024
"""Limit for all names and values; the largest vocabularies have some ten megabytes."""
_MAX_STRING_BYTES = 1_000_000
"""Limit for one string; a chat template has some thousand characters."""
_SAMPLES = 64
_SAMPLE_BYTES = 4096
_NONE, _MEAN, _CLS, _LAST, _RANK = range(5)
"""Pooling types, numbered as in the format and in llama.cpp."""


@dataclass(frozen=True)
class GgufFile:
    """Metadata of one model file."""

    path: str
    architecture: str
    """The model's architecture, such as bert or gemma-embedding."""
    name: str
    """The model's own name; may be empty."""
    dims: int
    """Length of the model's vectors."""
    context: int
    """Maximum tokens of one text."""
    pooling: int
    """Pooling of token vectors: 1 mean, 2 first, 3 last."""
    fingerprint: str
    """Short digest of samples of the content; independent of the file's name."""


def read_gguf(path: str) -> GgufFile:
    """Read the metadata at the start of a GGUF model file.

    Raises `ProviderError` for an unreadable or damaged file, or one without an embedding model.
    """
    try:
        with open(path, "rb") as file:
            values = _values(file, path)
            fingerprint = _fingerprint(file)
    except OSError as error:
        raise ProviderError(
            tr("The model {path} cannot be read: {reason}.", path=path, reason=error.strerror or error)
        ) from error
    architecture = values.get("general.architecture")
    dims = values.get(f"{architecture}.embedding_length")
    context = values.get(f"{architecture}.context_length")
    pooling = values.get(f"{architecture}.pooling_type", _NONE)
    if not isinstance(architecture, str) or not (_is_size(dims) and _is_size(context)):
        raise ProviderError(
            tr("The file {path} contains no language model: choose a model that embeds texts.", path=path)
        )
    if pooling == _RANK:
        raise ProviderError(
            tr(
                "The model {path} only re-ranks texts and makes no vectors: choose a model that embeds texts.",
                path=path,
            )
        )
    if pooling not in {_NONE, _MEAN, _CLS, _LAST}:
        raise ProviderError(tr("The model {path} uses an unknown pooling method: choose another model.", path=path))
    name = values.get("general.name")
    return GgufFile(
        path=path,
        architecture=architecture,
        name=name if isinstance(name, str) else "",
        dims=dims,
        context=context,
        pooling=pooling or _MEAN,
        fingerprint=fingerprint,
    )


def _is_size(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and value > 0


def _values(file: BinaryIO, path: str) -> dict[str, Any]:
    if os.fstat(file.fileno()).st_size < 24 or file.read(4) != _MAGIC:
        raise ProviderError(tr("The file {path} is not a GGUF model: choose one that ends in .gguf.", path=path))
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        version, _tensors, count = struct.unpack_from("<IQQ", data, 4)
        if version not in _VERSIONS:
            raise ProviderError(
                tr(
                    "The model {path} has version {version} of the GGUF format, which is not supported.",
                    path=path,
                    version=version,
                )
            )
        try:
            return _Reader(data, 24).pairs(count)
        except (struct.error, ValueError, OverflowError) as error:
            raise ProviderError(
                tr("The model {path} is damaged or incomplete: download or copy it again.", path=path)
            ) from error


class _Reader:
    """Parses the values. Raises `struct.error`, `ValueError` or `OverflowError` for invalid data."""

    def __init__(self, data: mmap.mmap, position: int) -> None:
        self._data = data
        self._position = position

    def pairs(self, count: int) -> dict[str, Any]:
        """All names with their values, without arrays such as the vocabulary."""
        if count > _MAX_VALUES:
            raise ValueError(count)
        pairs = {}
        for _ in range(count):
            name = self._string()
            kind = self._number("I")
            if kind == _ARRAY:
                self._skip_array()
            else:
                pairs[name] = self._value(kind)
        return pairs

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind not in _NUMBERS:
            raise ValueError(kind)
        return self._number(_NUMBERS[kind])

    def _number(self, code: str) -> Any:
        (value,) = struct.unpack_from("<" + code, self._data, self._position)
        self._position += struct.calcsize("<" + code)
        return value

    def _string(self) -> str:
        start = self._skip_string()
        return self._data[start : self._position].decode("utf-8", "replace")

    def _skip_string(self) -> int:
        """Skip a string and return its start."""
        length = self._number("Q")
        start = self._position
        if length > _MAX_STRING_BYTES or start + length > min(len(self._data), _MAX_BYTES):
            raise ValueError(length)
        self._position += length
        return start

    def _skip_array(self) -> None:
        kind, length = self._number("I"), self._number("Q")
        if kind in _NUMBERS:
            self._position += length * struct.calcsize("<" + _NUMBERS[kind])
            return
        if kind != _STRING or length > len(self._data):
            raise ValueError(kind)
        for _ in range(length):
            self._skip_string()


def _fingerprint(file: BinaryIO) -> str:
    """Return a digest of size and evenly spaced samples, since reading 8 GB at each start would take too long."""
    size = os.fstat(file.fileno()).st_size
    digest = hashlib.sha256(str(size).encode())
    for sample in range(_SAMPLES):
        file.seek(sample * max(size - _SAMPLE_BYTES, 0) // (_SAMPLES - 1))
        digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:16]


DEFAULT_MODEL = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf"
"""EmbeddingGemma, 300 million parameters, over 100 languages; also the reference's choice."""
_HUB = "hf:"
_HUB_ID = re.compile(r"hf:(?P<repository>[\w.-]+/[\w.-]+)/(?P<file>[\w.+/-]+\.gguf)", re.ASCII | re.IGNORECASE)
_PIECE = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)


@dataclass(frozen=True)
class HubFile:
    """Name of a model file on the Hugging Face hub: repository and path."""

    repository: str
    """owner/name"""
    file: str

    @property
    def id(self) -> str:
        return f"{_HUB}{self.repository}/{self.file}"


@dataclass(frozen=True)
class ModelPath:
    """Path of the configured model file; the file is possibly still to be downloaded."""

    path: Path
    hub: HubFile | None
    """Its source; None for a local file of the user."""


def model_path(settings: Settings) -> ModelPath:
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
                    "model of the model hub as hf:owner/repository/file.gguf.",
                    named=named,
                )
            )
        return ModelPath(path, None)
    match = _HUB_ID.fullmatch(named)
    if match is None or not {"", ".", ".."}.isdisjoint(named.removeprefix(_HUB).split("/")):
        raise ProviderError(
            tr(
                '"{named}" does not name a file on the model hub: write it as hf:owner/repository/file.gguf.',
                named=named,
            )
        )
    if _PIECE.search(named):
        raise ProviderError(
            tr('"{named}" is one of several parts of a model: choose a model in a single file.', named=named)
        )
    hub = HubFile(match["repository"], match["file"])
    folder = settings.local.model_cache_dir
    base = Path(os.path.expanduser(folder)) if folder else data_folder() / "models"
    return ModelPath(base.joinpath(*hub.repository.split("/"), *hub.file.split("/")), hub)


def model_on_disk(settings: Settings) -> bool:
    """Whether the configured or default model can be used without a download."""
    try:
        return model_path(settings).path.is_file()
    except (ProviderError, OSError):
        return False


def llama_installed() -> bool:
    """Whether the optional package that runs the models is installed."""
    return importlib.util.find_spec("xllamacpp") is not None


def missing_model(settings: Settings) -> str:
    """Return the hub id of the model to download before the configured gguf provider can work, else ""."""
    if settings.provider != "gguf" or not settings.store.vector.enabled or not llama_installed():
        return ""
    try:
        location = model_path(settings)
    except ProviderError:
        return ""
    return "" if location.hub is None or location.path.is_file() else location.hub.id


def traits_of(model: GgufFile) -> Traits:
    """Find the model's traits by its architecture, name and file name; unknown models get plain text."""
    return traits_named(f"{model.architecture} {model.name} {Path(model.path).name}")
