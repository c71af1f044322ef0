"""``unmask bench``: runs benches, prints a table and a picture, judges targets."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Protocol

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from unmask.bench.agreement_bench import Compared, run_agreement_bench
from unmask.bench.batching_bench import run_batching_bench
from unmask.bench.bench import Bench
from unmask.bench.business_bench import run_business_bench
from unmask.bench.conversation_bench import run_conversation_bench
from unmask.bench.engine_bench import run_engine_bench
from unmask.bench.fixed_budgets import read_fixed_budgets
from unmask.bench.gate_bench import GateBasis, run_gate_bench
from unmask.bench.gate_report import write_gate_report
from unmask.bench.gateway_bench import run_gateway_bench
from unmask.bench.isolation_bench import run_isolation_bench
from unmask.bench.layers_bench import LayersBasis, run_layers_bench
from unmask.bench.layers_rows import rows_named
from unmask.bench.ledger_bench import run_ledger_bench
from unmask.bench.model_bench import run_model_bench
from unmask.bench.pictures import check_pictures, save_picture
from unmask.bench.policy_bench import Basis, run_policy_bench
from unmask.bench.policy_under_test import NoPolicyError, open_policy
from unmask.bench.precision_bench import run_precision_bench
from unmask.bench.report import BenchReport, record_lines, to_json
from unmask.bench.scale_bench import run_scale_bench
from unmask.bench.search_bench import run_search_bench
from unmask.bench.speculation_bench import run_speculation_bench
from unmask.bench.table import print_report
from unmask.clock import SystemClock
from unmask.cluster.errors import ClusterMissingError
from unmask.config.file import find_file
from unmask.config.load import load_settings
from unmask.control.sources import short_digest
from unmask.control.stored import StoredPolicies
from unmask.engine.weights import load_weights, packaged_weights
from unmask.errors import UnmaskError
from unmask.policy.folders import open_store, packaged_store
from unmask.text.tokenizer import packaged_tokenizer
from unmask.tune.origin import commit
from unmask.tune.run import CURVES
from unmask.types import ApproximateCache, ApproximateKv, Precision

MODEL = "tiny"
"""Whose results the README shows, in single precision; others are kept beside them under their own name."""
RESULTS = Path("bench/results")
HELD, MISSED, COULD_NOT_MEASURE = 0, 1, 3

Watch = Callable[[str, float], None]
Runner = Callable[[int, bool, Watch], BenchReport]


class PlainBench(Protocol):
    """Measures a bench's model and returns what it found."""

    def __call__(self, bench: Bench, *, seed: int, quick: bool, progress: Watch) -> BenchReport:
        """Run it; ``progress`` is told of stages and shares."""
        ...


Maker = Callable[[Bench, argparse.Namespace, Console], Runner]
"""Looks for all that a bench needs, before anything is measured, and returns what runs it."""


def run(args: argparse.Namespace) -> int:
    """Run the benches that ``args`` names.

    Returns:
        0 when every target holds (and after ``--quick``, which decides nothing), 1 when one does not, 3 when one
        could not be judged.

    Raises:
        UnmaskError: the records or pictures could not be written; said before anything is measured.
    """
    console = Console(stderr=True)
    bench = Bench(
        model=load_weights(packaged_weights(args.model)),
        tokenizer=packaged_tokenizer(),
        clock=SystemClock(),
        precision=Precision(args.precision),
    )
    runners = _runners(bench, args, console)
    # A row alone is no result of its bench.
    keep = not args.quick and args.row is None and commit() is not None and RESULTS.is_dir()
    if keep:
        check_pictures()
    reports: list[BenchReport] = []
    with _records_file(args.records) as records:
        for name, runner in runners.items():
            report = _measure(name, runner, args, console)
            records.write(record_lines(report.records))
            if not args.json:
                print_report(report, Console())
            if keep:
                _keep(report, args.policy, console)
            reports.append(report)
    if args.json:
        sys.stdout.write(_json(reports) + "\n")
    if len(runners) < len(_chosen(args.name)):
        return COULD_NOT_MEASURE
    return HELD if args.quick else _verdict(reports)


