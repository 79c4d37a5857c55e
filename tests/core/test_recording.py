"""The recording's file format: what is written is read again, and what is wrong is refused in one sentence."""

import io
import json
import zipfile
from dataclasses import replace

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from eagle_viz import POLICIES, NotRecordedError, RecordedLandscape, SyntheticLandscape
from eagle_viz.core.greedy import GreedyCalibration
from eagle_viz.core.hashing import on_grid
from eagle_viz.core.landscape import Candidates
from eagle_viz.core.recording import (
    GreedyReading,
    LiveVerdict,
    RecordedCycle,
    Recording,
    RecordingError,
    average_confidences,
    follow,
    read,
    shipped,
    write,
)
from eagle_viz.core.verification import verify_greedy

WIDTH = 4


def recorded(seed: int, targets: bool = True) -> RecordedLandscape:
    """Everything EAGLE-2 expands on a synthetic landscape, with tokens, float32 confidences and made-up target probabilities."""
    land = SyntheticLandscape(seed=seed, branching=WIDTH, coverage=0.9)
    draft = POLICIES["eagle2"](top_k=3, max_depth=4)(land, 12)
    candidates = {}
    for path in (path for frontier in draft.frontiers for path in frontier):
        confidences = on_grid(land.expand([path])[0].confidences.astype(np.float32))
        tokens = np.arange(WIDTH) + 10 * len(path)
        prices = np.round(confidences[::-1] * 2**11) / 2**12 if targets else None
        candidates[path] = Candidates(tokens, confidences, prices)
    return RecordedLandscape(candidates, 100 + seed, {token: f"t{token}" for token in range(200)}, ((0.5, 0.2), (0.4, 0.1)))


def recording(targets: bool = True) -> Recording:
    tokens = (1, 2, 3, 101, 10, 21, 102, 11, 9)
    cycles = tuple(
        RecordedCycle(
            position,
            recorded(seed, targets),
            tokens[position + 1 :],
            (LiveVerdict("eagle2", 12, (0, 1), 102), LiveVerdict("eagle1", 12, (), 10)),
            {"draft": 0.1, "verify": 0.2, "rest": 0.01},
        )
        for seed, position in ((1, 3), (2, 6))
    )
    return Recording(
        name="test",
        title="A test",
        kind="fact",
        prompt="Say “é”.",
        target="none",
        drafter="head",
        tokens=tokens,
        prompt_length=3,
        answer_length=5,
        pieces=("a", " b", " c", " d", " é"),
        texts={token: f"t{token}" for token in range(200)},
        cycles=cycles,
        average=((0.5, 0.2), (0.4, 0.1)),
        made={"dtype": "float32"},
    )


def with_greedy():
    """The recording of a drafter that knows what its confidences say of greedy decoding."""
    return replace(recording(), greedy=GreedyReading(GreedyCalibration((1.5, 1.2), 0.5, -1.0), average=((0.6, 0.1),)))


@pytest.fixture
def file(tmp_path):
    return write(recording(), tmp_path / "test.npz")


def test_reading_gives_back_what_was_written(file):
    before, after = recording(), read(file)
    plain = ("name", "title", "kind", "prompt", "target", "drafter", "tokens", "pieces", "texts", "average", "made")
    assert all(getattr(before, name) == getattr(after, name) for name in plain)
    for one, other in zip(before.cycles, after.cycles, strict=True):
        assert (one.position, one.continuation, one.verdicts, one.seconds) == (
            other.position,
            other.continuation,
            other.verdicts,
            other.seconds,
        )
        assert dict(one.landscape.candidates).keys() == dict(other.landscape.candidates).keys()
        for path, row in one.landscape.candidates.items():
            found = other.landscape.candidates[path]
            np.testing.assert_array_equal(row.tokens, found.tokens)
            np.testing.assert_array_equal(row.confidences, found.confidences)
            np.testing.assert_array_equal(row.target_probabilities, found.target_probabilities)


def test_the_greedy_reading_is_kept(tmp_path):
    """Calibration and average of the greedy reading come back from a file, and a recording without one stays so."""
    assert read(write(with_greedy(), tmp_path / "greedy.npz")).greedy == with_greedy().greedy
    assert read(write(recording(), tmp_path / "plain.npz")).greedy is None


