import numpy
import pytest


@pytest.fixture
def rng(request):
    """Random numbers of a test: the same in every run, others for every test."""
    return numpy.random.default_rng(list(request.node.nodeid.encode()))
