"""Settings every test shares."""

import os

from hypothesis import settings

# Same examples on every run and machine; slow machines are no failure.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60, print_blob=True)
settings.load_profile("repeatable")

# Before torch is imported. Forwards of tests are tiny, and threads that wait for each other on a busy machine take
# many times as long as one that does not.
os.environ.setdefault("OMP_NUM_THREADS", "1")
