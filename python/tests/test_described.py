"""Keywords come from the library's lists: signatures, docstrings, attributes, stubs; and objects are shown, copied and pickled by them."""
import copy
import doctest
import inspect
import operator
import pathlib
import pickle
import re

import numpy as np
import pytest

import warpband as wb
from warpband import _core

LISTED = sorted(_core.keywords)


@pytest.mark.parametrize("name", LISTED)
def test_what_the_library_lists_is_a_keyword_with_its_meaning(name):
    kind = getattr(wb, name)
    parameters = inspect.signature(kind).parameters
    stub = (pathlib.Path(wb.__file__).parent / "_keywords.pyi").read_text()
    fields = re.search(rf"^class {name}Keywords\(.*?(?=^class|\Z)", stub, re.M | re.S)[0]
    for keyword, annotation, default, allowed, text in _core.keywords[name]:
        assert parameters[keyword].kind is inspect.Parameter.KEYWORD_ONLY and parameters[keyword].annotation == annotation
        assert parameters[keyword].default == (inspect.Parameter.empty if default is ... else default), keyword
        assert f" {keyword}: {allowed}. {text}" in " ".join(kind.__doc__.split()), keyword
        assert isinstance(getattr(kind, keyword), property) and getattr(kind, keyword).__doc__
        assert re.search(rf"^    {keyword}: (Required\[)?{re.escape(annotation)}\]?$", fields, re.M), keyword
    assert "{settings}" not in kind.__doc__ and "settings" not in parameters


def test_choices_are_literal_types():
    """Of words; a type checker then names a wrong one."""
    annotations = {(name, keyword): annotation for name in LISTED for keyword, annotation, _, _, _ in _core.keywords[name]}
    assert annotations["NWay", "sort"] == 'Literal["none", "norm", "norm-ascending", "sqrd", "fsd"] | None'
    assert annotations["KBest", "sort"] == 'Literal["none", "norm", "norm-ascending", "sqrd"] | None'
    assert annotations["NWay", "ways"] == 'int | Literal["auto"] | None'
    assert annotations["PIC", "demapper"] == 'Literal["max-log", "exact"] | None'
    assert annotations["PIC", "llr_clip"] == 'float | Literal["none"] | None'
    stub = (pathlib.Path(wb.__file__).parent / "_keywords.pyi").read_text()
    assert "from typing import Literal, Sequence" in stub
    for (name, keyword), annotation in annotations.items():
        for words in re.findall(r"Literal\[(.*?)\]", annotation):
            assert all(re.fullmatch(r'"[^"]+"', word) for word in words.split(", ")), (name, keyword)


DETECTORS = (wb.ML, wb.MatchedFilter, wb.ZeroForcing, wb.MMSE, wb.OnePassTrellis, wb.MultiPassTrellis, wb.KBest, wb.NWay, wb.Sphere, wb.PIC, wb.EP)


@pytest.mark.parametrize("kind", DETECTORS, ids=lambda kind: kind.__name__)
def test_help_of_a_detector_speaks_of_it_alone(kind):
    others = {other.__name__ for other in DETECTORS if other is not kind} | {other.type for other in DETECTORS if other is not kind}
    texts = [kind.__doc__.partition("\n\n")[2], *(vars(kind)[name].__doc__ or "" for name in vars(kind) if isinstance(vars(kind)[name], property)),
             kind.__call__.__doc__]
    named = {word for text in texts for word in re.findall(r"\w+", text) if word in others - {"ML", "MMSE", "ml", "mmse", "ep", "pic"}}
    assert not named
    assert not re.search(r"with (pic|ep)\b|all but", kind.__doc__)


