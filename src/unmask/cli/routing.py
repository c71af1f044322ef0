"""``unmask tune routing``."""

import argparse
import asyncio
import time
from dataclasses import asdict

from rich.table import Table

from unmask.backend import ModelInfo
from unmask.cli.exits import Exit, UsageError
from unmask.cli.intervals import interval_record, shown
from unmask.cli.tools import Tools
from unmask.cli.tuning import write_out
from unmask.config import Settings
from unmask.control.route import Route, RouteEnd
from unmask.control.route_file import route_content
from unmask.errors import UnknownModelError
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import packaged_tokenizer
from unmask.tune.routing import FittedTask, Found
from unmask.tune.routing_run import Judged, RoutingPlan, RoutingRun, run_routing

MICRO = 1e6
PERCENT = 100


def run_tune_routing(args: argparse.Namespace, tools: Tools) -> int:
    """Fit a route, keep it, and show what it is worth."""
    plan = _plan(args)
    done = asyncio.run(_run(args, plan, tools))
    report = routing_report(done, plan)
    content = route_content(
        small=_end(done.small),
        large=_end(done.large),
        tasks={found.task: found.route for found in done.fitted},
        report=report,
    )
    write_out(args.out, content)
    if args.json:
        tools.write_json(report)
    else:
        tools.out.print(fitted_table(done.fitted))
        tools.out.print(judged_table(done.judged))
    if not done.tries_small:
        tools.say(f"No task type may try {done.small.name}: all requests go to {done.large.name}.")
    tools.say(f"kept: {args.out}; choosing takes {done.decision_s * MICRO:.0f} µs a request (median), charged above")
    return Exit.OK


def _plan(args: argparse.Namespace) -> RoutingPlan:
    known = tuple(all_tasks())
    tasks = tuple(dict.fromkeys(args.task or known))
    unknown = [task for task in tasks if task not in known]
    if unknown:
        raise UsageError(f"--task names {', '.join(unknown)}, allowed: {', '.join(known)}.")
    if not 0 < args.max_loss < 1:
        raise UsageError(f"--max-loss {args.max_loss:g}: allowed is a share between 0 and 1, neither included.")
    if args.small == args.large:
        raise UsageError(f"--small and --large are both {args.small}. Name two models.")
    return RoutingPlan(
        tasks=tasks,
        tuning=args.items,
        calibrating=args.calibrate_items,
        testing=args.test_items,
        seed=args.seed,
        in_flight=args.in_flight,
        max_loss=args.max_loss,
    )


async def _run(args: argparse.Namespace, plan: RoutingPlan, tools: Tools) -> RoutingRun:
    here = Settings(models=(args.small, args.large))
    backend = tools.make_backend(here if args.remote is None else Settings(remote=args.remote))
    try:
        models = {model.name: model for model in backend.models()}
        for name in (args.small, args.large):
            if name not in models:
                raise UnknownModelError(name, models)
        route = Route(name="route", small_name=args.small, small=models[args.small], large=models[args.large])
        count_tokens = packaged_tokenizer().chat_length
        return await run_routing(backend, route, plan, count_tokens, now=time.perf_counter, say=tools.say)
    finally:
        await backend.drain()


def _end(model: ModelInfo) -> RouteEnd:
    return RouteEnd(name=model.name, digest=model.digest)


def routing_report(done: RoutingRun, plan: RoutingPlan) -> dict[str, object]:
    """Return all that was measured, as it is kept beside the fit."""
    return {
        "plan": {**asdict(plan), "tasks": list(plan.tasks)},
        "decision_s": done.decision_s,
        "fitted": [
            {
                "task": found.task,
                "tuned": found.tuned,
                "calibrated": found.calibrated,
                "small_right": found.small_right,
                "large_right": found.large_right,
                "small_s": found.small_s,
                "large_s": found.large_s,
                "escalating": _found_record(found.found),
                "alone": _found_record(found.found_alone),
            }
            for found in done.fitted
        ],
        "judged": [
            {
                **{name: value for name, value in asdict(one).items() if name not in {"saving", "quality"}},
                "saving": interval_record(one.saving),
                "quality": interval_record(one.quality),
            }
            for one in done.judged
        ],
    }


def _found_record(found: Found) -> dict[str, object]:
    return {
        "reason": found.reason,
        "taken": None if found.taken is None else asdict(found.taken),
        "tried": [asdict(one) for one in found.tried],
    }


def fitted_table(fitted: tuple[FittedTask, ...]) -> Table:
    """Return a line a task type: what was found on the calibration split."""
    table = Table(
        caption="calibration split; alone: where a failed answer cannot be escalated, as in a committed stream"
    )
    for name in ("task", "small right", "large right", "threshold", "small first", "loss ≤", "saving", "alone"):
        table.add_column(name)
    for found in fitted:
        taken, alone = found.found.taken, found.found_alone.taken
        cells = (
            ("never", "", "", "")
            if taken is None
            else (f"{taken.threshold:.3f}", f"{taken.small:.1%}", f"{taken.upper:.2%}", f"{taken.saving:.1%}")
        )
        last = "never" if alone is None else f"{alone.threshold:.3f}"
        table.add_row(found.task, f"{found.small_right:.1%}", f"{found.large_right:.1%}", *cells, last)
    return table


def judged_table(judged: tuple[Judged, ...]) -> Table:
    """Return a line for the mixture and for each task type: what it is worth on the test split."""
    table = Table(
        caption="test split, against the large model alone; quality in points; 95 % intervals, paired by item"
    )
    for name in ("task", "escalates", "n", "small first", "escalated", "saving", "quality"):
        table.add_column(name)
    for one in judged:
        table.add_row(
            one.task or "all",
            "yes" if one.can_escalate else "no",
            str(one.n),
            f"{one.small:.1%}",
            f"{one.escalated:.1%}",
            shown(one.saving, PERCENT, "%"),
            shown(one.quality, PERCENT),
        )
    return table
