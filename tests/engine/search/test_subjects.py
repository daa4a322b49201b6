"""The subjects of an index are cached while the compared passages are unchanged."""

from collections.abc import Sequence
from pathlib import Path

from engine.base.errors import ProviderError
from engine.search.vector_leg import SubjectCache, Subjects
from engine.store.vector_encoding import encode
from tests.helpers.fake_provider import FakeProvider
from tests.helpers.rows import new_file, open_store


def fail(texts: Sequence[str]) -> None:
    raise ProviderError("no connection")


def test_subjects_recomputed_only_for_other_passages(tmp_path: Path) -> None:
    store, provider, cache = open_store(tmp_path), FakeProvider(8), SubjectCache()
    with store.write() as writer:
        for number in range(250):
            writer.replace_file(new_file(f"{number}.md", f"text {number}"))
        model = writer.ensure_model("fake", "m", "", 8)
        texts = writer.texts(list(writer.due(model.id).values()))
        vectors = encode(provider.embed_documents([text.text for text in texts]))
        writer.store_vectors(model.id, zip([text.hash for text in texts], vectors, strict=True))
        writer.advance_stamp()

    def subjects() -> Subjects | None:
        with store.read() as snapshot:
            return cache.of_passages(snapshot, model, provider)

    provider.before = fail
    assert subjects() is None
    provider.before = lambda texts: None
    first = subjects()
    assert first is not None  # a failure is not remembered
    with store.write() as writer:
        writer.replace_file(new_file("new.md", "not embedded yet"))
        writer.advance_stamp()
    assert subjects() is first
    with store.write() as writer:
        writer.remove_file("memory", "7.md")
        writer.advance_stamp()
    assert subjects() not in (None, first)
    store.close()