LDPC, CONV = wb.wifi_ldpc(n=648), wb.conv_80211(rate="3/4")
SPARSE = wb.ParityCheckMatrix(matrix=[[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1]])
MADE = [
    (wb.LdpcEncoder, {"code": LDPC}), (wb.LdpcDecoder, {"code": LDPC, "iterations": 20, "algorithm": "min-sum"}),
    (wb.SparseLdpcEncoder, {"matrix": SPARSE}), (wb.SparseLdpcDecoder, {"matrix": SPARSE, "iterations": 50, "schedule": "flooding"}),
    (wb.BchEncoder, {"field_degree": 5, "corrects": 2, "n": 30}), (wb.BchDecoder, {"field_degree": 5, "corrects": 3, "n": 31}),
    (wb.BpOsd, {"pcm": SPARSE, "error_rate": 0.1, "osd_method": "osd-cs", "osd_order": 2}),
    (wb.TurboEncoder, {"k": 40}), (wb.TurboDecoder, {"k": 40, "precision": "bfloat16", "llr_sign": "p1/p0"}),
    (wb.ConvEncoder, {"code": CONV, "k": 60}), (wb.ViterbiDecoder, {"code": wb.conv_lte(), "k": 60, "overlap": 10}),
    (wb.BcjrDecoder, {"code": CONV, "k": 60, "algorithm": "max-log-map"}), (wb.CrcAttacher, {"n": 8, "crc": "crc8"}),
    (wb.LteTransportEncoder, {"transport_bits": 40, "coded_bits": 120}),
    (wb.LteTransportDecoder, {"transport_bits": 40, "coded_bits": 120, "iterations": 3}),
    (wb.NrTransportEncoder, {"transport_bits": 40, "coded_bits": 120, "scrambling": 5}),
    (wb.NrTransportDecoder, {"transport_bits": 40, "coded_bits": 120, "iterations": 3, "precision": "int8"}),
    (wb.NrRateMatcher, {"k": 40, "sent_bits": 70, "base_graph": 2}),
    (wb.PolarEncoder, {"k": 40, "coded_bits": 120, "kind": "dci", "rnti": 9}),
    (wb.PolarDecoder, {"k": 40, "coded_bits": 120, "list_size": 4, "algorithm": "sum-product"}),
    (wb.LteRateMatcher, {"k": 40, "sent_bits": 70, "fillers": 3}), (wb.QamMapper, {"qam": 16}),
    (wb.Demapper, {"qam": 16, "algorithm": "exact"}), (wb.Constellation, {"type": "16apsk", "ring_ratios": (2.7,), "algorithm": "exact"}),
    (wb.Constellation, {"points": (1 + 0j, 1j, -1 + 0j, -1 + 1j), "labels": (0, 1, 3, 2)}), (wb.OfdmModulator, {"numerology": wb.OfdmNumerology(fft_size=1024)}),
    (wb.OfdmDemodulator, {"first_symbol": 3, "symbols": 20}), (wb.CellSearch, {"sample_rate_hz": 3.84e6, "max_cfo_hz": 5e3}),
    (wb.PbchEncoder, {"l_max": 4}), (wb.PbchDecoder, {"l_max": 64, "list_size": 16, "hypotheses": 2}),
    (wb.PucchGenerator, {"format": 1, "symbols": 14, "occ": 2}), (wb.PucchDetector, {"format": 2, "prbs": 2, "bits": 5, "antennas": 2}),
    (wb.NrDownlink, {"sample_rate_hz": 15.36e6, "l_max": 8}), (wb.PdcchEncoder, {"level": 8, "dci_bits": 40}), (wb.PdcchSearch, {"sizes": (39, 45), "coreset_id": 1}),
    (wb.PdcchDecoder, {"blocks": 24, "symbols": 2, "level": 8, "list_size": 16}),
    (wb.PrachGenerator, {"format": "A1", "spacing_khz": 30}), (wb.PrachDetector, {"format": "B4", "antennas": 2}),
    (wb.Impairments, {"cfo_hz": 100.0, "converter_bits": 10}), (wb.TdlChannel, {"profile": "eva", "subcarriers": 12}), (wb.CdlChannel, {"antennas": 4, "users": 2}),
    (wb.TdlChannel, {"delays_ns": [0.0, 30.0], "powers_db": (0.0, -3.0), "rician_k_db": 3.0}),
    (wb.CdlChannel, {"antennas": 2, "delays_ns": [0.0, 30.0], "powers_db": (0.0, -3.0), "split": (0, 0), "asd_deg": 2.0}),
    (wb.KroneckerChannel, {"streams": 2, "rx_antennas": 3}), (wb.StbcEncoder, {"type": "golden", "qam": 4}),
    (wb.StbcDecoder, {"type": "golden", "qam": 4, "rx_antennas": 2, "llr_clip": 20.0}),
    (wb.MassiveUplink, {"antennas": 16, "users": 4, "qam": 16, "solver": "cg", "iterations": 3}),
    (wb.MassiveDownlink, {"antennas": 16, "users": 4, "symbol_energy": 2.0}),
    (wb.ClusteredUplink, {"antennas": 16, "users": 4, "qam": 16, "clusters": 4, "cluster_method": "local-mmse"}),
    (wb.ClusteredDownlink, {"antennas": 16, "users": 4, "solver": "cg", "iterations": 3, "clusters": 2, "cluster_method": "cg"}),
    (wb.MassiveSoftUplink, {"antennas": 16, "users": 4, "qam": 16, "llr_clip": 30.0, "extrinsic": True}),
    *((kind, {"streams": 2, "rx_antennas": 3, "qam": 16, "llr_clip": 9.0}) for kind in (
        wb.ML, wb.MatchedFilter, wb.ZeroForcing, wb.MMSE, wb.OnePassTrellis, wb.MultiPassTrellis)),
    (wb.KBest, {"streams": 2, "rx_antennas": 3, "qam": 16, "survivors": 8, "real_valued": True}),
    (wb.NWay, {"streams": 2, "rx_antennas": 3, "qam": 16, "ways": 1, "order": (1, 0)}),
    (wb.NWay, {"streams": 2, "rx_antennas": 3, "qam": 16, "spread": (2, 16), "sort": "fsd"}),
    (wb.Sphere, {"streams": 2, "rx_antennas": 3, "qam": 16, "radius": 5.0, "node_limit": 90}),
    (wb.IterativeReceiver, {"detector": wb.ML(streams=2, rx_antennas=2, qam=4), "decoder": wb.LdpcDecoder(code=LDPC, iterations=5),
                            "outer": 3, "scaling": 0.75, "interleaver": "random"}),
    (wb.WimaxFrame, {"profile": "mobile_128", "modulations": ("qpsk", "16qam"), "map_repetition": 4, "code": {"type": "conv", "k": 60}}),
    (wb.PIC, {"streams": 9, "rx_antennas": 12, "qam": 16, "demapper": "exact", "extrinsic": True}),
    (wb.EP, {"streams": 2, "rx_antennas": 3, "qam": 16, "iterations": 3, "damping": 0.5, "start_variance": 1.0}),
]


