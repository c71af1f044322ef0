"""Published families whose layers multiply in whole numbers, against the same weights in single precision."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.engine.families.published import FAMILIES, PAGE, Published, canvas_row
from unmask.engine.families.decoder import Decoder
from unmask.engine.families.runner import FamilyRunner
from unmask.engine.families.shape import tensor_shapes
from unmask.engine.precision import dtype_of, widths_fault
from unmask.plan import Row
from unmask.testing.checkpoints import MASK, random_weights
from unmask.types import Precision

WHOLE = (Precision.INT8, Precision.INT4)
# Measured: 0.04 to 0.06 in int8 and 0.28 to 0.46 in int4 (0.02 to 0.03 in bfloat16).
MOST_ERROR = {Precision.INT8: 0.08, Precision.INT4: 0.55}
# Logits of random weights lie close together. Measured: 0.89 to 0.97, and 0.45 to 0.66 (0.95 to 0.97 in bfloat16).
LEAST_AGREEMENT = {Precision.INT8: 0.85, Precision.INT4: 0.4}


def runner_of(published: Published, precision: Precision) -> FamilyRunner:
    """Return a family in a precision, its widths made multiples of 32."""
    described = published.description
    shape = replace(described.shape, width=64, heads=4, key_heads=2, head_width=16)
    weights = random_weights(tensor_shapes(shape, described.names), published.seed)

    def read(name: str) -> Tensor:
        return weights[name].to(dtype_of(precision))

    decoder = Decoder(shape, described.names, read, precision)
    return FamilyRunner(decoder, described.pattern, mask=MASK, pages=16, page_size=PAGE)


def rows_of(published: Published) -> list[Row]:
    """Return eight canvases of random bytes."""
    drawn = torch.Generator().manual_seed(0)
    length = published.description.pattern.block or 32
    return [
        canvas_row((), tuple(torch.randint(0, 256, (length,), generator=drawn).tolist()), first_page=page)
        for page in range(8)
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_whole_numbers_stay_near_single_precision(family: str) -> None:
    """By the share of positions whose likeliest token is the same, and the distance of logits; rows stay apart."""
    published = Published.read(family)
    rows = rows_of(published)
    exact = runner_of(published, Precision.FLOAT32).forward(rows)
    for precision in WHOLE:
        runner = runner_of(published, precision)
        found = runner.forward(rows)
        agreement = (found.argmax(-1) == exact.argmax(-1)).float().mean().item()
        error = ((found - exact).norm() / exact.norm()).item()

        assert agreement >= LEAST_AGREEMENT[precision], (family, precision, agreement)
        assert 0 < error <= MOST_ERROR[precision], (family, precision, error)
        assert torch.equal(torch.cat([runner.forward([row]) for row in rows[:2]]), found[: 2 * len(found) // len(rows)])


def test_widths_that_int4_cannot_group_are_told() -> None:
    """Groups of 32 inputs; the other precisions take any."""
    assert "multiples of 32: 48, 64" in (widths_fault(Precision.INT4, (48, 64)) or "")
    assert all(widths_fault(each, (48,)) is None for each in (Precision.FLOAT32, Precision.BFLOAT16))
