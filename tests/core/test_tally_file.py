"""A text's tally read back from its file, and files that are none."""

import numpy as np
import pytest

from eagle_viz.core.recording import read, shipped
from eagle_viz.core.simulation import outcomes, tally, whole
from eagle_viz.core.tally_file import read_tally, write_tally


@pytest.fixture(scope="module")
def made():
    """The tally of one recorded context."""
    recording = read(shipped()["smollm2-135m-eagle3-fact"])
    return whole(tally([(recording.kind, recording.cycles[0])]))


def test_what_is_written_is_read_back(made, tmp_path):
    """The same rows, and no half file is left beside it."""
    kind, found = read_tally(write_tally(tmp_path / "a.npz", "fact", made))
    assert kind == "fact" and list(tmp_path.iterdir()) == [tmp_path / "a.npz"]
    assert repr(outcomes({kind: found})) == repr(outcomes({"fact": made}))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", None])
def test_a_file_that_is_none_is_one_sentence(content, tmp_path):
    """Broken zips and archives of other things are named, with what to do."""
    path = tmp_path / "b.npz"
    if content is None:
        np.savez(path, something=np.zeros(3))
    else:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"keep: b\.npz holds no simulated text of this program .* remove it"):
        read_tally(path)
