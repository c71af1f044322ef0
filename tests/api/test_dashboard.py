"""The Grafana dashboard asks for what a server has, and for nothing else."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.test_metrics_docs import registered, used_registry
from unmask.metrics.control import ControlVerdict
from unmask.metrics.exposition import expose

ROOT = Path(__file__).parents[2]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "grafana" / "unmask.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
NAME = re.compile(r"\b(?:unmask|vllm:)[a-z_]+")
SELECTED = re.compile(r"(unmask[a-z_]+)(?:\{([^}]*)\})?")
BY = re.compile(r"\b(?:by|label_values) \(([^)]*)\)")
LEFT_OUT = {
    "unmask_build_info": "says what runs, not how",
    "unmask_model_info": "says what runs, not how",
    "unmask_policy_info": "says what runs, not how",
    "unmask_engine_ticks_total": "forwards and busy time say what the loop does",
    "unmask_holds_total": "their time, and who joins meanwhile, say what they are good for",
    "unmask_kv_growth_tokens_total": "pages by length of conversation say how memory fills",
    "unmask_kv_page_tokens": "a setting, which does not change",
    "vllm:num_requests_running": "another name for routers",
    "vllm:num_requests_waiting": "another name for routers",
    "vllm:kv_cache_usage_perc": "another name for routers",
}
"""What no panel shows, and why."""
SERIES = ("_bucket", "_sum", "_count")


def panels() -> list[dict[str, Any]]:
    """Return every panel but the headings."""
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def expressions() -> Iterator[str]:
    """Yield everything that is asked of Prometheus, by the dashboard and in the page's examples."""
    yield from (target["expr"] for panel in panels() for target in panel["targets"])
    yield from (entry["query"]["query"] for entry in DASHBOARD["templating"]["list"] if entry["type"] == "query")
    yield from re.findall(r"(?m)^    ((?:sum|rate|histogram_quantile|1 - ).*)$", PAGE)


async def labels_by_name() -> dict[str, set[str]]:
    """Return the labels of every series that a server writes."""
    found: dict[str, set[str]] = {}
    for row in await registered():
        suffixes = SERIES if row.kind == "histogram" else ("",)
        for suffix in suffixes:
            found[row.name + suffix] = {*row.labels, *({"le"} if suffix == "_bucket" else ())}
    return found


async def test_every_metric_exists_with_the_labels_that_are_asked_for() -> None:
    """A name or label that is gone, or misspelt, would be an empty panel that nobody notices."""
    known = await labels_by_name()
    for expression in expressions():
        names = NAME.findall(expression)
        assert names, expression
        assert [name for name in names if name not in known] == [], expression
        for name, selected in SELECTED.findall(expression):
            asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selected))
            assert asked <= known[name], expression
        grouped = {label.strip() for group in BY.findall(expression) for label in group.split(",")}
        assert grouped <= set().union(*(known[name] for name in names)), expression


async def test_every_metric_is_shown_or_left_out_for_a_reason() -> None:
    """What a server newly tells is looked at by nobody until it has a panel."""
    asked = {name for panel in panels() for target in panel["targets"] for name in NAME.findall(target["expr"])}
    shown = {name.removesuffix("_bucket") for name in asked}

    assert {row.name for row in await registered()} - shown == set(LEFT_OUT)


def test_values_that_are_asked_for_are_such_as_there_are() -> None:
    """Verdicts and reasons out of an enum are spelt as it has them."""
    asked = {
        value
        for expression in expressions()
        for values in re.findall(r'verdict=~?"([^"]*)"', expression)
        for value in values.split("|")
    }

    assert asked
    assert asked <= set(ControlVerdict)


@pytest.mark.parametrize(
    "topic",
    [
        "unmask_queue_length",
        "unmask_queue_oldest_time_seconds",
        "unmask_generation_steps",
        "unmask_exits_total",
        "unmask_control_verdicts_total",
        "unmask_attempt_steps_total",
        "unmask_engine_rows_total",
        "unmask_engine_useful_tokens_total",
        "unmask_forward_time_seconds",
        "unmask_kv_usage_ratio",
        "unmask_kv_growth_pages_total",
        "unmask_request_overhead_seconds",
    ],
)
def test_what_an_operator_has_to_see_is_there(topic: str) -> None:
    """Queues, steps, exits, misjudgement, re-expansion, batches, forwards, memory and our own overhead."""
    assert any(topic in expression for expression in expressions())


def test_panels_lie_side_by_side() -> None:
    """None covers another, and none reaches beyond the 24 columns; ids are different."""
    cells: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        own = {
            (column, line)
            for column in range(place["x"], place["x"] + place["w"])
            for line in range(place["y"], place["y"] + place["h"])
        }
        assert not own & cells, panel["title"]
        assert place["x"] + place["w"] <= 24
        cells |= own
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)


def test_it_belongs_to_no_machine() -> None:
    """The data source is chosen where it is imported."""
    sources = {target["datasource"]["uid"] for panel in panels() for target in [panel, *panel["targets"]]}

    assert sources == {"${datasource}"}


async def test_names_are_those_of_a_server_that_is_asked() -> None:
    """What the registry says is what is written: the same names are in the text of ``/metrics``."""
    text = expose(await used_registry(), None).body.decode()
    names = {name for expression in expressions() for name in NAME.findall(expression)}

    # Of a metric whose labels nothing has had yet, such as hits of a cache that is off, only the kind is written.
    assert {name for name in names if f"\n{name}" not in text and f"# TYPE {name} " not in text} == set()
