"""LDPC codes of any sparse matrix: matrices from arrays and files, encoder and decoder against H, syndromes, scenarios."""
import copy
import pickle

import numpy as np
import pytest

import warpband as wb

ONE = wb.cpu(threads=1)


def random_h(checks, n, weight, seed=1):
    rng = np.random.default_rng(seed)
    h = np.zeros((checks, n), np.uint8)
    for row in h:
        row[rng.choice(n, weight, replace=False)] = 1
    return h


def alist_of(h):
    columns, rows = [np.nonzero(c)[0] + 1 for c in h.T], [np.nonzero(r)[0] + 1 for r in h]
    lines = [f"{h.shape[1]} {h.shape[0]}", f"{max(map(len, columns))} {max(map(len, rows))}", " ".join(str(len(c)) for c in columns),
             " ".join(str(len(r)) for r in rows), *(" ".join(map(str, part)) for part in (*columns, *rows))]
    return "\n".join(lines) + "\n"


class Coordinates:
    """A matrix with what those of scipy.sparse have."""

    def __init__(self, h, twice=False):
        self.shape, (self.row, self.col) = h.shape, np.nonzero(h)
        self.data = np.ones(len(self.row), np.int8)
        if twice:
            self.row, self.col, self.data = (np.append(x, x[0]) for x in (self.row, self.col, self.data))

    def tocoo(self):
        return self


def test_matrices_of_arrays_files_and_scipy_are_the_same(tmp_path):
    h = random_h(30, 60, 5)
    (tmp_path / "own.alist").write_text(alist_of(h))
    made = [wb.ParityCheckMatrix(matrix=m) for m in (h, h.tolist(), h.astype(bool), Coordinates(h), tmp_path / "own.alist")]
    made += [copy.deepcopy(made[0]), pickle.loads(pickle.dumps(made[0]))]
    for m in made:
        assert m.rows == [np.nonzero(row)[0].tolist() for row in h]
        assert (m.n, m.checks, m.k, m.sent) == (60, 30, 60 - m.rank, 60)


def test_a_matrix_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    h = random_h(30, 60, 5)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
        assert wb.ParityCheckMatrix(matrix=kind(h)).rows == wb.ParityCheckMatrix(matrix=h).rows


@pytest.mark.parametrize("make, message", [
    (lambda: wb.ParityCheckMatrix(matrix=[[0, 2]]), "matrix = 2 is not allowed: expected entries of 0 and 1"),
    (lambda: wb.ParityCheckMatrix(matrix=[0, 1]), "matrix = "), (lambda: wb.ParityCheckMatrix(matrix=None), "matrix = "),
    (lambda: wb.ParityCheckMatrix(matrix=Coordinates(np.eye(3), twice=True)), "matrix = (0, 0) is not allowed: expected each entry once"),
    (lambda: wb.ParityCheckMatrix(matrix=np.eye(3), punctured=[3]), "punctured = 3 is not allowed: expected columns from 0 to 2"),
    (lambda: wb.ParityCheckMatrix(matrix=np.eye(3), punctured=[1], shortened=[1]), "shortened = 1"),
], ids=range(6))
def test_what_is_no_matrix_is_refused(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value).startswith(message)


def test_a_matrix_without_rows_or_columns_is_refused():
    for shape in ((0, 5), (3, 0)):
        with pytest.raises(ValueError, match="^matrix = "):
            wb.ParityCheckMatrix(matrix=np.zeros(shape))


def test_syndromes_are_those_of_the_batch():
    decode = wb.SparseLdpcDecoder(matrix=wb.ParityCheckMatrix(matrix=random_h(10, 20, 3)))
    with pytest.raises(ValueError, match="^syndrome = "):
        decode(np.ones((2, 3, 20)), syndrome=np.zeros((3, 2, 10), np.uint8))


def test_a_file_is_refused_with_its_line(tmp_path):
    (tmp_path / "bad.alist").write_text(alist_of(random_h(4, 8, 3)).replace("8 4", "8 four", 1))
    with pytest.raises(RuntimeError, match="line 1: \"four\" is no integer"):
        wb.ParityCheckMatrix(matrix=tmp_path / "bad.alist")


