"""The installed package: a wheel in an empty virtual environment answers, finds its recordings, and opens the page."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.package


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The folder of commands of a new virtual environment that holds the wheel and what it depends on, and nothing else."""
    place = tmp_path_factory.mktemp("package")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", place, ROOT], check=True)
    subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
    (wheel,) = place.glob("eagle_viz-*.whl")
    subprocess.run([place / "venv" / "bin" / "pip", "install", "-q", wheel], check=True)
    return place / "venv" / "bin"


def run(installed: Path, *arguments: str) -> str:
    """What a command prints, run where no checkout is in reach."""
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run([*arguments], cwd=installed.parent, env=clean, check=True, capture_output=True, text=True).stdout


def test_the_installed_command_answers_as_the_checkout_does(installed):
    options = ["compare", "--seed", "7", "--sharpness", "2.5", "--budget", "25", "--json"]
    here = subprocess.run([sys.executable, "-m", "eagle_viz", *options], cwd=ROOT, check=True, capture_output=True, text=True)
    assert json.loads(run(installed, str(installed / "eagle-viz"), *options)) == json.loads(here.stdout)


def test_the_installed_package_carries_its_recordings_and_head(installed):
    check = "from eagle_viz.core.recording import shipped; from eagle_viz.core.places import models; "
    check += "print(len(shipped()), (models() / 'smollm2-135m-eagle3' / 'model.safetensors').is_file())"
    count = len(list((ROOT / "models" / "recordings").glob("*.npz")))
    assert run(installed, str(installed / "python"), "-c", check).split() == [str(count), "True"]


def test_the_installed_page_is_served(installed):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(installed / "eagle-viz"), "lab", "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, cwd=installed.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as served:
        try:
            assert answers(f"http://localhost:{port}/_stcore/health", within=30) == b"ok"
        finally:
            served.terminate()


def answers(url: str, within: float) -> bytes | None:
    """What the address says, asked again until it answers or the time is over."""
    last = time.monotonic() + within
    while time.monotonic() < last:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.2)
    return None
