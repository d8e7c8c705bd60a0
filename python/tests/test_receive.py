"""Iterative receivers against their parts called by hand, and EXIT charts."""
import copy
import pickle

import numpy as np
import pytest

import warpband as wb

CODE = wb.wifi_ldpc(n=648)


def receiver_of(outer, order="random", **more):
    detector = wb.NWay(streams=2, rx_antennas=2, qam=16)
    return wb.IterativeReceiver(detector=detector, decoder=wb.LdpcDecoder(code=CODE, iterations=4), outer=outer, interleaver=order, **more)


def send(receiver, frames, snr_db):
    bits = np.random.default_rng(3).integers(0, 2, (frames, CODE.k), dtype=np.uint8)
    sent = wb.QamMapper(qam=16)(receiver.interleave(wb.LdpcEncoder(code=CODE)(bits))).reshape(frames, receiver.uses_per_frame, 2)
    y, h = wb.mimo_rayleigh(sent, rx_antennas=2, seed=1)
    n0 = 2 * 10 ** (-snr_db / 10)
    return bits, h, wb.awgn(y, noise_var=n0, seed=1), n0


def by_hand(receiver, h, y, n0, outer, scaling=1.0):
    """All frames in every outer iteration; those that are finished keep their bits. The decoder begins anew."""
    detector, decoder = wb.NWay(streams=2, rx_antennas=2, qam=16, extrinsic=True), wb.LdpcDecoder(code=CODE, iterations=4)
    frames, order = len(y), receiver.permutation
    prior, finished, results = np.zeros((frames, receiver.uses_per_frame * 8), np.float32), np.zeros(frames, bool), []
    for _ in range(outer):
        llr = np.zeros((frames, CODE.n), np.float32)
        llr[:, order] = detector(h, y, n0, prior=prior.reshape(frames, -1, 8)).reshape(frames, -1)[:, :CODE.n]
        bits, extrinsic, status = decoder(llr, outputs=("bits", "extrinsic", "status"))
        results.append(np.where(finished[:, None], results[-1] if results else bits, bits))
        finished |= status & 2 != 0
        prior[:, :CODE.n] = np.clip(np.float32(scaling) * extrinsic[:, order], -100, 100)
    return np.array(results)


@pytest.mark.parametrize("scaling", [1.0, 0.75])
def test_a_receiver_is_its_parts_in_turn(scaling):
    receiver = receiver_of(3, decoder_state="reset", scaling=scaling)
    bits, h, y, n0 = send(receiver, 40, 9.5)
    got = receiver(h, y, n0, each_outer=True)
    np.testing.assert_array_equal(got, by_hand(receiver, h, y, n0, 3, scaling))
    np.testing.assert_array_equal(receiver(h, y, n0), got[-1])
    wrong = (got != bits).any(axis=2).sum(axis=1)
    assert wrong[0] > wrong[1] >= wrong[2]


def test_a_code_over_subcarriers_in_a_loop():
    """Without noise, and channels that hardly differ: every bit is right from the first iteration on."""
    made = {"type": "fstd", "qam": 16, "rx_antennas": 2}
    receiver = wb.IterativeReceiver(detector=wb.StbcDecoder(**made), decoder=wb.LdpcDecoder(code=CODE, iterations=4), outer=2)
    encoder, rng = wb.StbcEncoder(**{"type": "fstd", "qam": 16}), np.random.default_rng(7)
    bits = rng.integers(0, 2, (5, CODE.k), dtype=np.uint8)
    sent = encoder(receiver.interleave(wb.LdpcEncoder(code=CODE)(bits)).reshape(5, -1, encoder.bits_per_codeword))
    assert sent.shape == (5, receiver.uses_per_frame, 4, 4)
    h = rng.normal(size=(5, receiver.uses_per_frame, 1, 2, 4, 2)) @ [1, 1j]
    h = (h + 0.01 * rng.normal(size=(5, receiver.uses_per_frame, 4, 2, 4))).astype(np.complex64)
    y = np.einsum("fuert,fuet->fuer", h, sent).astype(np.complex64)
    assert np.array_equal(receiver(h, y, 0.05), bits)


