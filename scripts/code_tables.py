"""Tables of the LDPC and convolutional decoders for scripts/performance_report.py: targets of the project and results of peers.
Peers were measured by running those programs on machines of the same kind (an H100; one thread of an AVX-512 core).
"""
from reproduce.records import table, three

# Axes of a benchmark, its target in information Mb/s and where that comes from; device-resident on an H100, one CPU thread.
HALF = {"code": "wimax", "n": 2304, "rate": "1_2", "schedule": "layered", "early_stop": "no"}
MIN_SUM = {**HALF, "algorithm": "normalised_min_sum", "iterations": 15}
H100 = [("WiMAX LDPC 2304 rate 1/2, 15 layered iterations, float16", "ldpc", {**MIN_SUM, "precision": "float16"}, 24000,
         "project; cuPHY's open LDPC kernel makes 1.85e12 edge updates a second, here 95 an information bit: 19500")]
CORE = [("WiMAX LDPC 2304 rate 1/2, 15 layered iterations, int8", "ldpc", {**MIN_SUM, "precision": "int8"}, 152,
         "1.2 x AFF3CT int8 at its best, 127"),
        ("the same, float32", "ldpc", {**MIN_SUM, "precision": "float32"}, 64, "1.5 x AFF3CT float at its best, 43"),
        ("the same, sum-product, 20 iterations", "ldpc",
         {**HALF, "algorithm": "sum_product", "iterations": 20, "precision": "float32"}, None, "AFF3CT: 2.5"),
        ("Viterbi K = 7, rate 1/3, k = 1024", "viterbi", {"K": 7, "code": "133,171,165", "k": 1024}, 162,
         "2 x srsRAN at its best, 81"),
        ("BCJR K = 7, rate 1/2, k = 1024, max-log-MAP", "bcjr", {"K": 7, "code": "133,171", "k": 1024, "map": "max_log_map"}, 26,
         "20 x AFF3CT, 1.3")]
EDGES = 76 * 96 * 15 / 1152  # updates an information bit of WiMAX 2304 rate 1/2 takes in 15 iterations


def find(bs, op, axes):
    for figure in ("kernel", "resident"):
        for b in bs:
            if b["op"] == op and b["figure"] == figure and {k: str(v) for k, v in b["axes"].items()} == {
                    k: str(v) for k, v in axes.items()}:
                return b
    return None


def target_table(bs, rows, title):
    lines = []
    for name, op, axes, target, source in rows:
        b = find(bs, op, axes)
        if b is not None:
            met = "-" if target is None else f"{target}{', met' if b['mbps'] >= target else ''}"
            lines.append([name, three(b["mbps"]), met, source])
    return [title, ""] + table(["", "Mb/s", "target", "beside"], lines) if lines else []


def precision_table(bs):
    """Decoders of one code by precision, with and without early stop."""
    lines = []
    for code, n, rate in (("wimax", 2304, "1_2"), ("wimax", 2304, "5_6"), ("wimax", 576, "5_6"), ("wifi", 1944, "1_2")):
        for algorithm, iterations, precisions in (("normalised_min_sum", 15, ("float32", "float16", "int8")),
                                                  ("sum_product", 20, ("float32",))):
            for precision in precisions:
                axes = {"code": code, "n": n, "rate": rate, "algorithm": algorithm, "precision": precision,
                        "schedule": "layered", "iterations": iterations}
                pair = [find(bs, "ldpc", {**axes, "early_stop": stop}) for stop in ("no", "yes")]
                if pair[0] is None or pair[1] is None:
                    continue
                lines.append([f"{code} {n} {rate.replace('_', '/')}", f"{algorithm.replace('_', '-')}, {iterations}", precision]
                             + [three(b["mbps"]) for b in pair])
    head = ["code", "algorithm, iterations", "precision", "all iterations", "early stop"]
    return ["LDPC, information Mb/s, data in place; early stop at an Eb/N0 where less than one frame in a hundred fails:",
            ""] + table(head, lines) if lines else []


def code_tables(bs):
    """What the decoders reach beside targets; then what is left for the general tables: everything."""
    gpu = any(b["device"].startswith("cuda") for b in bs)
    one = [b for b in bs if gpu or ", 1 thread" in b["description"]]
    title = ("LDPC and convolutional codes beside the targets of the project, data in place:" if gpu else
             "LDPC and convolutional codes beside the targets of the project, one thread:")
    return target_table(one, H100 if gpu else CORE, title) + precision_table(one)