def test_a_recording_read_for_greedy_decoding():
    """Its landscapes give the calibrated confidences of the same tokens, and best_static its own average."""
    base, told = with_greedy(), with_greedy().for_greedy()
    for one, other in zip(base.cycles, told.cycles, strict=True):
        before, after = (cycle.landscape.expand([(), (0,)]) for cycle in (one, other))
        for depth, (row, found) in enumerate(zip(before, after, strict=True), start=1):
            np.testing.assert_array_equal(found.tokens, row.tokens)
            np.testing.assert_array_equal(found.confidences, base.greedy.calibration(row.confidences, depth))
            np.testing.assert_array_equal(found.target_probabilities, row.target_probabilities)
        assert other.landscape.family_average() == ((0.6, 0.1),)
    assert recording().for_greedy().cycles[0].landscape.expand([()])[0] is not None


def test_a_broken_greedy_reading_is_refused(tmp_path):
    """A file whose greedy calibration cannot be used is refused by the field's name."""
    path = write(with_greedy(), tmp_path / "broken.npz")
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    header = json.loads(arrays["header"].tobytes())
    header["greedy"]["power"] = [-1]
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    with pytest.raises(RecordingError, match="power: .*allowed"):
        read(path)


def test_policies_build_the_same_tree_on_a_read_recording(file):
    policy = POLICIES["eagle2"](top_k=3, max_depth=4)
    for one, other in zip(recording().cycles, read(file).cycles, strict=True):
        before, after = policy(one.landscape, 12).tree, policy(other.landscape, 12).tree
        assert before.paths == after.paths and before.values.tolist() == after.values.tolist()


def test_the_targets_probabilities_are_kept_to_one_part_in_4096(tmp_path):
    base = recording()
    rows = dict(base.cycles[0].landscape.candidates)
    wanted = np.array([0.123456789, 0.0123456789, 1e-7, 1e-12])
    rows[()] = Candidates(rows[()].tokens, rows[()].confidences, wanted)
    changed = replace(base, cycles=(replace(base.cycles[0], landscape=replace(base.cycles[0].landscape, candidates=rows)),))
    found = read(write(changed, tmp_path / "test.npz")).cycles[0].landscape.expand([()])[0]
    np.testing.assert_allclose(found.target_probabilities, wanted, rtol=2.5e-4)


def test_nodes_may_have_fewer_candidates(tmp_path):
    base = recording()
    rows = dict(base.cycles[0].landscape.candidates)
    deepest = max(rows, key=len)
    short = rows[deepest]
    rows[deepest] = Candidates(short.tokens[:1], short.confidences[:1], short.target_probabilities[:1])
    changed = replace(base, cycles=(replace(base.cycles[0], landscape=replace(base.cycles[0].landscape, candidates=rows)),))
    found = read(write(changed, tmp_path / "test.npz")).cycles[0].landscape.expand([deepest, ()])
    assert [len(row) for row in found] == [1, WIDTH] and found[0].tokens.tolist() == short.tokens[:1].tolist()


def test_unknown_target_probabilities_stay_unknown(tmp_path):
    cycle = read(write(recording(targets=False), tmp_path / "test.npz")).cycles[0]
    assert cycle.landscape.expand([()])[0].target_probabilities is None


def test_where_the_target_drafted_its_probabilities_are_the_confidences(tmp_path):
    base = recording()
    cycle = base.cycles[0]
    rows = {p: Candidates(row.tokens, row.confidences, row.confidences) for p, row in cycle.landscape.candidates.items()}
    oracle = replace(base, cycles=(replace(cycle, landscape=replace(cycle.landscape, candidates=rows)),))
    path = write(oracle, tmp_path / "oracle.npz")
    with np.load(path) as arrays:
        assert "child_target" not in arrays.files
    row = read(path).cycles[0].landscape.expand([()])[0]
    np.testing.assert_array_equal(row.target_probabilities, row.confidences)


def test_a_path_that_was_not_recorded_is_a_sentence(file):
    with pytest.raises(NotRecordedError, match="3.3.3"):
        read(file).cycles[0].landscape.expand([(3, 3, 3)])


def test_the_words_before_a_root_and_the_root_are_the_answer_so_far(file):
    found = read(file)
    assert [found.words_before(i) + "|" + found.root_text(i) for i in range(2)] == ["|a", "a b c| d"]
    assert found.answer == "a b c d é"


def test_words_after_a_root_are_the_answers_and_then_single_tokens(file):
    """Within the answer the pieces, behind it what each token reads as by itself."""
    found = read(file)
    after = len(found.pieces) - 1 - found.answer_index(0)
    assert found.words_after(0, 2) == "".join(found.pieces[1:3]) and found.words_after(0, after) == found.answer[1:]
    (behind, *_) = found.cycles[0].continuation[after:]
    assert found.words_after(0, after + 1) == found.answer[1:] + found.texts.get(behind, f"token {behind}")


