"""The modes that benches hold against each other: whose answers differ."""

from unmask.types import Mode

BOTH_MODES = (Mode.DIFFUSION, Mode.AUTOREGRESSIVE)
"""Speculation gives the answers of the second; what it costs, `unmask.bench.speculation_bench` measures."""
