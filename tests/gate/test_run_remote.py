"""Asking a server over HTTP."""

from pathlib import Path
from random import Random

import pytest

from tests.remote.remotes import Remote, remote
from unmask.gate.artefacts import RunFolder
from unmask.gate.patience import Trying
from unmask.gate.run import Asked, ask_all
from unmask.gate.run_plan import Endpoint, Run, Way
from unmask.remote.errors import UpstreamRefusedError
from unmask.testing.fake_upstream import Exchange, Script, answer, answering, resetting, streaming
from unmask.testing.gate_answers import FixedRetriever, make_system, small_suite

WELL = streaming(*answer("미벤에 삽니다."))
OUTAGE_S = 60.0


async def ask(far: Remote, folder: RunFolder) -> Asked:
    """Ask the small suite once, on the clock of the backend."""

    async def sleep(seconds: float) -> None:
        far.clock.advance(seconds)

    run = Run(
        suite=small_suite(),
        seeds=(0,),
        endpoints=(Endpoint(system=make_system(model="far", url="http://far/v1"), backend=far.backend),),
        retriever=FixedRetriever(),
        way=Way(max_tokens=32, concurrency=2),
    )
    return await ask_all(run, folder, Trying(clock=far.clock, rng=Random(0), sleep=sleep), lambda done, total: None)


async def test_a_server_is_asked_as_an_embedded_model_is(tmp_path: Path) -> None:
    """Messages and settings go out as they are kept, and what a server does not say is unknown."""
    async with remote(WELL) as far:
        asked = await ask(far, RunFolder(str(tmp_path)))

    assert (asked.answered, asked.faults) == (3, ())
    response = next(one for one in RunFolder(str(tmp_path)).responses() if one.key.scenario == "home")
    (turn,) = response.turns
    assert turn.text == "미벤에 삽니다."
    assert (turn.prompt_tokens, turn.output_tokens, turn.steps) == (7, 3, None)
    sent = next(one.json for one in far.upstreams[0].exchanges if "집이" in one.body.decode())
    assert sent["messages"] == [{"role": one.role.value, "content": one.content} for one in turn.messages]
    assert (sent["seed"], sent["max_tokens"], sent["temperature"]) == (0, 32, 0.0)


async def test_a_minute_of_429s_loses_nothing(tmp_path: Path) -> None:
    """A server that turns everybody away for a minute is asked again until it answers."""
    clock = []

    async def busy_for_a_minute(exchange: Exchange) -> None:
        script: Script = WELL if clock[0].now() >= OUTAGE_S else answering(429, retry_after="4")
        await script(exchange)

    async with remote(busy_for_a_minute) as far:
        clock.append(far.clock)
        asked = await ask(far, RunFolder(str(tmp_path)))

    assert (asked.answered, asked.faults) == (3, ())
    assert far.asked > 4
    assert max(response.attempts for response in RunFolder(str(tmp_path)).responses()) > 1


@pytest.mark.parametrize("broken", [answering(503), answering(500), resetting], ids=["503", "500", "reset"])
async def test_a_server_that_stays_down_is_a_fault(tmp_path: Path, broken: Script) -> None:
    """After all tries each scenario has a fault, and none has an answer."""
    async with remote(broken) as far:
        asked = await ask(far, RunFolder(str(tmp_path)))

    assert (asked.answered, len(asked.faults)) == (0, 3)
    assert all("upstream up1" in (fault.fault or "") for fault in asked.faults)


async def test_a_wrong_key_ends_the_run(tmp_path: Path) -> None:
    """Nothing would ever be answered, so nobody waits for it."""
    async with remote(answering(401)) as far:
        with pytest.raises(UpstreamRefusedError, match="401"):
            await ask(far, RunFolder(str(tmp_path)))

    assert RunFolder(str(tmp_path)).responses() == ()
