"""The counters of a vLLM that serves a diffusion model, as its Prometheus page tells them.

The server runs every canvas through the accounting of speculative decoding: each pass over a canvas counts its
positions, the pass that commits it included, and a commit counts its tokens.
"""

import math
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

_POSITIONS = "vllm:diffusion_num_canvas_positions_total"
_COMMITTED = "vllm:diffusion_num_committed_tokens_total"
_PASSES = "vllm:diffusion_num_denoising_steps_total"
_RUNNING = "vllm:num_requests_running"
_WAITING = "vllm:num_requests_waiting"
_COUNTERS = (_PASSES, _POSITIONS, _COMMITTED)
_NAMES = (*_COUNTERS, _RUNNING, _WAITING)


class CountersError(Exception):
    """A page has no such counters, or no numbers in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What a server has done since it started, all its engines together.

    Attributes:
        passes: over canvases, those that commit them included, although the name of the counter is denoising steps.
        positions: of these passes.
        committed: tokens.
        busy: requests that it runs or that wait.
    """

    passes: float
    positions: float
    committed: float
    busy: float


def read_counters(page: str) -> Counters:
    """Read a page in the text format of Prometheus.

    Raises:
        CountersError: it is none, or lacks a counter.
    """
    # Of hundreds of lines a handful is parsed.
    lines = [line for line in page.splitlines() if line.startswith(_NAMES)]
    sums: dict[str, float] = {}
    try:
        for family in text_string_to_metric_families("\n".join(lines) + "\n"):
            for one in family.samples:
                sums[one.name] = sums.get(one.name, 0.0) + one.value
    except ValueError as error:
        raise CountersError("its counters are no text of Prometheus") from error
    missing = [name for name in _COUNTERS if name not in sums]
    if missing:
        raise CountersError(f"it has no counter {missing[0]}")
    if not all(math.isfinite(value) and value >= 0 for value in sums.values()):
        raise CountersError("its counters are no counts")
    return Counters(
        passes=sums[_PASSES],
        positions=sums[_POSITIONS],
        committed=sums[_COMMITTED],
        busy=sums.get(_RUNNING, 0.0) + sums.get(_WAITING, 0.0),
    )