def _runners(bench: Bench, args: argparse.Namespace, console: Console) -> dict[str, Runner]:
    """Return what runs the chosen benches; among several one that lacks a policy or Ray is left out, and said so."""
    runners: dict[str, Runner] = {}
    for name in _chosen(args.name):
        try:
            runners[name] = (BENCHES | BY_NAME_ALONE)[name](bench, args, console)
        except (NoPolicyError, ClusterMissingError) as error:
            if args.name == name or args.policy is not None:
                raise
            console.print(f"bench {name} cannot measure: {error.message}", markup=False, highlight=False)
    return runners


def _verdict(reports: Sequence[BenchReport]) -> int:
    entries = [entry for report in reports for entry in report.must_reach]
    if any(entry.bound is None for entry in entries):
        return COULD_NOT_MEASURE
    return HELD if all(entry.holds for entry in entries) else MISSED


def _chosen(name: str) -> tuple[str, ...]:
    return tuple(BENCHES) if name == "all" else (name,)


@contextmanager
def _records_file(path: Path | None) -> Iterator[IO[bytes]]:
    try:
        with Path(os.devnull if path is None else path).open("wb") as file:
            yield file
    except OSError as error:
        raise UnmaskError(f"cannot write the records {str(path)!r}: {error}; name another file") from error


def _json(reports: Sequence[BenchReport]) -> str:
    """Return one object: the report, or all of them under ``benches``."""
    if len(reports) == 1:
        return to_json(reports[0]).decode()
    return '{"benches": [' + ",\n".join(to_json(report).decode() for report in reports) + "]}"


