"""Public attributes of every class: none can be set, deleted or changed in place, and the object stays what it was."""
import inspect

import numpy as np
import pytest

import warpband as wb
from bler_file import bler_tables

MIMO = {"streams": 2, "rx_antennas": 2, "qam": 4}
MASSIVE = {"antennas": 4, "users": 2}
LDPC, CONV, PUSCH = wb.wifi_ldpc(n=648), wb.conv_80211(), wb.NrSharedChannel(resource_blocks=5)
SPARSE = wb.ParityCheckMatrix(matrix=[[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1]])
WIMAX = wb.WimaxFrame(profile="mobile_128", code={"type": "conv", "k": 60})
SCENARIO = {"code": {"type": "none", "k": 10}, "sweep": {"ebn0_db": [0.0]}, "stop": {"max_frames": 2}}


def objects():
    """One of every public class."""
    detectors = [kind(**MIMO) for kind in (wb.ML, wb.MatchedFilter, wb.ZeroForcing, wb.MMSE, wb.OnePassTrellis, wb.MultiPassTrellis, wb.KBest, wb.NWay, wb.Sphere,
                                           wb.PIC, wb.EP)]
    codes = [LDPC, CONV, wb.LdpcEncoder(code=LDPC), wb.LdpcDecoder(code=LDPC), SPARSE, wb.SparseLdpcEncoder(matrix=SPARSE), wb.SparseLdpcDecoder(matrix=SPARSE), wb.BpOsd(pcm=SPARSE), wb.BchEncoder(field_degree=4, corrects=2, n=15), wb.BchDecoder(field_degree=4, corrects=2, n=15),
             wb.ConvEncoder(code=CONV, k=10), wb.ViterbiDecoder(code=CONV, k=10),
             wb.BcjrDecoder(code=CONV, k=10), wb.TurboEncoder(k=40), wb.TurboDecoder(k=40), wb.CtcEncoder(k=48), wb.CtcDecoder(k=48), wb.PolarEncoder(kind="uci", k=20, coded_bits=60),
             wb.PolarDecoder(kind="uci", k=20, coded_bits=60), wb.ShortBlockEncoder(k=4, coded_bits=20), wb.ShortBlockDecoder(k=4, coded_bits=20), wb.CrcAttacher(n=8),
             *(kind(base_graph=2, lifting_size=2, sent_bits=60) for kind in (wb.LdpcBlockEncoder, wb.LdpcBlockDecoder)),
             *(kind(k=40) for kind in (wb.TurboBlockEncoder, wb.TurboBlockDecoder))]
    transport = [wb.LteRateMatcher(k=40, sent_bits=100), wb.NrRateMatcher(k=40, sent_bits=70, base_graph=2),
                 *(kind(transport_bits=40, coded_bits=132) for kind in (wb.LteTransportEncoder, wb.LteTransportDecoder, wb.NrTransportEncoder,
                                                                        wb.NrTransportDecoder)),
                 *(kind(transport_bits=32, coded_bits=96) for kind in (wb.CtcTransportEncoder, wb.CtcTransportDecoder)),
                 wb.lte_segmentation(transport_bits=40), wb.nr_segmentation(transport_bits=40, base_graph=2), wb.nr_mcs(table=1, index=3)]
    slots = [PUSCH, wb.ChannelEstimator(channel=PUSCH), wb.NoiseEstimator(channel=PUSCH), wb.NrSrs(), wb.SrsEstimator(srs=wb.NrSrs()), wb.PuschUci(channel=PUSCH, ack_bits=1), wb.nr_reference_channel(name="G-FR1-A4-14")]
    others = [bler_tables(), wb.QamMapper(qam=4), wb.Demapper(qam=4), wb.Constellation(type="8psk"), wb.StbcEncoder(type="golden", qam=4), wb.StbcDecoder(type="golden", qam=4, rx_antennas=2),
              wb.MassiveUplink(**MASSIVE, qam=4), wb.MassiveSoftUplink(**MASSIVE, qam=4), wb.ClusteredUplink(**MASSIVE, qam=4, clusters=2),
              wb.MassiveDownlink(**MASSIVE), wb.ClusteredDownlink(**MASSIVE, clusters=2), wb.OfdmNumerology(), wb.OfdmModulator(), wb.OfdmDemodulator(),
              wb.PrachGenerator(), wb.PrachDetector(), wb.PucchGenerator(), wb.PucchDetector(), wb.CellSearch(), wb.CellSearchResult([], np.zeros(1, np.int64)), wb.NrFoundBlock(0, 0, 0.0, 0.0, 0.0, 0.0),
              wb.PbchEncoder(), wb.PbchDecoder(), wb.NrSsbContent(), wb.NrPbchBlock(False, True, None, np.zeros(32, np.uint8), 0, -40.0, 0.0, 0.0),
              wb.NrDownlink(), wb.NrDownlinkResult([], []), wb.NrMessage(0, 0, 0, 0, 0.0, 24, 4, 0, 0.0, 0.0, np.zeros(37, np.uint8), False, np.zeros(8, np.uint8)),
              wb.PdcchEncoder(), wb.PdcchDecoder(), wb.PdcchSearch(), wb.NrDciFormat(), wb.NrPdcchFound(0, 4, 0, np.zeros(39, np.uint8), 0.0, 0.0), wb.NrSiDci(), wb.NrCoreset0(24, 2, 0), wb.NrType0Occasion(0, 0, 0),
              wb.NrPdcchResult(0, 0, False, True, np.zeros(39, np.uint8), 0.0, -40.0, 0.0, 0.0),
              wb.TdlChannel(), wb.Impairments(), wb.CdlChannel(**MASSIVE), wb.KroneckerChannel(streams=2, rx_antennas=2),
              wb.Csi(np.zeros(2), np.zeros(2), "plain", 0.0, 0.0), wb.ExitChart(*map(np.zeros, [2] * 5)), wb.Progress("", 0.0, 0, 1, 1, 0, 0, 0.0, True), wb.ChoiceProgress(0, 0, "mmse", "none", 0),
              wb.Frames(1, 0, 1, 1, 2, 2), wb.choose(SCENARIO, fer=0.3, width_db=1),
              wb.IterativeReceiver(detector=wb.PIC(**MIMO), decoder=wb.LdpcDecoder(code=LDPC, iterations=2)), wb.cpu(threads=1),
              WIMAX, WIMAX.bursts[0]]
    with wb.Stream(stage=wb.MMSE(**MIMO), most_items=4) as stream:
        ticket = stream.push(np.ones((4, 2, 2)), np.ones((4, 2)), 0.1)
        stream.drain()
        streamed = [stream, ticket, ticket.frame(), stream.stats(), stream.stats().latency]
    result = wb.sweep(SCENARIO)
    return [*detectors, *codes, *transport, *slots, *others, *streamed, result, result.curves[0]]


