"""Behaviour of `unmask.app.local`."""

import subprocess
import sys

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # what an import of something that is not installed runs into
from unmask.cli.entry import main
sys.exit(main(["generate", "add 1 + 1"]))
"""


def test_missing_engine_says_how_to_install_it() -> None:
    """Without torch a local model cannot run, and the message is the command that changes that."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 3
    assert "pip install '.[engine]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
