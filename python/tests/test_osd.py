"""Belief propagation with ordered-statistics decoding: against all errors of a small code, syndromes, words, settings."""
import copy
import itertools
import pickle

import numpy as np
import pytest

import warpband as wb

ONE = wb.cpu(threads=1)
STOPPED, OSD, INCONSISTENT = 2, 8, 17


def random_h(checks, n, ones, seed=1):
    rng = np.random.default_rng(seed)
    h = np.zeros((checks, n), np.uint8)
    for column in h.T:
        column[rng.choice(checks, ones, replace=False)] = 1
    return h


def drawn(h, p, shots, seed=2):
    error = (np.random.default_rng(seed).random((shots, h.shape[1])) < p).astype(np.uint8)
    return error, error @ h.T % 2


def test_the_full_order_is_the_cheapest_error():
    h = random_h(8, 14, 3)
    p = np.random.default_rng(3).uniform(0.05, 0.3, 14)
    _, syndrome = drawn(h, p, 60)
    errors = np.array(list(itertools.product((0, 1), repeat=14)), np.uint8)
    sums = errors @ h.T % 2
    for osd_cost, cost in (("probability", -np.log(p)), ("ratio", np.log((1 - p) / p))):
        decode = wb.BpOsd(pcm=h, error_channel=p, max_iter=1, ms_scaling_factor=1e-3, osd_method="osd-e", osd_order=14, osd_cost=osd_cost, executor=ONE)
        found, status = decode(syndrome, outputs=("bits", "status"))
        assert (found @ h.T % 2 == syndrome).all() and set(status.tolist()) <= {STOPPED, OSD} and (status == OSD).sum() > 20
        for e, s in zip(found[status == OSD], syndrome[status == OSD]):
            cheapest = (errors[(sums == s).all(axis=1)] @ cost).min()
            assert e @ cost == pytest.approx(cheapest, abs=1e-5)


@pytest.mark.parametrize("settings", [{}, {"osd_method": "OSD_CS", "osd_order": 8}, {"osd_method": "osd-e", "osd_order": 5},
                                      {"bp_method": "product_sum", "schedule": "serial", "osd_method": "osd_cs", "osd_order": 3}], ids=str)
def test_errors_have_their_syndromes_and_words_are_codewords(settings):
    h = random_h(40, 80, 3)
    error, syndrome = drawn(h, 0.09, 500)
    llr = np.log(0.91 / 0.09) * (1 - 2.0 * error)  # the zero word with these errors
    decode = wb.BpOsd(pcm=h, error_rate=0.09, max_iter=10, **settings)
    found, status, iterations = decode(syndrome, outputs=("bits", "status", "iterations"))
    assert (found @ h.T % 2 == syndrome).all() and (status == OSD).any() and (status == STOPPED).any()
    assert (iterations[status == OSD] == 10).all()
    assert (decode.words(llr) == found ^ error).all()
    assert (decode(syndrome, llr=np.full(error.shape, np.log(0.91 / 0.09))) == found).all()
    turned = wb.BpOsd(pcm=h, llr_sign="p1/p0", max_iter=10, executor=ONE, **settings)
    assert (turned.words(-llr) == found ^ error).all()
    assert (decode(syndrome.reshape(5, 100, 40))[3, 7] == found[307]).all() and (decode(syndrome[307]) == found[307]).all()


def test_more_order_costs_less():
    h = random_h(40, 80, 3)
    _, syndrome = drawn(h, 0.12, 400)
    weights = []
    for settings in ({}, {"osd_method": "osd-cs", "osd_order": 1}, {"osd_method": "osd-cs", "osd_order": 12}):
        weights.append(wb.BpOsd(pcm=h, error_rate=0.12, **settings)(syndrome).sum(axis=1).astype(int))
    assert (weights[0] >= weights[1]).all() and (weights[1] >= weights[2]).all() and weights[0].sum() > weights[2].sum()


def test_what_has_no_answer_is_erased():
    h = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]])  # the third row is the sum of two, bit 3 is in no check
    decode = wb.BpOsd(pcm=h, error_rate=0.1)
    found, status = decode(np.array([[1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]], np.uint8), outputs=("bits", "status"))
    assert status[0] in (STOPPED, OSD) and status[1:].tolist() == [INCONSISTENT, INCONSISTENT] and not found[1:].any()
    words, status = decode.words(np.array([[1.0, 2, 3, 4], [1, np.nan, 3, 4]]), outputs=("bits", "status"))
    assert status[1] == 1 and status[0] == STOPPED


def test_without_osd():
    h = random_h(40, 80, 3)
    _, syndrome = drawn(h, 0.12, 100)
    found, status = wb.BpOsd(pcm=h, error_rate=0.12, osd_method="off")(syndrome, outputs=("bits", "status"))
    priors = np.full((100, 80), np.log(0.88 / 0.12))
    bp = wb.SparseLdpcDecoder(matrix=wb.ParityCheckMatrix(matrix=h), scale=0.625, schedule="flooding")
    assert (found == bp(priors, syndrome=syndrome, outputs="word")).all() and set(status.tolist()) == {0, STOPPED}


def test_copies_decode_alike():
    h = random_h(20, 40, 3)
    _, syndrome = drawn(h, 0.1, 20)
    decode = wb.BpOsd(pcm=h, error_channel=np.linspace(0.05, 0.2, 40), osd_method="osd-cs", osd_order=4, executor=ONE)
    for other in (copy.deepcopy(decode), pickle.loads(pickle.dumps(wb.BpOsd(pcm=h, error_channel=np.linspace(0.05, 0.2, 40), osd_method="osd-cs", osd_order=4)))):
        assert (other(syndrome) == decode(syndrome)).all()
    assert (decode.n, decode.checks, decode.osd_order, decode.max_iter) == (40, 20, 4, 30)


H = [[1, 1, 0, 1], [0, 1, 1, 1]]


@pytest.mark.parametrize("make, message", [
    (lambda: wb.BpOsd(pcm=[[0, 2]]), "pcm = 2 is not allowed"), (lambda: wb.BpOsd(pcm=None), "pcm = "),
    (lambda: wb.BpOsd(pcm=wb.ParityCheckMatrix(matrix=H, punctured=[0])), "pcm = "),
    (lambda: wb.BpOsd(pcm=H, error_rate=1.5), "error_rate = 1.5"), (lambda: wb.BpOsd(pcm=H, error_rate="x"), "error_rate = "),
    (lambda: wb.BpOsd(pcm=H, error_channel=[0.1, 0.1]), "error_channel = 2 values"), (lambda: wb.BpOsd(pcm=H, error_channel=[0.1, 0.1, 0.1, 0]), "error_channel = 0"),
    (lambda: wb.BpOsd(pcm=H, error_channel="x"), "error_channel = "), (lambda: wb.BpOsd(pcm=H, error_rate=0.1, error_channel=[0.1] * 4), "error_rate = 0.1"),
    (lambda: wb.BpOsd(pcm=H, osd_method="osd-9"), "osd_method = "), (lambda: wb.BpOsd(pcm=H, osd_order=-1), "osd_order = "),
    (lambda: wb.BpOsd(pcm=H)(np.zeros((3, 2), np.uint8)), "llr = None is not allowed"), (lambda: wb.BpOsd(pcm=H, error_rate=0.1)(np.zeros((3, 3), np.uint8)), "syndrome = "),
    (lambda: wb.BpOsd(pcm=H).words(np.zeros((3, 3))), "llr = "), (lambda: wb.BpOsd(pcm=H)(np.zeros((3, 2), np.uint8), llr=np.zeros((2, 4))), "syndrome = |llr = "),
])
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
