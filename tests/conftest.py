"""Settings of all tests: properties are tried on the same examples everywhere, and a slow machine is not a failure.

`pytest -n 0 -m fuzz` tries the readers for minutes, on other examples each time; `EAGLE_VIZ_FUZZ=10` makes it ten times as many.
"""

import os

if "PYTEST_XDIST_WORKER" in os.environ:  # the workers share the cores: threads of tiny models would only wait for one another
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

settings.register_profile("project", deadline=None, derandomize=True, max_examples=50)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=3000 * int(os.environ.get("EAGLE_VIZ_FUZZ", "1")),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
settings.load_profile("project")


def pytest_configure(config):
    """Fuzzing by itself takes minutes; among all other tests only a moment."""
    if config.option.markexpr == "fuzz":
        settings.load_profile("fuzz")
