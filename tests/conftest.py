"""Settings of all tests: properties are tried on the same examples everywhere, and a slow machine is not a failure."""

from hypothesis import settings

settings.register_profile("project", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("project")