@pytest.mark.parametrize("unsent", [{}, {"punctured": [3, 50], "shortened": [0, 7]}], ids=["all", "some"])
def test_codewords_pass_all_checks_and_decode(unsent):
    h = random_h(40, 80, 5, seed=3)
    m = wb.ParityCheckMatrix(matrix=h, **unsent)
    bits = np.random.default_rng(4).integers(0, 2, (2, 9, m.k), dtype=np.uint8)
    coded = wb.SparseLdpcEncoder(matrix=m, executor=ONE)(bits)
    assert coded.shape == (2, 9, m.sent)
    for settings in ({}, {"algorithm": "sum-product", "schedule": "flooding"}):
        decode = wb.SparseLdpcDecoder(matrix=m, executor=ONE, iterations=50, **settings)
        word, status = decode(6 - 12.0 * coded, outputs=("word", "status"))
        assert (status == 2).all()
        assert not (word @ h.T % 2).any()
        assert np.array_equal(word[..., m.sent_columns], coded)
        assert np.array_equal(decode(6 - 12.0 * coded), bits)
        assert np.array_equal(np.unpackbits(decode(6 - 12.0 * coded, packed=True), axis=-1)[..., :m.k], bits)


def test_syndromes_give_the_errors_that_words_give():
    h = random_h(50, 100, 6, seed=5)
    m = wb.ParityCheckMatrix(matrix=h)
    rng = np.random.default_rng(6)
    coded = wb.SparseLdpcEncoder(matrix=m)(rng.integers(0, 2, (40, m.k), dtype=np.uint8))
    error = (rng.random(coded.shape) < 0.03).astype(np.uint8)
    received, prior = coded ^ error, float(np.log(0.97 / 0.03))
    syndrome = (error @ h.T % 2).astype(np.uint8)
    decode = wb.SparseLdpcDecoder(matrix=m, algorithm="sum-product", iterations=30)
    pattern, status = decode(np.full(coded.shape, prior), syndrome=syndrome, outputs=("word", "status"))
    word, same = decode(prior * (1 - 2.0 * received), outputs=("word", "status"))
    assert np.array_equal(status, same) and (status == 2).mean() > 0.5
    assert np.array_equal((pattern ^ received)[status == 2], word[status == 2])  # an LLR of 0 decides 0 in both, elsewhere
    assert np.array_equal((pattern @ h.T % 2)[status == 2], syndrome[status == 2])
    assert (pattern == error).all(axis=-1).mean() > 0.5


def test_bits_and_word_are_not_given_together():
    decode = wb.SparseLdpcDecoder(matrix=wb.ParityCheckMatrix(matrix=random_h(10, 20, 4)))
    with pytest.raises(ValueError, match="bits and word"):
        decode(np.ones(20), outputs=("bits", "word"))
    with pytest.raises(TypeError, match="expected a warpband.ParityCheckMatrix"):
        wb.SparseLdpcDecoder(matrix=np.eye(3))
    with pytest.raises(ValueError, match="syndrome"):
        decode(np.ones(20), syndrome=np.ones(9, np.uint8))


def test_a_scenario_has_a_matrix_of_a_file(tmp_path):
    (tmp_path / "own.alist").write_text(alist_of(random_h(60, 120, 5, seed=7)))
    scenario = {"code": {"type": "ldpc", "matrix": str(tmp_path / "own.alist"), "punctured": [4]},
                "decoder": {"algorithm": "sum-product", "iterations": 20}, "modem": {"modulation": "bpsk"}, "channel": {"type": "awgn"},
                "sweep": {"ebn0_db": [0.0, 8.0]}, "stop": {"max_frames": 400}}
    fer = wb.sweep(scenario)["fer"]
    assert fer[0] > 0.3 > 0.05 > fer[1]


@pytest.mark.parametrize("name, n, sent, k", [("ccsds/ar4ja-1024-2/3", 1792, 1536, 1024), ("ccsds/c2-8160", 8178, 8160, 7136),
                                              ("ccsds/tc-128", 128, 128, 64), ("dvb-s2/short-8/9", 16200, 16200, 14400)])
def test_matrices_of_standards_have_names(name, n, sent, k):
    h = wb.ParityCheckMatrix(matrix=name)
    assert (h.n, h.sent, h.k) == (n, sent, k)
    other = pickle.loads(pickle.dumps(h))
    bits = np.random.default_rng(1).integers(0, 2, (2, k), dtype=np.uint8)
    coded = wb.SparseLdpcEncoder(matrix=h, executor=ONE)(bits)
    assert (wb.SparseLdpcEncoder(matrix=other, executor=ONE)(bits) == coded).all()
    first = len(h.shortened)
    assert (h.information_columns == np.arange(first, first + k)).all()
    assert (wb.SparseLdpcDecoder(matrix=h, iterations=20, executor=ONE)(4 - 8.0 * coded) == bits).all()


def test_a_name_that_no_standard_has_is_refused():
    with pytest.raises(ValueError, match=r"^matrix = .*ccsds/tc-64.*expected .*ccsds/tc-128"):
        wb.ParityCheckMatrix(matrix="ccsds/tc-64")