@pytest.mark.parametrize("kind, settings", MADE, ids=[kind.__name__ for kind, _ in MADE])
def test_objects_are_shown_copied_and_pickled_by_their_settings(kind, settings):
    made = kind(**settings, executor=wb.cpu(threads=1))
    for same in (made, copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(same) is kind
        assert all(f"{name}={value!r}" in repr(same) for name, value in settings.items()), repr(same)
        assert same._executor.description == made._executor.description
        for name, *_ in _core.keywords.get(kind.__name__, ()):
            assert getattr(same, name) == getattr(made, name)
            if name in settings:
                assert getattr(same, name) == settings[name]


@pytest.mark.parametrize("kind, settings", MADE, ids=[kind.__name__ for kind, _ in MADE])
def test_none_leaves_a_keyword_out(kind, settings):
    nothing = {name: None for name, _, default, *_ in _core.keywords.get(kind.__name__, ()) if default is not ... and name not in settings}
    made, same = kind(**settings), kind(**settings, **nothing)
    assert repr(same) == repr(made)
    assert all(getattr(same, name) == getattr(made, name) for name in nothing)


def test_none_is_no_value_of_what_must_be_given():
    for make, name in ((lambda: wb.NWay(streams=None, rx_antennas=2, qam=4), "streams"), (lambda: wb.QamMapper(qam=None), "qam")):
        with pytest.raises(ValueError, match=f"^{name} = None is not allowed: "):
            make()


def test_none_leaves_arguments_of_functions_out(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("# z = 4\n0,1,0,-1\n1,0,0,0\n")
    for make, name in ((wb.cpu, "threads"), (lambda **given: wb.read_ldpc(file, **given), "lifting_size")):
        assert repr(make(**{name: None})) == repr(make())
        with pytest.warns(FutureWarning, match=f"^{name} = 0 is now {name} = None$"):
            assert repr(make(**{name: 0})) == repr(make())


def test_a_copy_decodes_the_same(rng):
    llr = rng.normal(size=(5, 648)).astype(np.float32)
    decoder = wb.LdpcDecoder(code=LDPC, iterations=7, early_stop="none")
    assert repr(decoder) == "LdpcDecoder(code=LdpcCode(k=324, n=648, z=27), iterations=7, early_stop='none')"
    assert np.array_equal(pickle.loads(pickle.dumps(decoder))(llr, outputs="soft"), decoder(llr, outputs="soft"))
    code = pickle.loads(pickle.dumps(CONV))
    assert (code.sent, code.generators, code.termination) == (CONV.sent, CONV.generators, CONV.termination)


def test_what_has_no_executor_is_shown_copied_and_pickled_too():
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    with wb.Stream(stage=detector, most_items=10) as stream:
        ticket = stream.push(np.ones((10, 2, 2)), np.ones((10, 2)), 0.1, tag=1)
        stream.drain()
        counted = stream.stats()
    result = wb.sweep({"code": {"type": "none", "k": 100}, "sweep": {"ebn0_db": [0.0]}, "stop": {"max_frames": 10}})
    for made in (CONV, wb.ConvCode(generators=(5, 7), constraint_length=3, sent=[[1, 1], [1, 0]]), wb.OfdmNumerology(fft_size=1024), LDPC,
                 wb.lte_segmentation(transport_bits=100), wb.Csi(np.ones(2), np.zeros(2), "plain", 0.0, 0.0), wb.cpu(threads=1), result,
                 result.curves[0], counted, counted.latency, ticket.frame(),
                 wb.FrameDropped("frame 1 was dropped")):
        for same in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert type(same) is type(made) and repr(same) == repr(made) and "object at" not in repr(made)
    assert repr(stream) == "Stream(stage=MMSE(streams=2, rx_antennas=2, qam=4), most_items=10)"
    for held in (stream, ticket):
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=f"^a {type(held).__name__} .* neither copied nor pickled"):
                duplicate(held)


def test_codes_and_numerologies_by_the_librarys_lists():
    code = wb.ConvCode(generators=[0o5, 0o7], constraint_length=3, sent=[[1, 1], (True, 0)], order="STREAMS")
    assert (code.generators, code.sent, code.order, code.feedback) == ([5, 7], [[1, 1], [1, 0]], "streams", None)
    assert repr(wb.conv_lte()) == ("ConvCode(constraint_length=7, generators=(0o133, 0o171, 0o165), termination='tail-biting', "
                                   "order='streams')")
    with pytest.raises(ValueError, match="^termination = .* expected zero_tail or truncated with feedback"):
        wb.ConvCode(constraint_length=3, generators=(7, 5), feedback=7, termination="tail-biting")
    lte = wb.lte_numerology(bandwidth_mhz=10)
    assert lte == wb.OfdmNumerology(fft_size=1024, subcarriers=600, cyclic_prefix=72, first_cyclic_prefix=80) and lte != wb.OfdmNumerology()
    assert len({lte, wb.lte_numerology(bandwidth_mhz=10)}) == 1


def test_own_delays_take_the_profiles_place():
    named, custom = wb.TdlChannel(profile="EVA"), wb.TdlChannel(delays_ns=[0, 30], powers_db=[0, -3])
    assert (named.profile, named.delay_spread_ns, custom.profile, custom.powers_db) == ("eva", None, None, (0.0, -3.0))
    assert wb.TdlChannel(profile="tdl-a", delay_spread_ns=None).delay_spread_ns == 100
    assert wb.CdlChannel(antennas=2, profile=None, delays_ns=[]).profile == "cdl-a"


def test_a_keyword_that_is_none():
    with pytest.raises(TypeError, match=r"^LdpcDecoder: got an unexpected keyword argument 'iteration'. Did you mean 'iterations'\?$"):
        wb.LdpcDecoder(code=LDPC, iteration=3)
    with pytest.raises(TypeError, match="^LteTransportEncoder: missing a required (keyword-only )?argument: 'coded_bits'$"):
        wb.LteTransportEncoder(transport_bits=40)
    with pytest.raises(AttributeError):  # it would change nothing
        wb.LdpcDecoder(code=LDPC).iterations = 3


def test_settings_as_they_may_be_written():
    decoder = wb.LdpcDecoder(code=LDPC, algorithm="Offset_Min_Sum", early_stop="syndrome", offset=np.float32(0.25), iterations=np.int8(3))
    assert (decoder.algorithm, decoder.early_stop, decoder.offset, decoder.iterations) == ("offset-min-sum", "syndrome", 0.25, 3)
    assert (wb.TurboDecoder(k=6144).windows, wb.TurboDecoder(k=6144, windows="auto", overlap=None).windows) == (192, 192)


CLASSES = [name for name in wb.__all__ if inspect.isclass(getattr(wb, name)) and name != "Array"]
FUNCTIONS = [name for name in wb.__all__ if inspect.isfunction(getattr(wb, name))]
FIGURES = ["plot.error_rates", "plot.exit_chart", "plot.latencies", "plot.save", "plot.throughput"]


@pytest.mark.parametrize("name", CLASSES + FUNCTIONS + FIGURES)
def test_the_example_of_every_class_and_function_runs(name):
    if name.startswith(("Ofdm", "Prach")) and not has_fft():
        pytest.skip("this build has no FFT for CPUs")
    if name.startswith("plot"):
        pytest.importorskip("matplotlib")
    finder = doctest.DocTestFinder(recurse=False)
    tests = finder.find(operator.attrgetter(name)(wb), name, module=False, globs={"wb": wb, "np": np})
    assert sum(len(test.examples) for test in tests) > 0, f"{name} has no example"
    output = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert sum(runner.run(test, out=output.append).failed for test in tests) == 0, "".join(output)


def has_fft():
    try:
        wb.OfdmModulator()(np.zeros((7, 300), np.complex64))
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize("kind, old, new, settings", [
    (wb.MassiveUplink, {"mode": "zf"}, {"solver": "zf"}, {"antennas": 8, "users": 2, "qam": 4}),
    (wb.MassiveDownlink, {"mode": "mf"}, {"solver": "mf"}, {"antennas": 8, "users": 2}),
    (wb.LdpcDecoder, {"int8_steps": 4}, {"llr_steps": 4}, {"code": LDPC, "precision": "int8"}),
    (wb.TurboDecoder, {"llr": "log_p1_p0"}, {"llr_sign": "p1/p0"}, {"k": 40}),
    (wb.Demapper, {"llr": "p1/p0"}, {"llr_sign": "p1/p0"}, {"qam": 4}),
    (wb.StbcEncoder, {"code": "golden"}, {"type": "golden"}, {"qam": 4}),
    (wb.StbcDecoder, {"code": "silver"}, {"type": "silver"}, {"qam": 4, "rx_antennas": 2}),
    (wb.CdlChannel, {"spacing_m": 0.1}, {"antenna_spacing_m": 0.1}, {"antennas": 2})])
def test_keywords_that_had_another_name(kind, old, new, settings):
    with pytest.warns(FutureWarning, match=rf"^{kind.__name__}: {next(iter(old))} is now called {next(iter(new))}$"):
        made = kind(**settings, **old)
    assert repr(made) == repr(kind(**settings, **new))
    with pytest.raises(TypeError, match=f"^{kind.__name__}: {next(iter(old))} and {next(iter(new))} say the same: expected one of them$"):
        kind(**settings, **old, **new)


@pytest.mark.parametrize("kind, name, old, settings", [
    (wb.TurboDecoder, "windows", 0, {"k": 40}), (wb.TurboDecoder, "overlap", np.int8(-1), {"k": 40}),
    (wb.LdpcDecoder, "llr_steps", float("inf"), {"code": LDPC, "precision": "int8"}), (wb.NWay, "ways", 0, {"streams": 2, "rx_antennas": 2, "qam": 4}),
    (wb.TdlChannel, "symbol_period_us", 0, {}), (wb.NrSharedChannel, "symbols", 0, {}), (wb.NrSharedChannel, "scrambling_id", -1, {})])
def test_values_that_stood_for_leaving_a_setting_out(kind, name, old, settings):
    assert inspect.signature(kind).parameters[name].default is None
    with pytest.warns(FutureWarning, match=rf"^{kind.__name__}: {name}=.* is now called {name}=None$"):
        made = kind(**settings, **{name: old})
    assert repr(made) == repr(kind(**settings)) and getattr(made, name) == getattr(kind(**settings, **{name: None}), name)


def test_zero_is_a_value_where_it_means_zero():
    assert wb.TurboDecoder(k=40, overlap=0).overlap == 0
    with pytest.raises(ValueError, match="^iterations = 0 is not allowed: expected an integer from 1 to 64$"):
        wb.MassiveUplink(antennas=8, users=2, qam=4, iterations=0)


@pytest.mark.parametrize("old, new", [(False, "none"), (True, "syndrome"), (np.bool_(False), "none")])
def test_words_of_values_that_were_another(old, new):
    with pytest.warns(FutureWarning, match=rf"^LdpcDecoder: early_stop={bool(old)} is now called early_stop='{new}'$"):
        made = wb.LdpcDecoder(code=LDPC, early_stop=old)
    assert made.early_stop == new and repr(made) == repr(wb.LdpcDecoder(code=LDPC, early_stop=new))


@pytest.mark.parametrize("old, kind", [("Pic", wb.PIC), ("Ep", wb.EP)])
def test_classes_that_had_another_name(old, kind):
    with pytest.warns(FutureWarning, match=f"^warpband.{old} is now called warpband.{kind.__name__}$"):
        assert getattr(wb, old) is kind
    assert old not in dir(wb) and old not in wb.__all__


def test_detectors_have_the_settings_of_their_type():
    detector = wb.NWay(streams=4, rx_antennas=4, qam=16, ways=2, order=np.array([3, 2, 1, 0]))
    assert (detector.ways, detector.order, detector.llr_clip, detector.extrinsic) == (2, (3, 2, 1, 0), 8.0, False)
    assert wb.ML(streams=2, rx_antennas=2, qam=4, llr_clip="none").llr_clip == float("inf")
    assert wb.ML(streams=2, rx_antennas=2, qam=4, llr_clip=None, extrinsic=True).llr_clip == float("inf")
    for kind, name in ((wb.MMSE, "survivors"), (wb.KBest, "ways"), (wb.ML, "order"), (wb.ZeroForcing, "extrinsic"),
                       (wb.PIC, "iterations"), (wb.EP, "order")):
        with pytest.raises(TypeError, match=f"got an unexpected keyword argument '{name}'"):
            kind(streams=2, rx_antennas=2, qam=4, **{name: 1})


def test_copies_keep_what_an_iterator_gave_and_what_the_caller_changes_later():
    """Each detects like the first: a list that is read once, or that changes, does not reach them."""
    for given in (iter([1, 0]), [1, 0], np.array([1, 0])):
        first = wb.NWay(streams=2, rx_antennas=2, qam=4, order=given)
        if not hasattr(given, "__next__"):
            given[:] = [0, 1]
        for again in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
            assert list(again.order) == list(first.order) == [1, 0]
    first = wb.NWay(streams=2, rx_antennas=2, qam=4, order=(i for i in (1, 0)))
    assert repr(pickle.loads(pickle.dumps(first))) == repr(first) == "NWay(streams=2, rx_antennas=2, qam=4, order=[1, 0])"
    with pytest.raises(ValueError, match="^order = {0, 1} is not allowed: expected a list, as a set has no order$"):
        wb.NWay(streams=2, rx_antennas=2, qam=4, order={1, 0})
