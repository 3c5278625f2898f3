"""Nearest neighbours: as brute force where exact, near to it where shortlisted, and never a row that is masked."""

from __future__ import annotations

import numpy as np
import pytest

from hermes_lance.core import ids
from hermes_lance.core.ids import source_hash
from hermes_lance.store import vectors
from hermes_lance.store.rows import DeadRows
from hermes_lance.store.vectors import VectorRows, sign_bits, write_vectors

DIMENSIONS = 128


def unit(matrix):
    return (matrix / np.linalg.norm(matrix, axis=-1, keepdims=True)).astype(np.float32)


def clustered(rows, *, seed=7, clusters=40, dimensions=DIMENSIONS):
    """Unit vectors around random centres, as texts on a few subjects would be."""
    random = np.random.default_rng(seed)
    centres = unit(random.normal(size=(clusters, dimensions)))
    noise = random.normal(size=(rows, dimensions)) * (0.7 / np.sqrt(dimensions))
    return unit(centres[random.integers(0, clusters, rows)] + noise).astype(np.float16)


def source_of(number):
    return ids.source_id("workspace", f"{number}.txt".encode())


def stored(folder, matrix, *, serials=None, sources=None, dead=(), parts=1):
    """The vectors on disk, in `parts` segments."""
    count = len(matrix)
    serials = np.arange(count, dtype=np.uint64) if serials is None else np.asarray(serials, dtype=np.uint64)
    sources = [0] * count if sources is None else sources
    hashes = np.array([source_hash(source_of(number)) for number in sources], dtype=np.uint64)
    keys = [ids.text_sha(str(number)) for number in range(count)]
    entries = []
    for number, part in enumerate(np.array_split(np.arange(count), parts)):
        path = folder / f"{number}.vectors"
        entries.append(write_vectors(path, matrix[part], serials[part], hashes[part], [keys[at] for at in part]))
    return VectorRows(folder, entries, DeadRows(dead))


def brute_force(matrix, query, limit, allowed=None):
    scores = matrix.astype(np.float32) @ query
    rows = np.arange(len(matrix)) if allowed is None else np.flatnonzero(allowed)
    return rows[np.argsort(-scores[rows], kind="stable")][:limit].tolist()


def serials_of(hits):
    return [serial for serial, _ in hits]


@pytest.mark.parametrize("parts", [1, 3])
def test_small_sets_are_searched_exactly(tmp_path, parts):
    matrix = clustered(700)
    rows = stored(tmp_path, matrix, parts=parts)
    for query in matrix[::97].astype(np.float32):
        hits = rows.search(query, 10)
        assert serials_of(hits) == brute_force(matrix, query, 10)
        scores = [score for _, score in hits]
        assert scores == sorted(scores, reverse=True) and abs(scores[0] - 1) < 0.01


def test_equal_vectors_come_in_order_of_their_serials(tmp_path):
    matrix = np.repeat(clustered(1), 5, axis=0)
    rows = stored(tmp_path, matrix, serials=[9, 3, 7, 1, 5])
    assert serials_of(rows.search(matrix[0].astype(np.float32), 4)) == [1, 3, 5, 7]