@pytest.mark.parametrize("code", ["alamouti", "silver", "golden"])
def test_a_space_time_code_in_a_loop_is_its_parts_in_turn(code):
    made = {"type": code, "qam": 16, "rx_antennas": 2}
    receiver = wb.IterativeReceiver(detector=wb.StbcDecoder(**made), decoder=wb.LdpcDecoder(code=CODE, iterations=4), outer=2,
                                    decoder_state="reset", interleaver="random")
    encoder, decoder = wb.StbcEncoder(type=code, qam=16), wb.LdpcDecoder(code=CODE, iterations=4)
    bits = np.random.default_rng(5).integers(0, 2, (12, CODE.k), dtype=np.uint8)
    sent = encoder(receiver.interleave(wb.LdpcEncoder(code=CODE)(bits)).reshape(12, -1, encoder.bits_per_codeword))
    assert sent.shape == (12, receiver.uses_per_frame, 2, 2)
    rng = np.random.default_rng(6)
    h = ((rng.normal(size=(12, receiver.uses_per_frame, 2, 2)) + 1j * rng.normal(size=(12, receiver.uses_per_frame, 2, 2))) / 2 ** 0.5).astype(np.complex64)
    y = wb.awgn((sent @ h.swapaxes(-1, -2)).astype(np.complex64), noise_var=0.35, seed=1)
    got = receiver(h, y, 0.35, each_outer=True)
    soft = wb.StbcDecoder(**made, extrinsic=True)
    order, llr = receiver.permutation, np.zeros((12, CODE.n), np.float32)
    llr[:, order] = soft(h, y, 0.35).reshape(12, -1)[:, :CODE.n]
    first, extrinsic, status = decoder(llr, outputs=("bits", "extrinsic", "status"))
    np.testing.assert_array_equal(got[0], first)
    prior = np.zeros((12, receiver.uses_per_frame * soft.bits_per_codeword), np.float32)
    prior[:, :CODE.n] = np.clip(extrinsic[:, order], -100, 100)
    llr[:, order] = soft(h, y, 0.35, prior=prior.reshape(12, -1, soft.bits_per_codeword)).reshape(12, -1)[:, :CODE.n]
    np.testing.assert_array_equal(got[1], np.where((status & 2 != 0)[:, None], first, decoder(llr)))
    assert (got[1] != bits).any(axis=1).sum() <= (got[0] != bits).any(axis=1).sum()


