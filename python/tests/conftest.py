import hypothesis
import numpy
import pytest

# Examples are the same in every run, and none is refused since the machine is busy.
hypothesis.settings.register_profile("warpband", deadline=None, derandomize=True, database=None,
                                     suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("warpband")


@pytest.fixture
def rng(request):
    """Random numbers of a test: the same in every run, others for every test."""
    return numpy.random.default_rng(list(request.node.nodeid.encode()))
