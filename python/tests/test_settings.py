"""Settings that are not allowed: the message names the argument, its value and what is expected."""
import numpy as np
import pytest

import warpband as wb

MIMO = {"streams": 2, "rx_antennas": 2, "qam": 16}
ANTENNAS = {"streams": 2, "rx_antennas": 2}
SENT = np.ones((4, 2), np.complex64)
CRCS = "'crc24a', 'crc24b', 'crc16', 'crc8' or (polynomial, degree)"


def message(make, error=ValueError):
    with pytest.raises(error) as caught:
        make()
    assert type(caught.value) is error and "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("make, expected", [
    (lambda: wb.NWay(**{**MIMO, "streams": 2.0}), "streams = 2.0 is not allowed: expected an integer from 1 to 8, with pic and ep to 16"),
    (lambda: wb.NWay(**{**MIMO, "qam": "16"}), 'qam = "16" is not allowed: expected 4, 16, 64 or 256'),
    (lambda: wb.NWay(**MIMO, llr_clip="8"), 'llr_clip = "8" is not allowed: expected a number from 1e-6 to 1e6, or "none" where no hypothesis '
     "can be missing: with all but ot, kbest, nway with fewer ways than streams, and sphere with hard_output, radius or node_limit"),
    (lambda: wb.NWay(**MIMO, extrinsic=1), "extrinsic = 1 is not allowed: expected True or False"),
    (lambda: wb.NWay(**MIMO, order=5), "order = 5 is not allowed: expected a list with each of 0 to streams - 1 once"),
    (lambda: wb.NWay(**MIMO, order="ab"), 'order = "ab" is not allowed: expected a list with each of 0 to streams - 1 once'),
    (lambda: wb.NWay(**MIMO, spread=(1, 17)), "spread = 1,17 is not allowed: expected 1 to 16 at each level"),
    (lambda: wb.NWay(**MIMO, spread=(16,)), "spread = 16 is not allowed: expected a number for each of 2 streams"),
    (lambda: wb.KBest(**MIMO, sort="fsd"), "sort = fsd is not allowed: expected none, norm, norm-ascending or sqrd: fsd is of nway alone"),
    (lambda: wb.TurboDecoder(k=40.0), "k = 40.0 is not allowed: expected an integer"),
    (lambda: wb.TurboDecoder(k=40, crc=5), "crc = 5 is not allowed: expected 'crc24a', 'crc24b', 'crc16', 'crc8' or (polynomial, degree)"),
    (lambda: wb.TurboEncoder(k=40, permutation=[[0]]), "permutation = [[0]] is not allowed: expected a list of integers or None"),
    (lambda: wb.wimax_ldpc(rate=0.5), "rate = 0.5 is not allowed: expected text"),
    (lambda: wb.conv_80211(rate=0.5), "rate = 0.5 is not allowed: expected text"),
    (lambda: wb.conv_80216(termination=1), "termination = 1 is not allowed: expected text"),
    (lambda: wb.ConvCode(generators=5), "generators = 5 is not allowed: expected 1 to 4 integers from 1 to 2^K - 1"),
    (lambda: wb.LdpcCode(matrix=[[0.5]], z=2), "matrix = [[0.5]] is not allowed: expected a list of lists of integers"),
    (lambda: wb.StbcEncoder(type="pair", qam=4, v=5), "v = 5 is not allowed: expected a unitary matrix of 2 x 2"),
    (lambda: wb.StbcEncoder(type="pair", qam=4, v="ab"), "v = 'ab' is not allowed: expected a unitary matrix of 2 x 2"),
    (lambda: wb.awgn(SENT, noise_var=1.0, seed=1.5), "seed = 1.5 is not allowed: expected an integer"),
    (lambda: wb.awgn(SENT, noise_var="1", seed=1), "noise_var = '1' is not allowed: expected a number"),
    (lambda: wb.lte_numerology(bandwidth_mhz="5"), "bandwidth_mhz = '5' is not allowed: expected a number"),
    (lambda: wb.Stream(stage=wb.MMSE(**MIMO), most_items=5.0), "most_items = 5.0 is not allowed: expected an integer from 1 to 2^31"),
    (lambda: wb.Stream(stage=wb.MMSE(**MIMO), most_items=5, splits="2"), "splits = '2' is not allowed: expected 1 but with MassiveUplink and ClusteredUplink"),
    (lambda: wb.Stream(stage=wb.MMSE(**MIMO), most_items=5, devices=5), 'devices = 5 is not allowed: expected a list of "cpu", "cuda:0", "cuda:1", ...'),
    (lambda: wb.Stream(stage=wb.MMSE(**MIMO), most_items=5, outputs=5), "outputs = 5 is not allowed: expected a list"),
    (lambda: wb.Stream(stage=wb.MMSE(**MIMO), most_items=5, on_frame=5), "on_frame = 5 is not allowed: expected a function or None"),
    (lambda: wb.exit_chart(detector=wb.ML(**MIMO), decoder=wb.LdpcDecoder(code=wb.wifi_ldpc()), snr_db="3"),
     "snr_db = '3' is not allowed: expected a number"),
    (lambda: wb.cpu(threads="2"), "threads = '2' is not allowed: expected an integer"),
    (lambda: wb.CdlChannel(antennas=2, delays_ns=5), "delays_ns = 5 is not allowed: expected 1 to 32 numbers from 0 to 1e9, together with powers_db"),
    (lambda: wb.CdlChannel(antennas=2, delays_ns="ab"), 'delays_ns = "ab" is not allowed: expected 1 to 32 numbers from 0 to 1e9, together with powers_db'),
    (lambda: wb.CdlChannel(antennas=2, directions_deg=5.), "directions_deg = 5.0 is not allowed: expected a number from -180 to 180 for each user"),
    (lambda: wb.CdlChannel(antennas=2, split=5), "split = 5 is not allowed: expected 0 or 1 for each of delays_ns"),
    (lambda: wb.CdlChannel(antennas=2, split=["no"]), "split = ['no'] is not allowed: expected 0 or 1 for each of delays_ns"),
    (lambda: wb.CdlChannel(antennas=2, asd_deg="5"), 'asd_deg = "5" is not allowed: expected a number from 0 to 60, together with delays_ns'),
    (lambda: wb.CdlChannel(antennas=2).response(drops=1.5, seed=1),
     "drops = 1.5 is not allowed: expected an integer from 0 to 2147483647"),
    (lambda: wb.exponential_correlation(antennas=2, correlation="x"),
     "correlation = 'x' is not allowed: expected a complex number"),
    (lambda: wb.KroneckerChannel(streams=2, rx_antennas=2, rx_correlation="ab"),
     "rx_correlation = 'ab' is not allowed: expected a matrix of 2 x 2 numbers, or None for antennas that are not correlated"),
    (lambda: wb.KroneckerChannel(streams=2, rx_antennas=4, tx_correlation=[[1, 0], [1]]),
     "tx_correlation = [[1, 0], [1]] is not allowed: expected a matrix of 2 x 2 numbers, or None for antennas that are not "
     "correlated"),
    (lambda: wb.KroneckerChannel(streams="3", rx_antennas=2, tx_correlation=np.eye(3)),
     'streams = "3" is not allowed: expected an integer from 1 to 64'),
    (lambda: wb.KroneckerChannel(**ANTENNAS)(SENT, seed=1, uses_per_channel=1.0),
     "uses_per_channel = 1.0 is not allowed: expected an integer from 1 to 16777216"),
    (lambda: wb.KroneckerChannel(**ANTENNAS)(SENT, seed=1, uses_per_channel=4.0),
     "uses_per_channel = 4.0 is not allowed: expected an integer from 1 to 16777216"),
    (lambda: wb.CrcAttacher(n=8, crc=None), "crc = None is not allowed: expected a pair (an integer, an integer)"),
    (lambda: wb.CrcAttacher(n=8, crc=(7.0, 2)), "crc = (7.0, 2) is not allowed: expected a pair (an integer, an integer)"),
    (lambda: wb.TurboEncoder(k=list(range(1000))), f"k = {str(list(range(1000)))[:77]}... is not allowed: expected an integer"),
])
def test_settings_of_another_type(make, expected):
    assert message(make) == expected