def _measure(name: str, runner: Runner, args: argparse.Namespace, console: Console) -> BenchReport:
    columns = (TextColumn("bench {task.fields[bench]}: {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=1.0, bench=name)

        def watch(stage: str, fraction: float) -> None:
            bar.update(task, description=stage, completed=fraction)

        report = runner(args.seed, args.quick, watch)
    if args.quick:
        console.print("[yellow]--quick: these figures decide nothing[/yellow]")
    return report


def _keep(report: BenchReport, named: str | None, console: Console) -> None:
    """Keep a full run of a checkout; what the README reads is `MODEL` in single precision, under its active policy."""
    model = () if report.model == MODEL else (report.model,)
    precision = () if report.precision is Precision.FLOAT32 else (report.precision,)
    policy = () if named is None or report.policy is None else (short_digest(report.policy),)
    name = "-".join((report.name, *model, *precision, *policy))
    result, picture = RESULTS / f"{name}.json", RESULTS / f"{name}.png"
    result.write_bytes(to_json(report) + b"\n")
    save_picture(report, picture)
    console.print(f"kept: {result}, {picture}")


def _plain(run_bench: PlainBench) -> Maker:
    """Return a maker of a bench that needs nothing beside what is measured."""

    def make(bench: Bench, _: argparse.Namespace, __: Console) -> Runner:
        def run_it(seed: int, quick: bool, watch: Watch) -> BenchReport:  # noqa: FBT001 - one signature for all
            torch.set_grad_enabled(False)
            return run_bench(bench, seed=seed, quick=quick, progress=watch)

        return run_it

    return make


def _policy(bench: Bench, args: argparse.Namespace, console: Console) -> Runner:
    given = {} if args.policy_dir is None else {"policy_dir": args.policy_dir}
    settings = load_settings(flags=given, environ=os.environ, file=find_file(Path(), None)).settings
    under = open_policy(bench, open_store(settings.policy_dir, os.environ), args.policy)
    name = bench.model.name
    folder = args.folder or Path("runs") / f"bench-policy-{name}"
    kept = read_fixed_budgets(args.curves, Path("runs") / f"curve-{name}" / CURVES, under.model)
    basis = Basis(under=under, folder=folder, kept=kept, look_seed=args.look_seed)

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    def run_it(seed: int, quick: bool, watch: Watch) -> BenchReport:  # noqa: FBT001 - one signature for all
        torch.set_grad_enabled(False)
        return run_policy_bench(bench, basis, seed=seed, quick=quick, progress=watch, say=say)

    return run_it


def _gate(bench: Bench, args: argparse.Namespace, console: Console) -> Runner:
    name = bench.model.name
    policy = StoredPolicies(packaged_store()).active_policy(name, bench.model.digest)
    basis = GateBasis(policy=policy, folder=args.folder or Path("runs") / f"bench-gate-{name}")

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    def run_it(seed: int, quick: bool, watch: Watch) -> BenchReport:  # noqa: FBT001 - one signature for all
        torch.set_grad_enabled(False)
        say(
            "no approved policy comes with these weights: diffusion runs with its default budget"
            if policy is None
            else f"diffusion runs under policy {short_digest(policy.digest)}, which comes with the package"
        )
        report = run_gate_bench(bench, basis, seed=seed, quick=quick, progress=watch, say=say)
        if args.report is not None:
            say(f"report: {', '.join(map(str, write_gate_report(report, args.report)))}")
        return report

    return run_it


def _search(bench: Bench, args: argparse.Namespace, _: Console) -> Runner:
    folder = args.folder or Path("runs") / f"bench-search-{bench.model.name}"

    def run_it(seed: int, quick: bool, watch: Watch) -> BenchReport:  # noqa: FBT001 - one signature for all
        torch.set_grad_enabled(False)
        return run_search_bench(bench, folder, seed=seed, quick=quick, progress=watch)

    return run_it


def _layers(bench: Bench, args: argparse.Namespace, _: Console) -> Runner:
    folder = args.folder or Path("runs") / f"bench-layers-{bench.model.name}"
    basis = LayersBasis(rows=rows_named(args.row, bench.model.network.shape), folder=folder)

    def run_it(seed: int, quick: bool, watch: Watch) -> BenchReport:  # noqa: FBT001 - one signature for all
        torch.set_grad_enabled(False)
        return run_layers_bench(bench, basis, seed=seed, quick=quick, progress=watch)

    return run_it


def _scale(bench: Bench, args: argparse.Namespace, console: Console) -> Runner:
    if find_spec("ray") is None:
        raise ClusterMissingError
    return _plain(run_scale_bench)(bench, args, console)


def _agreement(bench: Bench, args: argparse.Namespace, console: Console) -> Runner:
    cache = ApproximateCache(args.approximate_cache or ApproximateCache.OFF)
    if args.checkpoint is None or cache is ApproximateCache.OFF:
        raise UnmaskError(
            "bench agreement compares a checkpoint with an approximate cache with the same one without: name both, as "
            "in --checkpoint DIR --approximate-cache dual"
        )
    compared = Compared(
        path=args.checkpoint,
        approximate=ApproximateKv(cache=cache, refresh=args.approximate_cache_refresh),
        items=args.items,
        steps=args.steps,
    )

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    def run_it(seed: int, quick: bool, watch: Watch) -> BenchReport:  # noqa: FBT001 - one signature for all
        torch.set_grad_enabled(False)
        return run_agreement_bench(compared, bench.clock, seed=seed, quick=quick, progress=watch, say=say)

    return run_it


BENCHES: dict[str, Maker] = {
    "engine": _plain(run_engine_bench),
    "model": _plain(run_model_bench),
    "isolation": _plain(run_isolation_bench),
    "batching": _plain(run_batching_bench),
    "policy": _policy,
    "ledger": _plain(run_ledger_bench),
    "gateway": _plain(run_gateway_bench),
    "gate": _gate,
    "search": _search,
    "business": _plain(run_business_bench),
    "speculation": _plain(run_speculation_bench),
    "precision": _plain(run_precision_bench),
    "conversation": _plain(run_conversation_bench),
    "layers": _layers,
    "scale": _scale,
}
BY_NAME_ALONE: dict[str, Maker] = {"agreement": _agreement}
"""Those that measure a model of one's own, and are no part of ``all``."""
