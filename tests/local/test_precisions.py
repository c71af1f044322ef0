"""Several precisions of one model, each on an engine of its own."""

from dataclasses import replace

import pytest

from unmask.backend import Request
from unmask.engine.weights import LoadedModel
from unmask.errors import ConfigError, InvalidRequestError
from unmask.local.backend import LocalBackend
from unmask.local.model import EMBEDDED_ADAPTER, PrecisionCore, ServedModel, serve_model
from unmask.sched.settings import SchedSettings
from unmask.testing.builders import make_model
from unmask.testing.cores import make_core
from unmask.testing.manual_clock import ManualClock
from unmask.testing.networks import TINY_SHAPE, make_network
from unmask.testing.speaker import Speaker
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import Message, Precision, Role, StepBudget

TOKENIZER = packaged_tokenizer()
SETTINGS = SchedSettings(pages=16, page_size=8)
EXACT, ROUNDED = "정확한 답", "대강의 답"
ASK = Request(
    model="tiny",
    messages=(Message(role=Role.USER, content="말해 봐"),),
    max_tokens=32,
    canvas_length=8,
    budget=StepBudget(max_steps=4),
)


def make_backend() -> LocalBackend:
    """Return a backend that says one thing in float32, and another in int8."""
    exact, rounded = (
        make_core(
            Speaker(TOKENIZER.encode(text)), SETTINGS, adapter=EMBEDDED_ADAPTER, token_bytes=TOKENIZER.token_bytes
        )
        for text in (EXACT, ROUNDED)
    )
    beside = (PrecisionCore(precision=Precision.INT8, core=rounded),)
    info = make_model(precisions=(Precision.FLOAT32, Precision.INT8))
    return LocalBackend((ServedModel(info=info, tokenizer=TOKENIZER, core=exact, beside=beside),))


async def test_a_request_runs_in_the_precision_that_it_names() -> None:
    """Or in the model's own; the load is that of both engines."""
    backend = make_backend()
    asked = [replace(ASK, precision=precision) for precision in (None, Precision.FLOAT32, Precision.INT8)]
    texts = [(await backend.generate(request)).text for request in asked]
    (load,) = backend.load()
    await backend.drain()

    assert texts == [EXACT, EXACT, ROUNDED]
    assert (load.model, load.kv_pages, load.state.value) == ("tiny", 2 * SETTINGS.pages, "running")
    assert load.steps > 4
    assert backend.problems() == ("engine of tiny has stopped",)


async def test_a_precision_that_is_not_served_is_refused() -> None:
    """With those that are."""
    backend = make_backend()
    with pytest.raises(InvalidRequestError, match="'int4', allowed: float32, int8"):
        await backend.generate(replace(ASK, precision=Precision.INT4))
    await backend.drain()


def test_weights_are_laid_out_once_for_each_precision() -> None:
    """The description says which there are, the model's own first."""
    shape = replace(TINY_SHAPE, vocabulary=TOKENIZER.size)
    loaded = LoadedModel(name="tiny", digest="0" * 16, network=make_network(shape))
    beside = (Precision.INT8, Precision.INT4)
    served = serve_model(loaded, TOKENIZER, SETTINGS, ManualClock(), precision=Precision.BFLOAT16, beside=beside)

    assert (served.info.precision, served.info.precisions) == (Precision.BFLOAT16, (Precision.BFLOAT16, *beside))
    assert tuple(side.precision for side in served.beside) == beside


def test_widths_that_do_not_fit_are_a_setting_at_fault() -> None:
    """Groups of 32 inputs have a scale in int4; what can be had instead is named."""
    shape = replace(TINY_SHAPE, vocabulary=TOKENIZER.size, width=16, hidden=48)
    loaded = LoadedModel(name="odd", digest="0" * 16, network=make_network(shape))

    with pytest.raises(ConfigError, match=r"precision is int4, allowed: float32, bfloat16, int8: .*16, 48") as caught:
        serve_model(loaded, TOKENIZER, SETTINGS, ManualClock(), precision=Precision.INT4)
    assert caught.value.param == "precision"