def test_tau_is_tokens_written_per_pass_cut_at_the_end_of_the_answer(file):
    """Two passes accept two tokens each; the second has room for one token: (3 + 1) / 2."""
    assert read(file).tau == {"eagle2 12": 2.0, "eagle1 12": 1.0}


def test_reading_from_bytes_equals_reading_from_a_file(file):
    assert read(file.read_bytes()).tokens == read(file).tokens


def test_shipped_lists_names_in_order(file):
    write(recording(), file.parent / "another.npz")
    assert list(shipped(file.parent)) == ["another", "test"]


def repacked(file, **changes):
    """The file's bytes with some arrays replaced (None: left out)."""
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files} | changes
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{name: array for name, array in arrays.items() if array is not None})
    return buffer.getvalue()


def header(file, **changes):
    with np.load(file) as archive:
        content = json.loads(archive["header"].tobytes()) | changes
    return np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)


def test_other_files_are_refused_in_one_sentence(file, tmp_path):
    pickled = io.BytesIO()
    np.savez(pickled, header=np.array([{"a": 1}], dtype=object))
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("hello.txt", "hello")
    for content in (b"", b"hello", file.read_bytes()[:400], pickled.getvalue(), other.getvalue()):
        with pytest.raises(RecordingError, match="^recording: the file is not a recording") as caught:
            read(content)
        assert "\n" not in str(caught.value)
    with pytest.raises(RecordingError, match="missing.npz"):
        read(tmp_path / "missing.npz")


def test_what_would_make_a_wrong_tree_is_refused(file):
    with np.load(file) as archive:
        parents, ranks, planes = (archive[name].copy() for name in ("node_parent", "node_rank", "child_confidence"))
    with pytest.raises(RecordingError, match="version 9"):
        read(repacked(file, header=header(file, version=9)))
    with pytest.raises(RecordingError, match="no cycle"):
        read(repacked(file, header=header(file, cycles=[])))
    with pytest.raises(RecordingError, match="before its parent"):
        read(repacked(file, node_parent=parents + 1))
    with pytest.raises(RecordingError, match="of a rank that its parent does not have"):
        read(repacked(file, node_rank=ranks + 4))
    with pytest.raises(RecordingError, match="without candidates"):
        read(repacked(file, node_width=ranks * 0))
    with pytest.raises(RecordingError, match="most confident first"):
        read(repacked(file, child_confidence=planes[:, :, ::-1]))
    with pytest.raises(RecordingError, match="expanded nodes"):
        read(repacked(file, node_rank=ranks[:-1]))
    with pytest.raises(RecordingError, match="outside its answer"):
        read(repacked(file, header=header(file, answer_length=2, pieces=["a", "b"])))
    with pytest.raises(RecordingError, match="child_token"):
        read(repacked(file, child_token=None))


def test_damaged_bytes_never_pass_for_something_else(file):
    """300 seeded single-byte errors: refused in one sentence, or harmless."""
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    for place, value in zip(rng.integers(0, len(whole), 300), rng.integers(1, 256, 300), strict=True):
        damaged = bytearray(whole)
        damaged[place] ^= value
        check_harmless_or_refused(bytes(damaged))


@pytest.mark.parametrize("value", [None, -1, 3.5, "x", [], {}, [1], {"a": 1}, 1e300, True])
def test_a_header_of_wrong_types_is_refused_or_harmless(file, value):
    with np.load(file) as archive:
        names = json.loads(archive["header"].tobytes())
    for name in names:
        check_harmless_or_refused(repacked(file, header=header(file, **{name: value})))
    for name in names["cycles"][0]:
        cycles = [names["cycles"][0] | {name: value}, *names["cycles"][1:]]
        check_harmless_or_refused(repacked(file, header=header(file, cycles=cycles)))


@pytest.mark.parametrize("name", "tokens node_parent node_rank node_width child_token child_confidence child_target".split())
def test_arrays_of_wrong_shape_or_type_are_refused(file, name):
    with np.load(file) as archive:
        array = archive[name]
    for wrong in (array[..., None], array.astype(float), array.ravel()[:1], np.array(["a"])):
        with pytest.raises(RecordingError):
            read(repacked(file, **{name: wrong}))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**63, 2**70)
    | st.floats()
    | st.sampled_from(["", "\ud800", "0.1", "9" * 400]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["", "0", "7", "draft"]), inner, max_size=3),
    max_leaves=8,
)


