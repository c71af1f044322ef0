"""Writes the README's figures from the kept results: ``python -m unmask.bench.readme``."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unmask.bench.layers_picture import QUALITY, rows_of
from unmask.types import Precision

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
README = Path("README.md")
RESULTS = Path("bench/results")
OTHERS = ("isolation", "batching", "gateway", "gate", "search-bfloat16", "business", "layers", "scale")
ARMS = ("engine", "lockstep", "reference", "bfloat16", "reference_bfloat16", "autoregressive")


def figures_text(
    engine: Mapping[str, Any],
    model: Mapping[str, Any],
    policy: Mapping[str, Any] | None = None,
    others: Iterable[Mapping[str, Any]] = (),
) -> str:
    """Return the tables that stand between the README's marks; those of a policy and of other benches, if measured."""
    text = f"{_targets('Engine', engine)}\n{_arms(engine)}\n{_targets('Model', model)}\n{_autoregressive(model)}"
    text = text if policy is None else f"{text}\n{_targets('Policy', policy)}\n{_policy_arms(policy)}"
    return "\n".join([text, *map(_other, others)])


def insert(readme: str, text: str) -> str:
    """Return the README with what stands between its marks replaced."""
    head, rest = readme.split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}\n{text}\n{END}{tail}"


def load(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Load one kept result."""
    result: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return result


def load_if_kept(name: str, folder: Path = RESULTS) -> dict[str, Any] | None:
    """Load one kept result; nothing where there is none yet."""
    return load(name, folder) if (folder / f"{name}.json").exists() else None


def kept_figures(folder: Path) -> str:
    """Return the tables of all kept results that the README shows."""
    kept = (load_if_kept(name, folder) for name in OTHERS)
    others = [report for report in kept if report is not None]
    return figures_text(load("engine", folder), load("model", folder), load_if_kept("policy", folder), others)


def _targets(title: str, report: Mapping[str, Any]) -> str:
    model = f"model `{report['model_digest']}`"
    of = f"{model}; policy `{report['policy'][:12]}`" if "policy" in report else model
    if report.get("precision", Precision.FLOAT32) != Precision.FLOAT32:
        of = f"{of}; {report['precision']}"
    lines = [
        f"**{title}** (`unmask bench {report['bench']}`; {report['machine']}; {of})",
        "",
        "| figure | measured | unfavourable end of 95 % | target | |",
        "|---|---|---|---|---|",
    ]
    for entry in report["must_reach"]:
        bound = "not enough data" if entry["bound"] is None else f"{entry['bound']:.3g}"
        verdict = "met" if entry["holds"] else "**short**"
        lines.append(
            f"| `{entry['name']}` | {entry['value']:.3g} | {bound} | {entry['op']} {entry['target']:g} | {verdict} |"
        )
    return "\n".join(lines) + "\n"


def _other(report: Mapping[str, Any]) -> str:
    text = _targets(report["bench"].capitalize(), report)
    return f"{text}\n{_layers(report)}" if report["bench"] == "layers" else text


def _layers(report: Mapping[str, Any]) -> str:
    """Return every row with its arms, its quality, and why it is short where it is."""
    figures = {figure["name"]: figure for figure in report["figures"]}
    lines = [
        f"Workload `{report['workload'][:12]}`.",
        "",
        "| row | layer: off → on | measured | right answers on less off | remarks |",
        "|---|---|---|---|---|",
    ]
    for name in rows_of(list(figures)):
        arms, _, remarks = figures[name]["note"].partition("; ")
        measured, quality = (_spread(figures[one]) for one in (name, f"{name}{QUALITY}"))
        lines.append(f"| `{name}` | {arms} | {measured} | {quality} | {remarks} |")
    return "\n".join(lines) + "\n"


def _spread(figure: Mapping[str, Any]) -> str:
    if figure["low"] is None:
        return f"{figure['value']:.3g}"
    return f"{figure['value']:.3g} ({figure['low']:.3g} to {figure['high']:.3g})"


def _arms(report: Mapping[str, Any]) -> str:
    values = {figure["name"]: figure["value"] for figure in report["figures"]}
    lines = ["| arm | requests/s | tokens/s | p50 s | p95 s |", "|---|---|---|---|---|"]
    for arm in (arm for arm in ARMS if f"{arm}.requests_per_s" in values):
        row = (f"{arm}.requests_per_s", f"{arm}.tokens_per_s", f"{arm}.latency_p50", f"{arm}.latency_p95")
        lines.append(f"| {arm} | " + " | ".join(_number(values[name]) for name in row) + " |")
    return "\n".join(lines) + "\n"


def _policy_arms(report: Mapping[str, Any]) -> str:
    values = {figure["name"]: figure["value"] for figure in report["figures"]}
    lines = [
        "| arm | mean steps | p95 steps | right answers | of the hardest third | p50 s |",
        "|---|---|---|---|---|---|",
    ]
    for arm in (name.removesuffix(".p95_steps") for name in values if name.endswith(".p95_steps")):
        if not arm.startswith("drifted."):
            row = ("mean_steps", "p95_steps", "quality", "hardest_third.quality", "latency_p50")
            lines.append(f"| {arm} | " + " | ".join(_number(values[f"{arm}.{name}"]) for name in row) + " |")
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _autoregressive(report: Mapping[str, Any]) -> str:
    values = {figure["name"]: figure["value"] for figure in report["figures"]}
    names = [name for name in values if name.endswith("_accuracy_ar") and "[" not in name]
    cells = ", ".join(f"{name.removesuffix('_accuracy_ar')} {values[name]:.2f}" for name in names)
    return f"The same weights run autoregressively: {cells}.\n"


def main() -> int:
    """Rewrite the README; returns 0."""
    README.write_text(insert(README.read_text(encoding="utf-8"), kept_figures(RESULTS)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