DCI = {"kind": "dci", "k": 40, "coded_bits": 108}


class TwoLines:
    def __repr__(self):
        return "two\nlines"


@pytest.mark.parametrize("make, expected", [
    # Halves of characters, which UTF-8 does not have.
    (lambda: wb.PolarEncoder(**{**DCI, "kind": "\udc80"}), "kind = '\\udc80' is not allowed: expected \"uci\", \"dci\", \"pbch\", \"plain\" or \"general\""),
    (lambda: wb.NrTransportEncoder(transport_bits=104, coded_bits=160, base_graph="\udc80"),
     "base_graph = '\\udc80' is not allowed: expected \"auto\" or 1 or 2"),
    (lambda: wb.Stream(stage=wb.MMSE(**MIMO), most_items=5, devices=["\udc80"]),
     "devices = ['\\udc80'] is not allowed: expected a list of \"cpu\", \"cuda:0\", \"cuda:1\", ..."),
    (lambda: wb.wimax_ldpc(rate="\udc80"), "rate = '\\udc80' is not allowed: expected text"),
    # Ends of lines and of texts.
    (lambda: wb.wifi_ldpc(rate="1/2\0"), 'rate = "1/2\\x00" is not allowed: expected one of "1/2", "2/3", "3/4", "5/6"'),
    (lambda: wb.conv_80216(termination="a\nb"),
     'termination = "a\\nb" is not allowed: expected one of "zero-tail", "tail-biting", "truncated"'),
    (lambda: wb.nr_reference_channel(name="G\0"), 'name = "G\\x00" is not allowed: expected "G-FR1-A1-1" to -9, A2-1 to -6, A3-1 to -28, -31, -32, -39, -41, -42, '
     "A4-1 to -28, A5-1 to -14, A7-1, -3, -4"),
    (lambda: wb.Stream(stage=wb.MMSE(**MIMO), most_items=5, devices=["cpu\0"]), 'devices = "cpu\\x00" is not allowed: expected "cpu" or "cuda:N"'),
    (lambda: wb.PolarEncoder(**{**DCI, "rnti": TwoLines()}), "rnti = two\\nlines is not allowed: expected an integer from 0 to 65535"),
    # A long text is cut between characters.
    (lambda: wb.PolarEncoder(**{**DCI, "rnti": ["\u00e9" * 99]}), "rnti = ['" + 38 * "\u00e9" + "... is not allowed: expected an integer from 0 to 65535"),
])
def test_texts_of_any_characters(make, expected):
    assert message(make) == expected


