from pathlib import Path

import msgspec
import pytest

from engine import Settings, consequences_of, options_of_index
from engine.indexing.stage_data import fingerprint


def test_rebuild_options_match_fingerprint():
    anew = {key for key, follows in options_of_index().items() if follows.full_rebuild}
    assert anew == {"chunking.tokens", "chunking.overlap", "sessions.thinking", "sessions.tools"}


def test_options_that_choose_files_match_discovery():
    files = {key for key, follows in options_of_index().items() if follows.other_files}
    names = ("sources", "extra_paths", "include", "exclude", "extensions", "max_file_bytes", "sessions.folders")
    assert files == set(names)


def test_window_and_search_options_have_no_effect():
    keys = options_of_index()
    assert not {"query.min_score", "window.theme", "sync.watch", "facts.auto_recall", "cache.max_entries"} & set(keys)


@pytest.mark.parametrize(("changed", "anew"), [({"tokens": 200}, True), ({"tokens": 400}, False)])
def test_reverted_change_has_no_effect(changed, anew):
    before = Settings()
    after = msgspec.structs.replace(before, chunking=msgspec.structs.replace(before.chunking, **changed))
    follows = consequences_of(Path("/notes"), before, after)
    assert follows.full_rebuild is anew is (fingerprint(before) != fingerprint(after))
    assert follows.any is anew


def test_other_store_path_is_another_index():
    before = Settings()
    after = msgspec.structs.replace(before, store=msgspec.structs.replace(before.store, path="/elsewhere"))
    assert consequences_of(Path("/notes"), before, after).other_index
