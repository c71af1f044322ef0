"""What the scale bench asks, and what it keeps of a round."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from unmask.backend import Backend, Generation, Request
from unmask.text.tokenizer import TextTokenizer
from unmask.types import Message, Outcome, Role, StepBudget

CALLERS, DOCUMENT_CALLERS = 8, 4
"""At once; of documents so few that what runs holds few of the pages."""
LONG_TOKENS = 512
"""Of a prompt that nobody else has: an engine has a tenth of a second to do with it and its canvas."""
DOCUMENT_TOKENS = 384
QUESTION_TOKENS = 16
CANVAS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of one arm.

    Attributes:
        seconds: from its first request to its last answer.
        engine_cpu_s: processor time of the engines' processes.
        other_cpu_s: that of this process and of all others that it started, such as the cluster's.
        foreign_cpu_s: that of whatever else this machine, or container, ran.
        prompt_tokens, cached_tokens: of all answers.
    """

    requests: int
    seconds: float
    engine_cpu_s: float
    other_cpu_s: float
    foreign_cpu_s: float
    prompt_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleSizes:
    """How much is asked."""

    rounds: int
    requests: int
    documents: int
    questions: int


def long_requests(model: str, tokenizer: TextTokenizer, count: int, rng: Random) -> list[Request]:
    """Return requests that have no beginning in common."""
    return [
        _request(model, _text(tokenizer, LONG_TOKENS, rng), tenant=str(rng.getrandbits(64)), steps=CANVAS)
        for _ in range(count)
    ]


def document_requests(model: str, tokenizer: TextTokenizer, sizes: ScaleSizes, rng: Random) -> list[Request]:
    """Return questions about documents that their prompts begin with, in any order; of a tenant never seen before."""
    tenant = str(rng.getrandbits(64))
    texts = [_text(tokenizer, DOCUMENT_TOKENS, rng) for _ in range(sizes.documents)]
    asked = [
        _request(model, f"{text} {_text(tokenizer, QUESTION_TOKENS, rng)}", tenant=tenant, steps=1)
        for text in texts
        for _ in range(sizes.questions)
    ]
    rng.shuffle(asked)
    return asked


async def run_round(
    backend: Backend,
    requests: Sequence[Request],
    *,
    callers: int,
    now: Callable[[], float],
    cpu_s: Callable[[], Awaitable[float]],
) -> Round:
    """Let so many callers ask, each its next request once it has its answer.

    Raises:
        AssertionError: a request was not answered: the round would mean nothing.
    """
    waiting = list(reversed(requests))
    answers: list[Generation] = []

    async def call() -> None:
        while waiting:
            answers.append(await backend.generate(waiting.pop()))

    engines, family, machine, started = await cpu_s(), family_cpu_s(os.getpid()), machine_cpu_s(), now()
    await asyncio.gather(*(call() for _ in range(callers)))
    seconds = now() - started
    engines = await cpu_s() - engines
    family = family_cpu_s(os.getpid()) - family
    assert all(answer.outcome is Outcome.COMPLETED for answer in answers), "every request is answered"
    return Round(
        requests=len(requests),
        seconds=seconds,
        engine_cpu_s=engines,
        other_cpu_s=max(0.0, family - engines),
        foreign_cpu_s=max(0.0, machine_cpu_s() - machine - family),
        prompt_tokens=sum(answer.usage.prompt_tokens for answer in answers),
        cached_tokens=sum(answer.usage.cached_tokens for answer in answers),
    )


def family_cpu_s(pid: int, processes: Path = Path("/proc")) -> float:
    """Return the processor time so far of a process and of all that have come of it and still run."""
    parents: dict[int, int] = {}
    taken: dict[int, int] = {}
    for path in processes.glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name before the bracket may hold anything.
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            taken[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    family = {pid}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(taken.get(one, 0) for one in family) / os.sysconf("SC_CLK_TCK")


def machine_cpu_s(root: Path = Path("/")) -> float:
    """Return the processor time of everything so far: of a container where this is one, else of the machine."""
    container = root / "sys/fs/cgroup/cpu.stat"
    if container.is_file():
        return int(container.read_text().split()[1]) / 1_000_000
    user, nice, system, _idle, _wait, *interrupts = map(
        int, (root / "proc/stat").read_text().split("\n", 1)[0].split()[1:8]
    )
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def _request(model: str, text: str, *, tenant: str, steps: int) -> Request:
    return Request(
        model=model,
        messages=(Message(role=Role.USER, content=text),),
        max_tokens=CANVAS,
        canvas_length=CANVAS,
        budget=StepBudget(max_steps=steps, max_total_steps=steps),
        tenant=tenant,
    )


def _text(tokenizer: TextTokenizer, tokens: int, rng: Random) -> str:
    """Return random sums of about so many tokens."""
    text = "add"
    while len(tokenizer.encode_chat((Message(role=Role.USER, content=text),))) < tokens:
        text += "".join(f" {rng.randrange(1000)} +" for _ in range(max(1, tokens // 32)))
    return text