def test_the_best_of_several_vectors_of_a_row_counts_and_the_row_comes_once(tmp_path):
    matrix = clustered(60)
    rows = stored(tmp_path, matrix, serials=np.arange(60) // 3)
    query = matrix[31].astype(np.float32)
    hits = rows.search(query, 20)
    best = (matrix.astype(np.float32) @ query).reshape(20, 3).max(axis=1)
    assert serials_of(hits) == np.argsort(-best, kind="stable").tolist()
    assert hits[0][0] == 10 and [score for _, score in hits] == pytest.approx(sorted(best, reverse=True))


def test_dead_rows_and_rows_of_other_files_are_never_found(tmp_path):
    matrix = clustered(400)
    sources = [number % 20 for number in range(400)]
    dead = [3, 23, 43]
    rows = stored(tmp_path, matrix, sources=sources, dead=dead, parts=2)
    query = matrix[3].astype(np.float32)
    alive = ~np.isin(np.arange(400), dead)
    assert serials_of(rows.search(query, 10)) == brute_force(matrix, query, 10, alive)
    wanted = {source_of(3), source_of(5)}
    of_files = np.isin(sources, [3, 5]) & alive
    assert serials_of(rows.search(query, 50, source_ids=wanted)) == brute_force(matrix, query, 50, of_files)
    assert rows.search(query, 10, source_ids=set()) == []
    assert rows.search(query, 10, source_ids={source_of(99)}) == []


@pytest.fixture
def shortlisting(monkeypatch):
    """Every set counts as a large one."""
    monkeypatch.setattr(vectors, "EXACT_BYTES", 0)


def test_large_sets_are_shortlisted_by_their_signs_with_little_lost(tmp_path, shortlisting):
    matrix = clustered(6_000, dimensions=256)
    rows = stored(tmp_path, matrix, parts=3)
    random = np.random.default_rng(3)
    found = 0
    for at in random.integers(0, len(matrix), 30):
        query = unit(matrix[at].astype(np.float32) + random.normal(size=256) * 0.02)
        found += len({*serials_of(rows.search(query, 10))} & {*brute_force(matrix, query, 10)})
        assert serials_of(rows.search(query, 10, exact=True)) == brute_force(matrix, query, 10)
    assert found / 300 >= 0.97


def test_a_selective_filter_loses_nothing_in_a_shortlist(tmp_path, shortlisting, monkeypatch):
    monkeypatch.setattr(vectors, "SHORTLIST", 200)
    matrix = clustered(5_000)
    sources = [number % 100 for number in range(5_000)]
    rows = stored(tmp_path, matrix, sources=sources, dead=[17], parts=4)
    query = matrix[17].astype(np.float32)
    allowed = np.isin(sources, [17]) & (np.arange(5_000) != 17)
    hits = rows.search(query, 10, source_ids={source_of(17)})
    assert serials_of(hits) == brute_force(matrix, query, 10, allowed)


def test_rows_with_several_vectors_fill_the_page_from_a_shortlist(tmp_path, shortlisting, monkeypatch):
    monkeypatch.setattr(vectors, "SHORTLIST", 100)
    matrix = clustered(4_000)
    rows = stored(tmp_path, matrix, serials=np.arange(4_000) // 4)
    hits = rows.search(matrix[0].astype(np.float32), 30)
    assert hits[0][0] == 0 and len({*serials_of(hits)}) == len(hits) == 30


def test_nothing_stored_and_nothing_asked_for_give_nothing(tmp_path):
    query = clustered(1)[0].astype(np.float32)
    empty = VectorRows(tmp_path, [], DeadRows())
    assert empty.search(query, 10) == [] and empty.dimensions is None and len(empty.serials()) == 0
    rows = stored(tmp_path, clustered(3))
    assert rows.search(query, 0) == []
    assert len(rows.search(query, 10)) == 3
    assert stored(tmp_path, clustered(2), dead=[0, 1]).search(query, 10) == []


@pytest.mark.parametrize("dimensions", [32, 64, 100, 384])
def test_the_hamming_distance_of_sign_bits_counts_components_of_other_sign(tmp_path, dimensions, shortlisting):
    random = np.random.default_rng(1)
    matrix = random.normal(size=(2, dimensions)).astype(np.float16)
    bits = sign_bits(matrix)
    distance = sum(int(np.bitwise_count(column[0] ^ column[1])) for column in bits)
    assert distance == int(((matrix[0] > 0) != (matrix[1] > 0)).sum())
    rows = stored(tmp_path, unit(matrix.astype(np.float32)).astype(np.float16))
    assert serials_of(rows.search(unit(matrix[1].astype(np.float32)), 1)) == [1]


def test_vectors_are_found_by_the_key_of_their_text(tmp_path):
    matrix = clustered(10)
    rows = stored(tmp_path, matrix, parts=2)
    asked = [ids.text_sha("3"), ids.text_sha("8"), ids.text_sha("not stored")]
    found = rows.by_key(asked)
    assert {*found} == {*asked[:2]}
    assert (found[asked[0]] == matrix[3]).all() and (found[asked[1]] == matrix[8]).all()
    assert rows.by_key([]) == {}


def test_a_segment_keeps_its_vectors_as_they_were_given(tmp_path):
    matrix = clustered(5)
    (segment,) = stored(tmp_path, matrix, serials=[4, 8, 15, 16, 23]).segments
    assert (segment.matrix == matrix).all()
    assert segment.serials.tolist() == [4, 8, 15, 16, 23]
    assert segment.key(2) == ids.text_sha("2")
    assert write_vectors(tmp_path / "none", matrix[:0], segment.serials[:0], segment.sources[:0], [])["rows"] == 0


def test_float16_becomes_the_very_same_float32():
    every = np.arange(65_536, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(1, -1)
    wide = vectors.widened(finite)
    assert wide.dtype == np.float32
    assert np.array_equal(wide.view(np.uint32), finite.astype(np.float32).view(np.uint32))


@pytest.mark.parametrize("repeats", [1, 3, 9])
def test_the_best_rows_of_many_are_those_that_putting_all_in_order_gives(tmp_path, repeats):
    random = np.random.default_rng(3)
    # Few distinct vectors, so that scores tie across every cut, and rows with more vectors than usual.
    matrix = clustered(40)[random.integers(0, 40, 900)]
    serials = np.sort(random.integers(0, 900 // repeats, 900))
    query = matrix[0].astype(np.float32)
    scores = np.vecdot(matrix.astype(np.float32), query)
    best: dict[int, float] = {}
    for at in np.lexsort((serials, -scores)).tolist():
        best.setdefault(int(serials[at]), float(scores[at]))
    rows = stored(tmp_path, matrix, serials=serials)
    for limit in (1, 7, 60, 2_000):
        assert rows.search(query, limit) == list(best.items())[:limit]


@pytest.mark.parametrize("parts", [1, 4])
def test_a_score_does_not_depend_on_how_vectors_are_spread_over_segments(tmp_path, parts):
    matrix = clustered(500)
    query = matrix[9].astype(np.float32)
    whole = stored(tmp_path, matrix).search(query, 500)
    (tmp_path / "parts").mkdir()
    assert stored(tmp_path / "parts", matrix, parts=parts).search(query, 500) == whole


def test_of_equally_far_rows_the_first_ones_are_rescored_and_never_more_than_asked_for():
    distances = np.array([3, 1, 2, 2, 2, 9, 2, 0], dtype=np.uint16)
    chosen = [sorted(vectors._nearest_by_signs(distances, size, 9).tolist()) for size in (1, 2, 4, 7, 8, 50)]
    assert chosen == [[7], [1, 7], [1, 2, 3, 7], [0, 1, 2, 3, 4, 6, 7], [0, 1, 2, 3, 4, 6, 7], [0, 1, 2, 3, 4, 6, 7]]


def test_a_question_of_few_components_is_compared_by_these_alone(tmp_path, shortlisting, monkeypatch):
    monkeypatch.setattr(vectors, "SHORTLIST", 100)
    monkeypatch.setattr(vectors, "SHORTLIST_OF_LIMIT", 1)
    random = np.random.default_rng(11)
    # Like hashed words: some forty of 512 components are not zero, in the question three.
    matrix = np.zeros((3_000, 512), dtype=np.float32)
    for row in matrix:
        row[random.choice(512, 40, replace=False)] = random.choice([-1.0, 1.0], 40)
    query = np.zeros(512, dtype=np.float32)
    query[[5, 70, 300]] = 1.0
    for at in (17, 1_700, 2_900):
        matrix[at, [5, 70, 300]] = 1.0
    rows = stored(tmp_path, unit(matrix).astype(np.float16), parts=2)
    hits = rows.search(unit(query), 3)
    assert {*serials_of(hits)} == {17, 1_700, 2_900}
    assert hits == rows.search(unit(query), 3, exact=True)


def test_a_row_has_the_mean_of_its_vectors_and_rows_without_one_are_left_out(tmp_path):
    matrix = clustered(12)
    rows = stored(tmp_path, matrix, serials=[0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9], parts=3)
    found = rows.of_rows([1, 9, 4, 77])
    assert set(found) == {1, 9, 4}
    wide = matrix.astype(np.float32)
    assert found[1] == pytest.approx(unit(wide[1] + wide[2]), abs=1e-3)
    assert found[9] == pytest.approx(unit(wide[10] + wide[11]), abs=1e-3)
    assert found[4] == pytest.approx(wide[5], abs=2e-3)
