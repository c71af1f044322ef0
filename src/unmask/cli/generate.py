"""``unmask generate``."""

import argparse
import asyncio
import shlex
from dataclasses import asdict

from unmask.backend import Backend, DoneEvent, Generation, ModelInfo, Request, Usage
from unmask.cli.exits import Exit, UsageError
from unmask.cli.prompts import Prompt, prompt_from
from unmask.cli.recording import RecordingWatcher, save_picture
from unmask.cli.strategy import strategy_of
from unmask.cli.tools import Tools
from unmask.cli.watch import Watcher, watcher_for
from unmask.config import Settings
from unmask.errors import UnknownModelError
from unmask.local.places import place_of, served_name
from unmask.tasks.item import CheckResult
from unmask.types import ApproximateCache, Device, Mode, Outcome, Precision, Sampling, StepBudget

DIFFUSION_ONLY = ("steps", "total_steps", "canvas_length", "strategy", "threshold", "window")
OUT_OF_DOMAIN = (
    "note: this prompt is of no task type that the demonstration model knows, so expect no sense; "
    "unmask examples lists prompts it knows"
)


def run_generate(args: argparse.Namespace, tools: Tools) -> int:
    """Answer one prompt, judge the answer where a task type says how, and report."""
    _check_combination(args)
    prompt = prompt_from(args)
    if not prompt.in_domain and place_of(args.model) is None:
        tools.say(OUT_OF_DOMAIN)
    if prompt.item is not None:
        for message in prompt.messages:
            tools.say(f"{message.role}: {message.content}")
    generation = asyncio.run(_generate(args, prompt, tools))
    verified = prompt.check(generation.text) if generation.outcome is Outcome.COMPLETED else None
    if args.json:
        tools.write_json(_record(args, prompt, generation, verified))
    else:
        tools.write(generation.text)
    _report(tools, prompt, generation, verified)
    if generation.outcome is not Outcome.COMPLETED:
        return Exit.CANNOT_RUN
    return Exit.MISSED if verified is not None and not verified.passed else Exit.OK


def _check_combination(args: argparse.Namespace) -> None:
    if args.ar and args.speculative:
        raise UsageError("--ar and --speculative give the same answer; leave out one of the two")
    flag = "--ar" if args.ar else "--speculative"
    is_causal = args.ar or args.speculative
    used = [name for name in DIFFUSION_ONLY if getattr(args, name) is not None]
    if args.speculative and "canvas_length" in used:
        used.remove("canvas_length")
    if is_causal and used:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in used)
        raise UsageError(f"{flag} writes one token after the other, without canvases; leave out {options}")
    if is_causal and args.watch:
        raise UsageError(f"--watch shows a canvas after every step, and {flag} has none; leave out one of the two")
    if args.picture and not args.watch:
        raise UsageError("--picture keeps what --watch shows; add --watch")


async def _generate(args: argparse.Namespace, prompt: Prompt, tools: Tools) -> Generation:
    precision = None if args.precision is None else Precision(args.precision)
    settings = Settings(
        models=(args.model,),
        precision=precision,
        device=Device(args.device),
        approximate_cache=ApproximateCache(args.approximate_cache or ApproximateCache.OFF),
        approximate_cache_refresh=args.approximate_cache_refresh,
    )
    backend = tools.make_backend(settings)
    try:
        request = _request(args, prompt, _model(backend, served_name(args.model)))
        if not args.watch:
            return await backend.generate(request)
        with watcher_for(tools, plain=args.json) as watcher:
            if args.picture is None:
                return await _watched(backend, request, watcher)
            recording = RecordingWatcher(watcher)
            generation = await _watched(backend, request, recording)
        save_picture(args.picture, recording.picture(_typed(args), _spent(generation.usage)))
        return generation
    finally:
        await backend.drain()


async def _watched(backend: Backend, request: Request, watcher: Watcher) -> Generation:
    events = backend.stream(request)
    try:
        async for event in events:
            if isinstance(event, DoneEvent):
                return event.generation
            await watcher.show(event)
    finally:
        # Left open, a request that can no longer be shown would keep the backend from draining.
        await events.aclose()
    raise AssertionError("a stream ends with its generation")


def _model(backend: Backend, name: str) -> ModelInfo:
    models = {model.name: model for model in backend.models()}
    if name not in models:
        raise UnknownModelError(name, models)
    return models[name]


def _request(args: argparse.Namespace, prompt: Prompt, model: ModelInfo) -> Request:
    budget = None
    if args.steps or args.total_steps:
        steps = args.steps or model.default_steps_of(args.canvas_length)
        budget = StepBudget(max_steps=steps, max_total_steps=args.total_steps)
    default = Sampling()
    return Request(
        model=model.name,
        messages=prompt.messages,
        max_tokens=args.max_tokens,
        budget=budget,
        canvas_length=args.canvas_length,
        strategy=strategy_of(args),
        sampling=Sampling(
            temperature=default.temperature if args.temperature is None else args.temperature,
            top_p=default.top_p if args.top_p is None else args.top_p,
            seed=args.seed,
        ),
        mode=_mode(args),
        snapshots=args.watch,
    )


def _mode(args: argparse.Namespace) -> Mode:
    if args.speculative:
        return Mode.SPECULATIVE
    return Mode.AUTOREGRESSIVE if args.ar else Mode.DIFFUSION


def _record(
    args: argparse.Namespace, prompt: Prompt, generation: Generation, verified: CheckResult | None
) -> dict[str, object]:
    timing = generation.timing
    return {
        "model": args.model,
        "messages": [asdict(message) for message in prompt.messages],
        "in_domain": prompt.in_domain,
        "text": generation.text,
        "outcome": generation.outcome,
        "finish_reason": generation.finish_reason,
        "error": generation.error,
        "usage": asdict(generation.usage) | {"tokens_per_step": generation.usage.tokens_per_step},
        "seconds": timing.finished - timing.started,
        "check": None if verified is None else {"by": prompt.judge, **asdict(verified)},
    }


def _report(tools: Tools, prompt: Prompt, generation: Generation, verified: CheckResult | None) -> None:
    if generation.outcome is not Outcome.COMPLETED:
        tools.say(f"{generation.outcome}: {generation.error or 'no reason given'}")
        return
    timing = generation.timing
    tools.say(f"{_spent(generation.usage)}, {timing.finished - timing.started:.3f} s")
    if verified is not None:
        tools.say(f"{prompt.judge}: {'passed' if verified.passed else f'failed, {verified.reason}'}")


def _spent(usage: Usage) -> str:
    if usage.steps_estimated:
        return f"{usage.completion_tokens} tokens in some {usage.steps_used} of {usage.steps_allocated} steps"
    if not usage.steps_known:
        return f"{usage.completion_tokens if usage.tokens_known else 'unknown'} tokens, steps unknown"
    drafts = f", {usage.accepted} of {usage.drafted} drafted tokens accepted" if usage.drafted else ""
    return (
        f"{usage.completion_tokens} tokens in {usage.steps_used} of {usage.steps_allocated} steps "
        f"({usage.tokens_per_step:.2f} a step), {usage.canvases} canvas{'es' if usage.canvases != 1 else ''}, "
        f"{usage.exit_reason}{drafts}"
    )


def _typed(args: argparse.Namespace) -> str:
    """Return the command that a picture shows, without what only made the picture."""
    asked = shlex.quote(args.prompt) if args.prompt else f"--task {args.task}"
    steps = f" --steps {args.steps}" if args.steps else ""
    return f"unmask generate {asked}{steps} --watch"