def test_arrays_of_times():
    times, refused = np.zeros((1, 40), "M8[s]"), "an array of datetime64[s] is not allowed: expected numbers"
    pusch, detector = wb.NrSharedChannel(resource_blocks=4), wb.MMSE(streams=2, rx_antennas=2, qam=4)
    slots, h, y = pusch.map(np.ones((40, pusch.codeword_symbols))), np.ones((40, 2, 2)), np.ones((40, 2))
    for strict in (False, True):
        assert message(lambda: wb.PolarEncoder(**DCI)(times, strict=strict)) == f"bits = {refused}"
        assert message(lambda: wb.ChannelEstimator(channel=pusch)(slots, times[0], strict=strict)) == f"noise_var = {refused}"
        assert message(lambda: detector(h.astype("c8"), y.astype("c8"), times[0], strict=strict)) == f"noise_var = {refused}"
    assert message(lambda: detector(h, y, 0.1, out=np.zeros((40, 4), "m8[s]"))) == f"llr = {refused.replace('datetime', 'timedelta')}"
    with wb.Stream(stage=detector, most_items=40) as stream:
        assert message(lambda: stream.push(h, y, times[0, :1])) == f"noise_var = {refused}"


@pytest.mark.parametrize("nothing", [[], {}, ()])
def test_what_is_empty_is_no_number(nothing):
    for make in (lambda: wb.PIC(**MIMO, llr_clip=nothing), lambda: wb.EP(**MIMO, start_variance=nothing),
                 lambda: wb.MassiveUplink(antennas=8, users=2, qam=4, iterations=nothing)):
        assert f" = {nothing} is not allowed: expected " in message(make)
    assert wb.NWay(**MIMO, order=nothing).order is None


@pytest.mark.parametrize("make", [
    lambda e: wb.MMSE(**MIMO, executor=e), lambda e: wb.TurboEncoder(k=40, executor=e), lambda e: wb.QamMapper(qam=4, executor=e),
    lambda e: wb.LdpcDecoder(code=wb.wifi_ldpc(), executor=e), lambda e: wb.ViterbiDecoder(code=wb.conv_lte(), k=40, executor=e),
    lambda e: wb.MassiveUplink(antennas=4, users=2, qam=4, executor=e), lambda e: wb.StbcEncoder(type="golden", qam=4, executor=e),
    lambda e: wb.OfdmModulator(executor=e), lambda e: wb.LteTransportEncoder(transport_bits=40, coded_bits=120, executor=e),
    lambda e: wb.TdlChannel(executor=e), lambda e: wb.Impairments(executor=e), lambda e: wb.CdlChannel(antennas=2, executor=e),
    lambda e: wb.KroneckerChannel(streams=2, rx_antennas=2, executor=e), lambda e: wb.CrcAttacher(n=8, executor=e),
    lambda e: wb.awgn(SENT, noise_var=1.0, seed=1, executor=e),
    lambda e: wb.rayleigh(SENT, seed=1, executor=e), lambda e: wb.mimo_rayleigh(SENT, rx_antennas=2, seed=1, executor=e)])
