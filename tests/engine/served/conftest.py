"""A real server for the tests marked `real`: llama.cpp's own, from the `xllamacpp` wheel, on 127.0.0.1."""

import pytest

from eagle_viz.engine.fetch import gguf_path


@pytest.fixture(scope="session")
def served_url():
    """The address of a llama.cpp server with the default target's GGUF file, on one thread."""
    path = gguf_path()
    if not path.is_file():
        pytest.skip("the default target's GGUF file is not here: run `python -m eagle_viz fetch --gguf`")
    import xllamacpp

    asked = xllamacpp.CommonParams()
    asked.model.path = str(path)
    asked.n_ctx, asked.n_parallel, asked.port = 4096, 2, 0
    asked.n_gpu_layers, asked.warmup = 0, False
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(asked)  # lives until the last test has run
    yield server.listening_address