@hypothesis.given(data=st.data())
def test_a_header_with_anything_anywhere_is_refused_or_harmless(tmp_path_factory, data):
    """One field of the header or of a cycle replaced by anything: an error of one line, or a recording that can be replayed."""
    file = write(recording(), tmp_path_factory.mktemp("fuzz") / "test.npz")
    with np.load(file) as archive:
        content = json.loads(archive["header"].tobytes())
    place = data.draw(st.sampled_from([content, *content["cycles"]]))
    place[data.draw(st.sampled_from([*place]))] = data.draw(VALUES)
    check_harmless_or_refused(repacked(file, header=header(file, **content)))


def test_half_characters_in_a_recordings_texts_can_be_sent_to_a_page(file):
    found = read(repacked(file, header=header(file, title="a\ud800b", pieces=["\udfff", " b", " c", " d", " é"])))
    assert (found.title, found.answer, found.texts[101]) == ("a?b", "? b c d é", "t101")


def check_harmless_or_refused(content: bytes) -> None:
    try:
        found = read(content)
    except RecordingError as error:
        assert "\n" not in str(error)
        return
    for cycle in found.cycles:
        tree = POLICIES["eagle2"](top_k=3, max_depth=4)(cycle.landscape, 8).tree
        assert cycle.verdict(tree).accept_length <= 4
    json.dumps([found.title, found.pieces, found.tau], ensure_ascii=False).encode()


def test_following_a_continuation_equals_greedy_verification():
    """The target says token 10 + ... at each level; any tree's verdict follows from the continuation alone."""
    land = recorded(3)
    tree = POLICIES["eagle2"](top_k=3, max_depth=4)(land, 12).tree
    deepest = tree.paths[-1]
    tokens = [int(tree.tokens[tree.index[deepest[:depth]]]) for depth in range(1, len(deepest) + 1)]
    for said in (tokens + [7], tokens[:1] + [7], [7]):
        wanted = [said[int(depth)] if depth < len(said) else 0 for depth in tree.depths]
        assert follow(tree, said) == verify_greedy(tree, wanted)
    assert follow(tree, tokens).bonus == -1 and follow(tree, tokens).accept_length == len(tokens)


def test_the_average_weighs_a_parent_by_the_chance_to_reach_it():
    """By hand: two contexts; below the root's first child 0.5 x [0.8, 0.2] and 1.0 x [0.4, 0.4] give 0.8/1.5 and 0.5/1.5."""
    rows = [
        {(): Candidates(np.zeros(2), np.array([0.5, 0.25])), (0,): Candidates(np.zeros(2), np.array([0.8, 0.2]))},
        {(): Candidates(np.zeros(2), np.array([1.0, 0.0])), (0,): Candidates(np.zeros(2), np.array([0.4, 0.4]))},
    ]
    table = average_confidences(rows)
    np.testing.assert_allclose(table[0], [0.75, 0.125])
    np.testing.assert_allclose(table[1], [0.8 / 1.5, 0.5 / 1.5], atol=1e-12)
    assert average_confidences([]) is None


def test_every_shipped_recording_answers_for_what_it_promises():
    """Each policy at budgets 1 to 128 finds all it asks for, and the live verdicts are what a replay gives."""
    for path in shipped().values():
        found = read(path)
        assert "".join(found.pieces[: found.answer_length]) == found.answer and found.average is not None
        for cycle in found.cycles[:1]:
            assert POLICIES["chain"]()(cycle.landscape, 64).tree.budget == 64
            fixed = [POLICIES[name]() for name in ("eagle1", "best_static")]
            for policy in (*fixed, POLICIES["best_first"](max_depth=12)):
                assert policy(cycle.landscape, 128).tree.budget == 128
            for top_k in (4, 10):
                assert POLICIES["eagle2"](top_k=top_k, max_depth=12)(cycle.landscape, 59).tree.budget == 59
            assert POLICIES["max_sweep"]()(cycle.landscape, 25).tree.budget == 25
            live = found.made["live"]["eagle2"]
            policy = POLICIES["eagle2"](top_k=live["top_k"], max_depth=live["max_depth"])
            tree = policy(found.for_greedy().cycles[0].landscape, live["budget"]).tree
            accepted = cycle.verdict(tree).accepted
            assert (tree.paths[accepted[-1]] if accepted else ()) == cycle.verdicts[0].path


def test_every_token_that_the_target_said_can_be_read_in_the_shipped_recordings():
    for path in shipped().values():
        one = read(path)
        said = one.tokens[one.prompt_length : one.prompt_length + one.answer_length]
        assert all(token in one.texts for token, piece in zip(said, one.pieces, strict=False) if piece)