def test_an_executor_that_is_none(make):
    make(wb.cpu(threads=1))
    assert message(lambda: make("cpu"), TypeError).startswith("executor is a str: expected what warpband.cpu() or")


def test_a_code_that_is_none():
    assert message(lambda: wb.LdpcEncoder(code=None), TypeError) == "code is a NoneType: expected a warpband.LdpcCode"
    assert message(lambda: wb.LdpcDecoder(code=wb.conv_lte()), TypeError) == "code is a ConvCode: expected a warpband.LdpcCode"
    for kind in (wb.ConvEncoder, wb.ViterbiDecoder, wb.BcjrDecoder):
        assert message(lambda: kind(code="conv", k=40), TypeError) == "code is a str: expected a warpband.ConvCode"
    assert message(lambda: wb.OfdmModulator(numerology=None), TypeError) == "numerology is a NoneType: expected an OfdmNumerology"


def test_numbers_of_numpy_are_numbers():
    assert wb.NWay(streams=np.int64(2), rx_antennas=np.array(2), qam=np.uint8(16), llr_clip=np.float32(8), order=np.array([1, 0])).ways == 2
    assert wb.mimo_rayleigh(SENT, rx_antennas=np.int8(3), seed=np.uint64(2 ** 63))[0].shape == (4, 3)
    assert wb.awgn(SENT, noise_var=np.float64(0), seed=1).tolist() == SENT.tolist()
    channel = wb.CdlChannel(antennas=2, delays_ns=np.array([0, 30]), powers_db=np.zeros(2, np.float32),
                            split=np.array([True, False]))
    assert channel.delays_ns == [0.0, 5.0, 10.0, 30.0]
    wanted = wb.exponential_correlation(antennas=2, correlation=0.5 + 0j)
    for half in (0.5, np.float32(0.5), np.complex64(0.5), np.array(0.5)):
        assert np.array_equal(wb.exponential_correlation(antennas=np.int64(2), correlation=half), wanted)
    assert wb.exponential_correlation(antennas=2, correlation=1).tolist() == [[1, 1], [1, 1]]
    assert wb.CrcAttacher(n=8, crc=(np.uint32(0x19B), np.int8(8))).degree == 8


