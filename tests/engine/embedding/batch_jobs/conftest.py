"""The three batch APIs with fakes of their services."""

from collections.abc import Iterator

import pytest

from engine.embedding.batch_jobs.batch_api import BatchApi, batches_of
from tests.helpers.embedding_servers.batch_servers import GeminiBatchServer, OpenAIBatchServer, VoyageBatchServer
from tests.helpers.embedding_servers.batch_work import BatchWork


@pytest.fixture(params=[OpenAIBatchServer, GeminiBatchServer, VoyageBatchServer], ids=lambda kind: kind.provider)
def server(request) -> Iterator[BatchWork]:
    with request.param() as running:
        yield running


@pytest.fixture
def api(provider) -> BatchApi:
    found = batches_of(provider)
    assert found is not None
    return found
