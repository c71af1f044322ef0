"""``unmask cache``."""

import argparse
import os
from collections.abc import Sequence
from dataclasses import asdict
from random import Random
from urllib.parse import quote

import httpx
from rich.table import Table

from unmask.app.cache import audit_folder
from unmask.cache.calibrate import Figures, Origin, calibrate, draw_pairs, measure
from unmask.cli.embeddings import embedder_of
from unmask.cli.exits import Exit, UsageError
from unmask.cli.intervals import interval_record, shown
from unmask.cli.tools import Tools
from unmask.control.cache_audits import AuditResult, FalseHits, false_hits, read_audits
from unmask.errors import ConfigError, UnmaskError
from unmask.knowledge.embedding import Embedder, default_embedder
from unmask.tasks.item import Split

ENGLISH = (Origin.DIALOGUE, Origin.LOOKUP)
TIMEOUT_S = 10.0


def run_cache(args: argparse.Namespace, tools: Tools) -> int:
    """Report what comparisons say of hits, take answers out of a server, or calibrate an embedder."""
    match args.action:
        case "report":
            _report(args, tools)
        case "forget":
            _forget(args, tools)
        case _:
            _calibrate(args, tools)
    return Exit.OK


def _report(args: argparse.Namespace, tools: Tools) -> None:
    folder = args.folder or audit_folder(os.environ)
    try:
        audits = read_audits(folder)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be read: {error.strerror or error}") from error
    found = false_hits(audits.records)
    false = [audit for audit in audits.records if audit.result is AuditResult.FALSE]
    if args.json:
        tools.write_json(
            {
                "folder": str(folder),
                "hits": [{**asdict(one), "rate": interval_record(one.rate)} for one in found],
                "false": [asdict(audit) for audit in false],
                "unreadable": audits.unreadable,
            }
        )
        return
    if not audits.records:
        tools.say(f"no comparisons in {folder}: a share of hits is generated again, the setting cache_audit_share")
        return
    tools.out.print(_table(found))
    for audit in false if args.false else ():
        tools.write(f"--- {audit.entry}, {audit.match}, similarity {audit.similarity:.3f}, {audit.age_s:.0f} s old")
        tools.write(f"asked:    {audit.asked}\nkept for: {audit.kept_question}")
        tools.write(f"answer:   {audit.answer}\nkept:     {audit.kept_answer}")
    if audits.unreadable:
        tools.say(f"lines that could not be read: {audits.unreadable}")


def _table(found: Sequence[FalseHits]) -> Table:
    table = Table("hits", "compared", "another text, verified", "false", "false %")
    for one in found:
        table.add_row(one.match, str(one.compared), str(one.accepted), str(one.false), shown(one.rate, 100))
    return table


def _forget(args: argparse.Namespace, tools: Tools) -> None:
    url = f"{args.url.rstrip('/')}/v1/cache" + ("" if args.all else f"/{quote(args.entry, safe='')}")
    try:
        headers = {} if args.key_file is None else {"authorization": f"Bearer {args.key_file.read_text().strip()}"}
        response = httpx.delete(url, headers=headers, timeout=TIMEOUT_S)
        body = response.json()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the key cannot be read from {args.key_file}: {error}") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise UnmaskError(f"{args.url} does not answer as a server does: {error}; is it up?") from error
    if response.status_code != httpx.codes.OK:
        raise UnmaskError(f"{args.url}: {body.get('error', {}).get('message', response.status_code)}")
    tools.say(f"answers that are not given again: {body['entries']}")


def _calibrate(args: argparse.Namespace, tools: Tools) -> None:
    given = embedder_of(args)
    offline = ((default_embedder("en").embedder, ENGLISH), (default_embedder("").embedder, tuple(Origin)))
    thresholds: dict[str, float] = {}
    figures: list[tuple[str, Figures]] = []
    for embedder, origins in offline if given is None else ((given, tuple(Origin)),):
        least, found = _calibrated(embedder, origins, args)
        thresholds[embedder.name] = least
        figures += [(embedder.name, one) for one in found]
    if args.json:
        tools.write_json(
            {
                "pairs": args.pairs,
                "seed": args.seed,
                "thresholds": thresholds,
                "figures": [_record(name, one) for name, one in figures],
            }
        )
        return
    for name, least in thresholds.items():
        tools.out.print(f"{name}: cache_similarity {least:.3f}", highlight=False)
    table = Table("embedder", "pairs", "found %, vectors", "false %, vectors", "found %, guarded", "false %, guarded")
    for name, one in figures:
        arms = (one.vectors.found, one.vectors.false, one.guarded.found, one.guarded.false)
        table.add_row(name, one.origin, *(shown(rate, 100) for rate in arms))
    tools.out.print(table)


def _calibrated(embedder: Embedder, origins: Sequence[Origin], args: argparse.Namespace) -> tuple[float, list[Figures]]:
    tune = [pair for origin in origins for pair in draw_pairs(Random(args.seed), Split.CALIBRATE, origin, args.pairs)]
    least = calibrate(tune, embedder)
    if least is None:
        raise UsageError(f"--pairs is {args.pairs}, allowed: enough for one that the guard lets through. Draw more.")
    tests = [draw_pairs(Random(args.seed), Split.TEST, origin, args.pairs) for origin in origins]
    return least, [measure(pairs, embedder, least) for pairs in tests]


def _record(embedder: str, figures: Figures) -> dict[str, object]:
    arms = (("vectors", figures.vectors), ("guarded", figures.guarded))
    return {
        "embedder": embedder,
        "origin": figures.origin,
        "pairs": figures.pairs,
        **{name: {"found": interval_record(arm.found), "false": interval_record(arm.false)} for name, arm in arms},
    }