@pytest.mark.parametrize("make, expected", [
    (lambda: wb.NWay(**{**MIMO, "qam": 8}), "qam = 8 is not allowed: expected 4, 16, 64 or 256"),
    (lambda: wb.NWay(**{**MIMO, "qam": 1024}), "qam = 1024 is not allowed: expected 4, 16, 64 or 256"),
    (lambda: wb.NWay(**{**MIMO, "qam": 2}), "qam = 2 is not allowed: expected 4, 16, 64 or 256"),
    (lambda: wb.mimo_rayleigh(SENT, rx_antennas=0, seed=1), "rx_antennas = 0 is not allowed: expected 1 to 512"),
    (lambda: wb.mimo_rayleigh(SENT, rx_antennas=-1, seed=1), "rx_antennas = -1 is not allowed: expected 1 to 512"),
    (lambda: wb.mimo_rayleigh(SENT, rx_antennas=513, seed=1), "rx_antennas = 513 is not allowed: expected 1 to 512"),
    (lambda: wb.mimo_rayleigh(SENT, rx_antennas=2.0, seed=1), "rx_antennas = 2.0 is not allowed: expected an integer from 1 to 512"),
    (lambda: wb.mimo_rayleigh(np.ones((4, 65), np.complex64), rx_antennas=1, seed=1),
     "sent = shape (4, 65) is not allowed: expected a last axis of 1 to 64 streams"),
    (lambda: wb.TdlChannel().response(blocks=-1, seed=1), "blocks = -1 is not allowed: expected 0 to 2147483647"),
    (lambda: wb.rayleigh(SENT[:2], seed=1, block=3), "sent = shape (2, 2) is not allowed: expected a multiple of block = 3 numbers"),
    (lambda: wb.rayleigh(SENT[:, 0], seed=1, block=2, strict=True), "sent = strided is not allowed: expected contiguous symbols for block fading"),
    (lambda: wb.TurboDecoder(k=40, early_stop="crc"), "crc = None is not allowed: expected the name of a CRC or "
     '(polynomial, degree) with early_stop = "crc"'),
    (lambda: wb.TurboDecoder(k=40, precision="bfloat16", early_stop="sign-agreement"),
     'early_stop = "sign-agreement" is not allowed: expected "none" or "crc" with precision bfloat16'),
    (lambda: wb.TurboDecoder(k=40, early_stop="crc", crc=(1 << 25, 25)),
     "crc = (33554432, 25) is not allowed: expected a degree that is 1 to 24"),
    (lambda: wb.TurboDecoder(k=40, early_stop="crc", crc=(2 ** 40, 24)),
     f"crc = (1099511627776, 24) is not allowed: expected {CRCS}"),
    (lambda: wb.CrcAttacher(n=8, crc=(7, 3)),
     "crc = (7, 3) is not allowed: expected a polynomial that is one of degree 3, written with its leading term"),
    (lambda: wb.CrcAttacher(n=8, crc=(7, -1)), f"crc = (7, -1) is not allowed: expected {CRCS}"),
    (lambda: wb.TdlChannel(delays_ns=[-1], powers_db=[0]), "delays_ns = -1.0 is not allowed: expected 1 to 64 numbers from 0 to 1e9, together with powers_db"),
    (lambda: wb.TdlChannel(delays_ns=[0], powers_db=[900]),
     "powers_db = 900.0 is not allowed: expected as many numbers from -200 to 200 as delays_ns has"),
    (lambda: wb.TdlChannel(delays_ns=65 * [0], powers_db=65 * [0]), "delays_ns = 65 taps is not allowed: expected 1 to 64 taps"),
    (lambda: wb.CdlChannel(antennas=2, delays_ns=[-1], powers_db=[0]),
     "delays_ns = -1.0 is not allowed: expected 1 to 32 numbers from 0 to 1e9, together with powers_db"),
    (lambda: wb.CdlChannel(antennas=2, delays_ns=[0], powers_db=[900]),
     "powers_db = 900.0 is not allowed: expected as many numbers from -200 to 200 as delays_ns has"),
    (lambda: wb.CdlChannel(antennas=2, delays_ns=33 * [0], powers_db=33 * [0]),
     "delays_ns = 33 clusters is not allowed: expected 1 to 32 clusters"),
    (lambda: wb.CdlChannel(antennas=2).response(drops=-1, seed=1), "drops = -1 is not allowed: expected 0 to 2147483647"),
    (lambda: wb.KroneckerChannel(**ANTENNAS).response(channels=-1, seed=1),
     "channels = -1 is not allowed: expected 0 to 2147483647"),
    (lambda: wb.ViterbiDecoder(code=wb.conv_lte(), k=1), "k = 1 is not allowed: expected 6 to 65536"),
    (lambda: wb.ViterbiDecoder(code=wb.conv_lte(), k=65537), "k = 65537 is not allowed: expected an integer from 1, of tail-biting codes from K - 1, to 65536"),
    (lambda: wb.BcjrDecoder(code=wb.conv_lte(), k=5), "k = 5 is not allowed: expected 6 to 65536"),
    (lambda: wb.BcjrDecoder(code=wb.conv_80211(), k=0), "k = 0 is not allowed: expected an integer from 1, of tail-biting codes from K - 1, to 65536"),
])
def test_what_is_named(make, expected):
    assert message(make) == expected


SQUARE = np.array([[1, 0], [0, 1]])
OWN = {"delays_ns": [0.0], "powers_db": [0.0]}