def uplink_frames(receiver, frames, users, antennas, n0, seed=6):
    """Frames of a receiver with one H for each, 16-QAM."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (frames, CODE.k), dtype=np.uint8)
    sent = wb.QamMapper(qam=16)(receiver.interleave(wb.LdpcEncoder(code=CODE)(bits))).reshape(frames, receiver.uses_per_frame, users)
    h = ((rng.normal(size=(frames, antennas, users)) + 1j * rng.normal(size=(frames, antennas, users))) / 2 ** 0.5).astype(np.complex64)
    return bits, h, wb.awgn((sent @ h.swapaxes(1, 2)).astype(np.complex64), noise_var=n0, seed=1)


def test_a_massive_uplink_in_a_loop_is_its_parts_in_turn():
    made, n0 = {"antennas": 6, "users": 5, "qam": 16}, 0.25
    decoder = wb.LdpcDecoder(code=CODE, iterations=4)
    soft = wb.MassiveSoftUplink(**made, extrinsic=True)
    for detector, first in ((wb.MassiveSoftUplink(**made), soft), (wb.MassiveUplink(**made, solver="zf"), wb.MassiveUplink(**made, solver="zf"))):
        receiver = wb.IterativeReceiver(detector=detector, decoder=decoder, outer=2, decoder_state="reset", interleaver="random")
        assert receiver.uses_per_frame == 33  # 648 bits of 20 a use
        bits, h, y = uplink_frames(receiver, 20, 5, 6, n0)
        got = receiver(h, y, n0, each_outer=True)
        order, llr = receiver.permutation, np.zeros((20, CODE.n), np.float32)
        llr[:, order] = first(h, y, n0).reshape(20, -1)[:, :CODE.n]
        expected, extrinsic, status = decoder(llr, outputs=("bits", "extrinsic", "status"))
        np.testing.assert_array_equal(got[0], expected)
        prior = np.zeros((20, 33 * 20), np.float32)
        prior[:, :CODE.n] = np.clip(extrinsic[:, order], -100, 100)
        llr[:, order] = soft(h, y, n0, prior=prior.reshape(20, 33, 20)).reshape(20, -1)[:, :CODE.n]
        np.testing.assert_array_equal(got[1], np.where((status & 2 != 0)[:, None], expected, decoder(llr)))
        wrong = (got != bits).any(axis=2).sum(axis=1)
        assert wrong[0] > wrong[1]


def test_each_user_has_a_codeword_of_its_own():
    users, antennas, n0, frames = 5, 6, 0.3, 6
    order = np.random.default_rng(2).permutation(CODE.n)
    receiver = wb.IterativeReceiver(detector=wb.MassiveSoftUplink(antennas=antennas, users=users, qam=16), codewords="user", outer=3,
                                    decoder=wb.LdpcDecoder(code=CODE, iterations=4), decoder_state="reset", permutation=order)
    assert (receiver.k, receiver.n, receiver.uses_per_frame, receiver.codewords) == (CODE.k, CODE.n, CODE.n // 4, "user")
    rng = np.random.default_rng(6)
    bits = rng.integers(0, 2, (frames, users, CODE.k), dtype=np.uint8)
    coded = wb.LdpcEncoder(code=CODE)(bits)
    sent = wb.QamMapper(qam=16)(receiver.interleave(coded).reshape(frames, -1, 4)).reshape(frames, receiver.uses_per_frame, users)
    # What user u sends is its codeword in its order, symbol after symbol.
    np.testing.assert_array_equal(sent.swapaxes(1, 2), wb.QamMapper(qam=16)(coded[..., order].reshape(frames, users, -1, 4))[..., 0])
    h = ((rng.normal(size=(frames, antennas, users)) + 1j * rng.normal(size=(frames, antennas, users))) / 2 ** 0.5).astype(np.complex64)
    y = wb.awgn((sent @ h.swapaxes(1, 2)).astype(np.complex64), noise_var=n0, seed=1)
    got, extrinsic, status, iterations = receiver(h, y, n0, each_outer=True, outputs=("bits", "extrinsic", "status", "iterations"))
    assert got.shape == (3, frames, users, CODE.k) and extrinsic.shape == (3, frames, users, CODE.n) and status.shape == (3, frames)
    soft, decoder = wb.MassiveSoftUplink(antennas=antennas, users=users, qam=16, extrinsic=True), wb.LdpcDecoder(code=CODE, iterations=4)
    llr = np.zeros((frames, users, CODE.n), np.float32)
    llr[..., order] = soft(h, y, n0).reshape(frames, -1, users, 4).swapaxes(1, 2).reshape(frames, users, -1)
    first, extrinsic_of_users, held, count = decoder(llr, outputs=("bits", "extrinsic", "status", "iterations"))
    np.testing.assert_array_equal(got[0], first)
    np.testing.assert_array_equal(extrinsic[0], extrinsic_of_users)
    np.testing.assert_array_equal(iterations[0], count.sum(axis=1))
    finished = (held & 2 != 0).all(axis=1)
    np.testing.assert_array_equal(status[0] & 2 != 0, finished)
    prior = np.clip(extrinsic_of_users[..., order], -100, 100).reshape(frames, users, -1, 4).swapaxes(1, 2).reshape(frames, -1, users * 4)
    llr[..., order] = soft(h, y, n0, prior=prior).reshape(frames, -1, users, 4).swapaxes(1, 2).reshape(frames, users, -1)
    np.testing.assert_array_equal(got[1], np.where(finished[:, None, None], first, decoder(llr)))
    wrong = (got != bits).any(axis=3).sum(axis=(1, 2))
    assert wrong[0] > wrong[1] >= wrong[2]
    # A-priori LLRs of the codewords are those of the first iteration.
    known = np.where(coded != 0, -50, 50).astype(np.float32)
    np.testing.assert_array_equal(receiver(h, y, n0, prior=known), bits)
    loop = {"detector": wb.NWay(streams=2, rx_antennas=2, qam=64), "decoder": wb.LdpcDecoder(code=CODE)}
    for given, name in (({"codewords": "stream"}, "codewords"), ({"codewords": "user", "decoder": wb.BcjrDecoder(code=wb.conv_80211(), k=25)}, "n = 62"),
                        ({"codewords": "user", "detector": wb.StbcDecoder(type="golden", qam=4, rx_antennas=2)}, "codewords")):
        with pytest.raises(ValueError, match=name):
            wb.IterativeReceiver(**{**loop, **given})
    with pytest.raises(ValueError, match="codewords"):
        wb.exit_chart(**loop, codewords="user", snr_db=3, bits=1000)
    with pytest.raises(ValueError, match="coded"):
        receiver.interleave(coded[:, :4])


def test_a_massive_uplink_with_priors():
    made = {"antennas": 8, "users": 3, "qam": 4}
    detector, other = (wb.MassiveSoftUplink(**made, llr_sign=sign) for sign in ("p0/p1", "p1/p0"))
    rng = np.random.default_rng(1)
    h = (rng.normal(size=(4, 8, 3)) + 1j * rng.normal(size=(4, 8, 3))).astype(np.complex64)
    y = (rng.normal(size=(4, 5, 8)) + 1j * rng.normal(size=(4, 5, 8))).astype(np.complex64)
    prior = rng.normal(size=(4, 5, 6)).astype(np.float32)
    llr, bits, status = detector(h, y, 0.5, prior=prior, outputs=("llr", "bits", "status"))
    np.testing.assert_array_equal(bits, llr < 0)
    np.testing.assert_array_equal(other(h, y, 0.5, prior=-prior), -llr)
    assert not status.any()
    np.testing.assert_allclose(wb.MassiveSoftUplink(**made, extrinsic=True)(h, y, 0.5, prior=prior), llr - prior, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(detector(h, y, 0.5), wb.MassiveUplink(**made)(h, y, 0.5), rtol=1e-3, atol=1e-3)
    out = np.empty((4, 5, 6), np.float32)
    assert detector(h, y, 0.5, prior=prior, out=out) is out
    np.testing.assert_array_equal(out, llr)
    prior[2, 3, 1] = np.nan
    llr_then, status = detector(h, y, 0.5, prior=prior, outputs=("llr", "status"))
    assert status.sum() == 1 and status[2, 3] == 1 and not llr_then[2, 3].any()
    for bad in ({"antennas": 2}, {"users": 65}, {"qam": 8}, {"llr_clip": 0.0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            wb.MassiveSoftUplink(**{**made, **bad})
    with pytest.raises(ValueError, match="prior"):
        detector(h, y, 0.5, prior=prior[:, :4])
    with pytest.raises(ValueError, match="channel"):
        detector(h[:, :7], y, 0.5)
    with pytest.raises(ValueError, match="detector"):
        wb.exit_chart(detector=detector, decoder=wb.LdpcDecoder(code=CODE), snr_db=3, bits=1000)


def test_space_time_priors_in_both_signs():
    decoder, other = (wb.StbcDecoder(type="golden", qam=4, rx_antennas=2, llr_sign=sign) for sign in ("p0/p1", "p1/p0"))
    rng = np.random.default_rng(1)
    h, y = ((rng.normal(size=(9, 2, 2)) + 1j * rng.normal(size=(9, 2, 2))).astype(np.complex64) for _ in range(2))
    prior = rng.normal(size=(9, 8)).astype(np.float32)
    np.testing.assert_array_equal(other(h, y, 0.5, prior=-prior), -decoder(h, y, 0.5, prior=prior))
    with pytest.raises(ValueError, match="prior"):
        wb.StbcDecoder(type="golden", qam=4, rx_antennas=2, search="slicing")(h, y, 0.5, prior=prior)
    with pytest.raises(ValueError, match="detector"):
        wb.exit_chart(detector=decoder, decoder=wb.LdpcDecoder(code=CODE), snr_db=3, bits=1000)


def test_one_outer_iteration_is_the_open_loop():
    receiver = receiver_of(1, "none")
    _, h, y, n0 = send(receiver, 10, 10)
    llr = wb.NWay(streams=2, rx_antennas=2, qam=16)(h, y, n0).reshape(10, -1)[:, :CODE.n]
    bits, iterations, status = receiver(h, y, n0, outputs=("bits", "iterations", "status"))
    expected = wb.LdpcDecoder(code=CODE, iterations=4)(llr, outputs=("bits", "iterations", "status"))
    for a, b in zip((bits, iterations, status), expected):
        np.testing.assert_array_equal(a, b)


DECODERS = {
    "turbo": (wb.TurboDecoder(k=264, iterations=2), wb.TurboEncoder(k=264), 7.5),
    "turbo of one's own": (wb.TurboDecoder(k=264, iterations=2, windows=1, permutation=list(range(263, -1, -1))),
                           wb.TurboEncoder(k=264, permutation=list(range(263, -1, -1))), 7.5),
    "bcjr by table": (wb.BcjrDecoder(code=wb.conv_80211(), k=264, algorithm="log-map-table"), wb.ConvEncoder(code=wb.conv_80211(), k=264), 9),
    "ctc": (wb.CtcDecoder(k=288, rate="1/2", iterations=2), wb.CtcEncoder(k=288, rate="1/2"), 8),
    "bcjr": (wb.BcjrDecoder(code=wb.conv_80211(), k=264), wb.ConvEncoder(code=wb.conv_80211(), k=264), 9),
}


@pytest.mark.parametrize("name", DECODERS)
def test_other_decoders(name):
    decoder, encoder, snr_db = DECODERS[name]
    receiver = wb.IterativeReceiver(detector=wb.NWay(streams=2, rx_antennas=2, qam=16), decoder=decoder, outer=3, interleaver="random")
    bits = np.random.default_rng(3).integers(0, 2, (60, encoder.k), dtype=np.uint8)
    sent = wb.QamMapper(qam=16)(receiver.interleave(encoder(bits))).reshape(60, receiver.uses_per_frame, 2)
    y, h = wb.mimo_rayleigh(sent, rx_antennas=2, seed=1)
    n0 = 2 * 10 ** (-snr_db / 10)
    wrong = (receiver(h, wb.awgn(y, noise_var=n0, seed=1), n0, each_outer=True) != bits).any(axis=2).sum(axis=1)
    assert wrong[0] > wrong[1] >= wrong[2]
    chart = wb.exit_chart(detector=receiver.detector, decoder=decoder, snr_db=snr_db, outer=2, bits=20000, interleaver="random")
    assert chart.loop_detector[1] > chart.loop_detector[0]


def test_the_other_sign_and_arrays_to_fill():
    receiver, other = receiver_of(2), receiver_of(2, llr_sign="p1/p0")
    _, h, y, n0 = send(receiver, 6, 9)
    prior = np.random.default_rng(1).normal(size=(6, CODE.n)).astype(np.float32)
    names = ("extrinsic", "detected", "bits", "use_status")
    here = receiver(h, y, n0, prior=prior, outputs=names)
    negated = other(h, y, n0, prior=-prior, outputs=names)
    for a, b, sign in zip(here, negated, (-1, -1, 1, 1)):
        np.testing.assert_array_equal(a, sign * b)
    out = np.empty((2, 6, CODE.k), np.uint8)
    assert receiver(h, y, n0, each_outer=True, out=out) is out
    np.testing.assert_array_equal(out[-1], receiver(h, y, n0))
    assert here[3].shape == (6, receiver.uses_per_frame)


def test_a_permutation_of_ones_own():
    order = np.random.default_rng(2).permutation(CODE.n)
    receiver = receiver_of(2, "none", permutation=order)
    np.testing.assert_array_equal(receiver.permutation, order)
    bits, h, y, n0 = send(receiver, 5, 20)
    np.testing.assert_array_equal(receiver(h, y, n0), bits)


def test_a_receiver_shows_and_copies_itself():
    receiver = receiver_of(3, scaling=0.5)
    assert (receiver.outer, receiver.inner, receiver.scaling, receiver.detector_clip) == (3, None, 0.5, None)
    assert "outer=3" in repr(receiver) and "NWay" in repr(receiver)
    _, h, y, n0 = send(receiver, 3, 9)
    for same in (copy.deepcopy(receiver), pickle.loads(pickle.dumps(receiver))):
        np.testing.assert_array_equal(same(h, y, n0), receiver(h, y, n0))


@pytest.mark.parametrize("given, name", [({"outer": 17}, "outer"), ({"scaling": 0}, "scaling"), ({"interleaver": "block"}, "interleaver"),
                                         ({"permutation": [0, 0, 1]}, "interleaver"), ({"decoder_state": "gone"}, "decoder_state")])
def test_bad_settings_are_named(given, name):
    with pytest.raises(ValueError, match=name):
        wb.IterativeReceiver(detector=wb.ML(streams=2, rx_antennas=2, qam=4), decoder=wb.LdpcDecoder(code=CODE), **given)


def test_bad_parts_and_shapes_are_named():
    decoder = wb.LdpcDecoder(code=CODE)
    with pytest.raises(ValueError, match="detector"):
        wb.IterativeReceiver(detector=wb.MMSE(streams=2, rx_antennas=2, qam=4), decoder=decoder, outer=2)
    with pytest.raises(ValueError, match="decoder"):
        wb.IterativeReceiver(detector=wb.ML(streams=2, rx_antennas=2, qam=4), outer=2,
                             decoder=wb.ViterbiDecoder(code=wb.conv_80211(), k=60))
    with pytest.raises(TypeError, match="detector"):
        wb.IterativeReceiver(detector=decoder, decoder=decoder)
    receiver = receiver_of(2)
    _, h, y, n0 = send(receiver, 3, 9)
    with pytest.raises(ValueError, match="received"):
        receiver(h, y[:, :-1], n0)
    with pytest.raises(ValueError, match="prior"):
        receiver(h, y, n0, prior=np.zeros((3, 7), np.float32))


def test_an_exit_chart_has_curves_that_rise_and_a_trajectory_between():
    chart = wb.exit_chart(detector=wb.ML(streams=2, rx_antennas=2, qam=4), decoder=wb.LdpcDecoder(code=CODE, iterations=4), snr_db=3,
                          outer=3, interleaver="random", bits=50000)
    assert len(chart.prior) == len(chart.detector) == len(chart.decoder) == 11
    assert (np.diff(chart.detector) > 0).all() and chart.decoder[0] < 0.01 and chart.decoder[-1] > 0.99
    assert (chart.decoder >= 0).all() and (chart.decoder <= 1).all()
    rising = wb.exit_chart(detector=wb.ML(streams=2, rx_antennas=2, qam=4), snr_db=3, bits=50000,
                           decoder=wb.LdpcDecoder(code=CODE, iterations=4, early_stop="none")).decoder
    np.testing.assert_array_equal(chart.decoder, rising)  # a stop of its own changes the trajectory alone
    assert (np.diff(rising) > -0.002).all()  # of min-sum, whose LLRs are not true ones; 50000 bits scatter by less than that
    assert abs(chart.loop_detector[0] - chart.detector[0]) < 0.02
    assert (np.diff(chart.loop_detector) > 0).all()
    np.testing.assert_array_equal(chart.detector, wb.exit_chart(
        detector=wb.ML(streams=2, rx_antennas=2, qam=4), decoder=wb.LdpcDecoder(code=CODE, iterations=4), snr_db=3, outer=3,
        interleaver="random", bits=50000, executor=wb.cpu(threads=1)).detector)
    with pytest.raises(ValueError, match="prior_information"):
        wb.exit_chart(detector=wb.ML(streams=2, rx_antennas=2, qam=4), decoder=wb.LdpcDecoder(code=CODE), snr_db=3,
                      prior_information=[1.5])
