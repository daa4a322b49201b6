from pathlib import Path

import pytest

from engine.base.errors import ProviderError
from engine.embedding.gguf import make
from engine.embedding.gguf_file import DEFAULT_MODEL, HubFile, model_on_disk, model_path, read_gguf, traits_of
from engine.settings import Settings
from engine.settings.options import LocalSettings
from tests.helpers.gguf_files import write_gguf


def named(path: str, cache: str = "") -> Settings:
    return Settings(local=LocalSettings(model_path=path, model_cache_dir=cache))


def small(path: Path, architecture: str, name: str, dims: int = 8) -> Path:
    values = {
        "general.architecture": architecture,
        "general.name": name,
        f"{architecture}.context_length": 2048,
        f"{architecture}.embedding_length": dims,
    }
    return write_gguf(path, values)


def test_no_name_means_default_hub_model(user_home: Path) -> None:
    location = model_path(Settings())
    assert location.hub is not None
    assert location.hub.id == DEFAULT_MODEL
    assert location.path.is_relative_to(user_home)
    assert location.path.name == DEFAULT_MODEL.rpartition("/")[2]


def test_models_of_the_hub_lie_by_owner_and_repository(tmp_path: Path) -> None:
    location = model_path(named("hf:Some-Owner/some.repo/sub/model-Q8_0.gguf", str(tmp_path)))
    assert location.hub == HubFile("Some-Owner/some.repo", "sub/model-Q8_0.gguf")
    assert location.path == tmp_path / "Some-Owner" / "some.repo" / "sub" / "model-Q8_0.gguf"


def test_local_file_is_used_in_place(tmp_path: Path, user_home: Path) -> None:
    assert model_path(named(str(tmp_path / "m.gguf"))).path == tmp_path / "m.gguf"
    assert model_path(named("~/models/m.gguf")).path == user_home / "models" / "m.gguf"
    assert model_path(named(str(tmp_path / "m.gguf"))).hub is None


@pytest.mark.parametrize(
    "path",
    [
        "hf:owner/file.gguf",
        "hf:owner/repository/file.bin",
        "hf:owner/../file.gguf",
        "hf:../repository/file.gguf",
        "hf:owner/repository/../../file.gguf",
        "hf:owner/repository/./file.gguf",
        "hf:owner/repository//etc/file.gguf",
        "hf:owner/repository/file.gguf?download=true",
        "hf:owner/repository/a b.gguf",
        "hf://owner/repository/file.gguf",
        "hf:",
    ],
)
def test_non_hub_file_refused(path: str) -> None:
    with pytest.raises(
        ProviderError, match=r"does not name a file on the model hub: write it as hf:owner/repository/file"
    ):
        model_path(named(path))


def test_part_of_split_model_is_refused() -> None:
    with pytest.raises(ProviderError, match="one of several parts"):
        model_path(named("hf:owner/repository/model-00001-of-00003.gguf"))


@pytest.mark.parametrize("path", ["m.gguf", "models/m.gguf", "EmbeddingGemma"])
def test_relative_path_is_refused(path: str) -> None:
    with pytest.raises(ProviderError, match="is not a full path"):
        model_path(named(path))


def test_only_a_file_is_on_disk(tmp_path: Path) -> None:
    assert not model_on_disk(Settings())
    assert not model_on_disk(named("m.gguf"))
    assert not model_on_disk(named(str(tmp_path)))
    assert model_on_disk(named(str(small(tmp_path / "m.gguf", "bert", ""))))


@pytest.mark.parametrize(
    ("file", "architecture", "name", "query", "document"),
    [
        ("a.gguf", "gemma-embedding", "", "task: search result | query: ", "title: none | text: "),
        ("embeddinggemma-300m-qat-Q8_0.gguf", "x", "", "task: search result | query: ", "title: none | text: "),
        ("a.gguf", "nomic-bert", "nomic embed text v1.5", "search_query: ", "search_document: "),
        ("multilingual-e5-small-Q8_0.gguf", "bert", "", "query: ", "passage: "),
        ("a.gguf", "bert", "all-MiniLM-L6-v2", "", ""),
        ("bge-m3-Q8_0.gguf", "bert", "Bge M3", "", ""),
    ],
)
def test_well_known_models_get_their_prompts(
    tmp_path: Path, file: str, architecture: str, name: str, query: str, document: str
) -> None:
    traits = traits_of(read_gguf(str(small(tmp_path / file, architecture, name))))
    assert (traits.query, traits.document) == (query, document)


def test_only_matryoshka_vectors_are_shortened(tmp_path: Path) -> None:
    gemma = str(small(tmp_path / "embeddinggemma.gguf", "gemma-embedding", "", dims=768))

    def dims(dimensions: int | None) -> int | None:
        return make(Settings(local=LocalSettings(model_path=gemma), dimensions=dimensions), None).dims

    assert (dims(None), dims(256), dims(768)) == (768, 256, 768)
    for wrong in (64, 1024):
        with pytest.raises(ProviderError, match="vectors of 128 to 768 dimensions"):
            dims(wrong)


def test_missing_model_reported_with_fix() -> None:
    with pytest.raises(ProviderError, match=r"embeddinggemma.* yet: download it in the settings, or with mnemoscope"):
        make(Settings(provider="gguf"), None)