@pytest.mark.parametrize("make, expected", [
    (lambda: wb.StbcDecoder(type="silver", qam=4, rx_antennas=2, v=SQUARE), 'v = given is not allowed: expected None with type = "silver"'),
    (lambda: wb.StbcEncoder(type="alamouti", qam=4, v=SQUARE), 'v = given is not allowed: expected None with type = "alamouti"'),
    (lambda: wb.TdlChannel(delay_spread_ns=1.0), 'delay_spread_ns = given is not allowed: expected none with profile = "epa"'),
    (lambda: wb.TdlChannel(profile="tdl-a", delay_spread_ns=0.0), "delay_spread_ns = 0.0 is not allowed: expected a number from 0.001"),
    (lambda: wb.TdlChannel(powers_db=[0.0]), "powers_db = given is not allowed: expected none without delays_ns"),
    (lambda: wb.TdlChannel(profile="eva", rician_k_db=3.0), "rician_k_db = given is not allowed: expected none without delays_ns"),
    (lambda: wb.TdlChannel(profile="epa", delays_ns=[0.0], powers_db=[0.0]), 'profile = "epa" is not allowed: expected none with delays_ns'),
    (lambda: wb.TdlChannel(delay_spread_ns=1.0, delays_ns=[0.0], powers_db=[0.0]),
     "delay_spread_ns = given is not allowed: expected none with delays_ns"),
    (lambda: wb.CdlChannel(antennas=2, profile="cdl-a", **OWN), 'profile = "cdl-a" is not allowed: expected none with delays_ns'),
    (lambda: wb.CdlChannel(antennas=2, delay_spread_ns=1.0, **OWN),
     "delay_spread_ns = given is not allowed: expected none with delays_ns"),
    (lambda: wb.CdlChannel(antennas=2, profile="c2-nlos", delay_spread_ns=100.0),
     'delay_spread_ns = given is not allowed: expected none with profile = "c2-nlos"'),
    (lambda: wb.CdlChannel(antennas=2, antenna_spacing_m=0.1, antenna_spacing_wavelengths=0.5),
     "antenna_spacing_wavelengths = given is not allowed: expected none with antenna_spacing_m"),
    *((lambda name=name: wb.CdlChannel(antennas=2, **{name: [0.0]}),
       f"{name} = given is not allowed: expected none without delays_ns")
      for name in ("powers_db", "aod_deg", "aoa_deg", "zod_deg", "zoa_deg")),
    (lambda: wb.CdlChannel(antennas=2, split=[False]), "split = given is not allowed: expected none without delays_ns"),
    *((lambda name=name: wb.CdlChannel(antennas=2, **{name: 0.0}),
       f"{name} = given is not allowed: expected none without delays_ns")
      for name in ("asd_deg", "asa_deg", "zsd_deg", "zsa_deg", "rician_k_db")),
])
def test_what_would_be_ignored(make, expected):
    assert message(make).startswith(expected)


def test_profiles_that_are_not_named():
    assert wb.TdlChannel().delays_ns == wb.TdlChannel(profile="epa").delays_ns
    assert wb.TdlChannel(profile="tdl-b").delays_ns == wb.TdlChannel(profile="tdl-b", delay_spread_ns=100).delays_ns
    assert wb.TdlChannel(delays_ns=[0, 30], powers_db=[0, -3]).delays_ns == [0.0, 30.0]
    made = {"antennas": 4, "subcarriers": 12}
    usual, named = wb.CdlChannel(**made), wb.CdlChannel(**made, profile="cdl-a", delay_spread_ns=100, antenna_spacing_wavelengths=0.5)
    assert usual.delays_ns == named.delays_ns
    assert np.array_equal(usual.response(drops=2, seed=1), named.response(drops=2, seed=1))
    together = wb.CdlChannel(**made, antenna_spacing_wavelengths=0).response(drops=2, seed=1)
    assert np.array_equal(together[..., :1, :].repeat(4, -2), together)
    none = wb.CdlChannel(**made, **OWN).response(drops=2, seed=1)
    zeros = wb.CdlChannel(**made, **OWN, asd_deg=0, asa_deg=0, zsd_deg=0, zsa_deg=0)
    assert np.array_equal(zeros.response(drops=2, seed=1), none)
    assert not np.array_equal(wb.CdlChannel(**made, **OWN, asd_deg=5).response(drops=2, seed=1), none)


def test_the_ends_of_ranges():
    assert wb.mimo_rayleigh(np.ones((1, 64), np.complex64), rx_antennas=512, seed=1)[1].shape == (1, 512, 64)
    assert wb.ViterbiDecoder(code=wb.conv_lte(), k=6).n == 18 and wb.BcjrDecoder(code=wb.conv_80211(), k=65536).n == 2 * 65542
    assert wb.TdlChannel(subcarriers=12).response(blocks=0, seed=1).shape == (0, 14, 12, 1, 1)
