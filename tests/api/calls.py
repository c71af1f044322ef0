"""Calls that no body need ask for, and an application that serves them."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from tests.api.client import NOW, fixed_chance, make_app
from unmask.api.admission import admit
from unmask.api.body import body_limits
from unmask.api.call import Call, Delivery
from unmask.api.chat_choice import CHAT_SHAPE
from unmask.api.endpoint import GenerateEndpoint
from unmask.api.event_stream import StreamPace
from unmask.api.running import Running
from unmask.api.text_choice import TEXT_SHAPE
from unmask.backend import Backend, Request
from unmask.clock import Clock
from unmask.config import Settings
from unmask.control.attempt import LATER
from unmask.control.budget import BudgetSource
from unmask.control.controller import Controller
from unmask.control.parts import ControlParts
from unmask.metrics.control import ControlInstruments
from unmask.metrics.generations import GenerationInstruments
from unmask.testing.builders import make_model
from unmask.types import Message, Role, Sampling

CHAT_CALLS = "/calls/chat/completions"
TEXT_CALLS = "/calls/completions"
PATHS = {CHAT_CALLS: CHAT_SHAPE, TEXT_CALLS: TEXT_SHAPE}


def make_call(
    prompts: Sequence[str] = ("add 1 + 1",),
    *,
    delivery: Delivery = Delivery.WHOLE,
    echoes: Sequence[str] | None = None,
    top_logprobs: int | None = None,
    temperature: float = 0.0,
    **changes: Any,  # noqa: ANN401 - any field of the call
) -> Call:
    """Return a call with a choice for every prompt, each with a seed of its own."""
    requests = tuple(
        Request(
            model="tiny",
            messages=(Message(role=Role.USER, content=prompt),),
            sampling=Sampling(seed=seed, temperature=temperature),
            snapshots=delivery is Delivery.SNAPSHOTS,
            top_logprobs=top_logprobs,
        )
        for seed, prompt in enumerate(prompts)
    )
    fields: dict[str, Any] = {
        "model": make_model("tiny"),
        "requests": requests,
        "echoes": tuple(echoes or [""] * len(requests)),
        "delivery": delivery,
    }
    call = Call(**(fields | changes))
    return call if call.admitted else admit(call, make_control())


def make_control(parts: ControlParts | None = None) -> Controller:
    """Return a controller; by default one without a policy."""
    instruments = ControlInstruments(CollectorRegistry(), ["tiny"], BudgetSource, LATER)
    return Controller(parts or ControlParts(), instruments, now=lambda: NOW, new_id=lambda: "id")


def app_of(
    backend: Backend,
    call: Call,
    *,
    running: Running | None = None,
    clock: Clock | None = None,
    pace: StreamPace | None = None,
) -> FastAPI:
    """Return an application that serves a call, in the shape of either endpoint, whatever the body."""
    running = running or Running(100)
    app = make_app(backend, running=running, clock=clock, pace=pace)
    for path, shape in PATHS.items():
        endpoint = GenerateEndpoint(
            backend=backend,
            running=running,
            control=make_control(),
            instruments=GenerationInstruments(CollectorRegistry(), ["tiny"]),
            chance=fixed_chance(clock),
            body_limits=body_limits(Settings()),
            read=lambda _: call,
            shape=shape,
            pace=pace or StreamPace(),
        )
        app.post(path)(endpoint.answer)
    return app
