"""When the machine has no room for what nobody waits for, and who looks."""

import asyncio
from dataclasses import replace

import pytest

from unmask.control.pressure import PRESSED_S, Pressure, is_pressed
from unmask.load import ModelLoad
from unmask.service import SPARE, QueueLoad
from unmask.testing.fake_backend import IDLE_QUEUE, FakeBackend
from unmask.testing.waiting import until

HELD_UP = replace(IDLE_QUEUE, waiting=1, oldest_s=PRESSED_S)


def load(*queues: QueueLoad, model: str = "tiny") -> ModelLoad:
    """Return the load of a model with such queues."""
    found = next(one for one in FakeBackend().load() if one.model == model)
    return replace(found, queues=queues)


@pytest.mark.parametrize(
    ("queue", "pressed"),
    [
        (HELD_UP, True),
        (IDLE_QUEUE, False),
        (replace(HELD_UP, oldest_s=PRESSED_S / 2), False),
        (replace(HELD_UP, service_class=f"batch{SPARE}"), False),
    ],
    ids=["held up", "idle", "just arrived", "spare"],
)
def test_others_who_are_kept_waiting_press(queue: QueueLoad, *, pressed: bool) -> None:
    """An arrival waits for the next tick in any case, and what a search leaves waiting presses nobody."""
    assert is_pressed(load(IDLE_QUEUE, queue)) is pressed


async def test_it_is_looked_while_somebody_wants_to_know() -> None:
    """From the first to the last, once for all of them, and of each model by itself."""
    looks, queue = 0, IDLE_QUEUE
    turn = asyncio.Event()

    def loads() -> tuple[ModelLoad, ...]:
        nonlocal looks
        looks += 1
        return load(queue), load(IDLE_QUEUE, model="nano")

    async def pause() -> None:
        await turn.wait()
        turn.clear()

    widths = {"batch": 4}
    pressure = Pressure(loads, lambda _, service_class: widths.get(service_class), pause)
    async with pressure.watched("tiny", "batch") as tiny, pressure.watched("nano", "") as nano:
        assert [(room.most, room.is_pressed) for room in (tiny, nano)] == [(4, False), (None, False)]
        queue = HELD_UP
        changed = tiny.changed
        turn.set()
        await changed.wait()
        assert (tiny.is_pressed, nano.is_pressed) == (True, False)
        queue, widths["batch"] = IDLE_QUEUE, 2
        turn.set()
        await until(lambda: not tiny.is_pressed)
        assert (tiny.most, nano.most, looks) == (2, None, 4)
    turn.set()
    await asyncio.sleep(0)
    assert looks == 4


async def test_a_load_that_cannot_be_read_presses_nobody() -> None:
    """No search fails of it."""

    def loads() -> tuple[ModelLoad, ...]:
        raise RuntimeError("nobody answers")

    async with Pressure(loads).watched("tiny", "") as room:
        assert (room.most, room.is_pressed) == (None, False)
