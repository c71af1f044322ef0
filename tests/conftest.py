"""Settings every test shares."""

from hypothesis import settings

# Same examples on every run and machine; slow machines are no failure.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60, print_blob=True)
settings.load_profile("repeatable")
