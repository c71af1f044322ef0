"""Behaviour of `unmask.local.prefixes`, on real weights."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local.test_checkpoint import serve, write
from tests.replicas.prompts import make_request
from unmask.backend import Generation, Request
from unmask.errors import ConfigError
from unmask.local.backend import LocalBackend
from unmask.local.build import build_local_backend
from unmask.prefix import KvPrefix, PrefixError, sealed
from unmask.routing import PrefillEnd
from unmask.sched.settings import SchedSettings
from unmask.types import Mode, Outcome, StepBudget

PAGE = 16
LONG = make_request(
    "add 12 + 30. 김치찌개와 된장찌개 가운데 하나를 고르세요, 값은 아홉천 원입니다. add 45 + 7",
    model="nano",
    tenant="식당",
    max_tokens=24,
    canvas_length=8,
    budget=StepBudget(max_steps=3),
)


@asynccontextmanager
async def engines(count: int, *, pages: int = 64, page_size: int = PAGE) -> AsyncIterator[list[LocalBackend]]:
    """Yield engines of the same weights, and see that none holds a page in the end."""
    sizes = SchedSettings(pages=pages, page_size=page_size)
    found = [build_local_backend(("nano",), sizes) for _ in range(count)]
    yield found
    for engine in found:
        await engine.drain()
        assert engine.load()[0].kv_pages_used == 0


async def brought(source: LocalBackend, target: LocalBackend, request: Request) -> KvPrefix:
    """Have a prompt run on one engine and kept on another."""
    made = await source.prefill(request)
    await target.keep(request, await target.prefix(request), made)
    return made


def said(generation: Generation) -> tuple[object, ...]:
    """Return what of an answer must not depend on where its prompt was run."""
    return generation.outcome, generation.tokens, generation.text, generation.usage.steps_used


@pytest.mark.parametrize("mode", list(Mode))
async def test_an_answer_does_not_tell_where_its_prompt_was_run(mode: Mode) -> None:
    """The same tokens and steps, with whole pages of the prompt found cached in place of run."""
    request = replace(LONG, mode=mode)
    async with engines(2) as (source, target):
        here = await source.generate(request)
        async with engines(1) as (elsewhere,):
            made = await brought(elsewhere, target, request)
        there = await target.generate(request)

    assert said(there) == said(here)
    assert here.outcome is Outcome.COMPLETED
    assert len(made.tokens) > 4 * PAGE
    assert there.usage.cached_tokens >= len(made.tokens) - PAGE
    assert there.usage.cached_tokens + there.usage.prefill_tokens == here.usage.prefill_tokens


async def test_a_prompt_is_run_once_where_it_is_made() -> None:
    """The second time its pages are cached there too; no step is taken, and only its tenant's pages are found."""
    async with engines(1) as (source,):
        first, second = [await source.prefill(LONG) for _ in range(2)]
        other = await source.prefix(replace(LONG, tenant="다른 집"))
        steps = source.load()[0].steps

    assert (first.parts, first.tokens) == (second.parts, second.tokens)
    assert first.cached == 0
    assert second.cached == len(first.tokens) - PAGE
    assert other.cached == 0
    assert steps == 0


async def test_many_imports_take_no_page_for_good() -> None:
    """More prompts than there is room for: each pushes out what was used least of late, and none stays held."""
    async with engines(2, pages=24) as (source, target):
        for number in range(40):
            request = replace(LONG, messages=make_request(f"{number}: {LONG.messages[0].content}").messages)
            made = await brought(source, target, request)
            assert (await target.prefix(request)).cached == len(made.tokens)
        used = target.load()[0].kv_pages_used
        answer = await target.generate(LONG)

    assert used == 0
    assert answer.outcome is Outcome.COMPLETED


async def test_other_page_sizes_are_refused() -> None:
    """Pages of one engine are of no use to the other; nothing is kept."""
    async with engines(1) as (source,), engines(1, page_size=32) as (target,):
        with pytest.raises(PrefixError) as caught:
            await brought(source, target, LONG)
        kept = await target.prefix(LONG)

    assert caught.value.end is PrefillEnd.LAYOUT
    assert kept.cached == 0


async def test_other_weights_are_refused() -> None:
    """Even where everything else is the same."""
    async with engines(1) as (engine,):
        made = await engine.prefill(LONG)
        other = sealed(replace(made.kind, model="ffff"), made.tokens, 0, made.parts)
        with pytest.raises(PrefixError) as caught:
            await engine.keep(LONG, await engine.prefix(LONG), other)

    assert caught.value.end is PrefillEnd.MODEL


async def test_a_family_of_exact_context_takes_prompts(tmp_path: Path) -> None:
    """SDAR: its pages hold ids as well, and its blocks begin inside them."""
    folder = write(tmp_path, "sdar")
    source, target, alone = (LocalBackend((serve(folder),)) for _ in range(3))
    request = make_request("안녕하세요, " * 12, model="served", max_tokens=12, budget=StepBudget(max_steps=4))
    made = await brought(source, target, request)
    answers = [await engine.generate(request) for engine in (target, alone)]
    for engine in (source, target, alone):
        await engine.drain()

    assert said(answers[0]) == said(answers[1])
    assert len(made.tokens) >= 64
    assert answers[0].usage.cached_tokens == len(made.tokens)


async def test_a_family_without_a_causal_context_is_refused(tmp_path: Path) -> None:
    """LLaDA: what is kept of a prompt depends on what follows it; the setting and the model are named."""
    engine = LocalBackend((serve(write(tmp_path, "llada")),))
    with pytest.raises(ConfigError, match="allowed with served: 0, as each of its positions sees all others") as caught:
        engine.check_prefixes()
    await engine.drain()

    assert caught.value.param == "cluster_prefill_replicas"