OBJECTS = objects()


def test_every_class_is_tried():
    classes = {name for name in wb.__all__ if inspect.isclass(getattr(wb, name))} - {"Array", "Executor", "FrameDropped"}
    assert classes - {type(made).__name__ for made in OBJECTS} == set()


def state(made):
    """Public attributes that are values, as they are shown."""
    names = [name for name in dir(made) if not name.startswith("_")]
    return {name: repr(value) for name in names if not callable(value := getattr(made, name)) or isinstance(value, type)}


@pytest.mark.parametrize("made", OBJECTS, ids=[type(made).__name__ for made in OBJECTS])
def test_no_attribute_can_be_changed(made):
    before = repr(made), state(made)
    for name in [name for name in dir(made) if not name.startswith("_")] + ["no_such_attribute"]:
        for value in (None, 0, -1, "x", [1]):
            with pytest.raises(AttributeError):
                setattr(made, name, value)
        with pytest.raises(AttributeError):
            delattr(made, name)
    for name in before[1]:
        value = getattr(made, name)
        if isinstance(value, np.ndarray) and not isinstance(made, tuple):
            try:
                value[...] = 0
            except ValueError:
                pass
        elif isinstance(value, (list, dict)) and not isinstance(made, tuple):
            value.clear()
    assert (repr(made), state(made)) == before


@pytest.mark.parametrize("made", [made for made in OBJECTS if hasattr(made, "_given")], ids=lambda made: type(made).__name__)
def test_an_object_is_made_once(made):
    before = repr(made), state(made)
    with pytest.raises(TypeError, match=f"^{type(made).__name__}: an object is made once"):
        made.__init__(**made._given)
    assert (repr(made), state(made)) == before


def test_a_subclass_has_attributes_of_its_own():
    class Counted(wb.MMSE):
        def __init__(self, **settings):
            super().__init__(**settings)
            self.calls = 0

        def __call__(self, *arrays, **more):
            self.calls += 1
            return super().__call__(*arrays, **more)

    made = Counted(**MIMO)
    made(np.ones((4, 2, 2)), np.ones((4, 2)), 0.1)
    assert made.calls == 1
    for name in ("llr_sign", "bits_per_use", "streams", "type"):
        with pytest.raises(AttributeError, match=f"^MMSE.{name} cannot be changed: make another MMSE$"):
            setattr(made, name, None)


def test_a_result_does_not_change_with_what_it_was_made_of_or_gives():
    content = wb.sweep(SCENARIO).to_dict()
    result = wb.SweepResult(content)
    before = result.to_json()
    content["curves"].clear()
    result.curves[0].points.clear()
    result.curves[0].config["code"]["k"] = 5
    result.rows()[0].clear()
    result.to_dict().clear()
    assert result.to_json() == before
