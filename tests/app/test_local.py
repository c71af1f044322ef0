"""Behaviour of `unmask.app.local`."""

import subprocess
import sys

import pytest

from unmask.app.local import local_backend
from unmask.config import Settings
from unmask.types import Precision

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


@pytest.mark.parametrize("precision", Precision)
async def test_settings_reach_the_models(precision: Precision) -> None:
    """The models named are loaded, with as many pages and rows and in the precision that the settings say."""
    settings = Settings(models=("nano",), precision=precision, page_pool_tokens=1_024, max_rows=3)
    backend = local_backend(settings)
    (model,), (load,) = backend.models(), backend.load()
    await backend.drain()

    assert (model.name, model.precision) == ("nano", precision)
    assert (load.kv_pages * load.page_tokens, load.max_running) == (1_024, 3)
