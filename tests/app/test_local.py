"""Behaviour of `unmask.app.local`."""

import subprocess
import sys

import pytest

from unmask.app.local import local_backend, scheduling
from unmask.backend import Request
from unmask.config import Settings
from unmask.errors import ConfigError
from unmask.service import Batching
from unmask.types import Message, Precision, Role, StepBudget

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


async def test_replicas_have_engines_of_their_own() -> None:
    """Over one model; a conversation is answered where its turn before left its prompt."""
    settings = Settings(models=("nano",), replicas=2, page_pool_tokens=1_024, max_rows=3)
    backend = local_backend(settings)
    ask = Request(
        model="nano",
        messages=(Message(role=Role.USER, content="안녕 " * 40),),
        max_tokens=8,
        canvas_length=8,
        budget=StepBudget(max_steps=1),
    )
    first = await backend.generate(ask)
    again = await backend.generate(ask)
    (load,) = backend.load()
    await backend.drain()

    assert (load.kv_pages * load.page_tokens, load.max_running) == (2_048, 6)
    assert (first.usage.cached_tokens, first.text) == (0, again.text)
    assert again.usage.cached_tokens > 0
    assert {one.cached_tokens for one in load.replicas} == {0, again.usage.cached_tokens}
    assert sum(one.expected_tokens for one in load.replicas) == again.usage.cached_tokens


def test_settings_of_the_queue_reach_the_models() -> None:
    """How batches are made up, what a tick holds, what is kept for whom, and how long anybody waits."""
    settings = Settings(
        models=("nano",),
        batching=Batching.ALIGNED,
        tick_tokens=100,
        fast_tick_tokens=50,
        page_reserves=("interactive=0.25", "batch=0.5"),
        queue_patience_s=5.0,
        fill_wait_s=0.5,
    )
    sizes = scheduling(settings)

    assert (sizes.batching, sizes.tick_tokens, sizes.fast_tick_tokens) == (Batching.ALIGNED, 100, 50)
    assert (sizes.patience_s, sizes.fill_wait_s) == (5.0, 0.5)
    assert [(kept.service_class, kept.share) for kept in sizes.page_reserves] == [("interactive", 0.25), ("batch", 0.5)]


def test_reserves_leave_something_to_others() -> None:
    """All pages for some classes would be none for the rest."""
    with pytest.raises(ConfigError, match="below 1 together") as caught:
        scheduling(Settings(page_reserves=("a=0.5", "b=0.5")))

    assert caught.value.param == "page_reserves"
