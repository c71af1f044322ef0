"""Low confidence: an even quota of the surest, and what beats a threshold."""

import numpy as np
import pytest

from tests.engine.strategies.handmade import revealed, sure, view
from unmask.engine.strategies.base import most_confident
from unmask.engine.strategies.low_confidence import LowConfidence


@pytest.mark.parametrize(
    ("length", "steps", "quotas"),
    [(8, 4, [2, 2, 2]), (8, 3, [3, 3]), (7, 3, [3, 2]), (32, 5, [7, 7, 6, 6]), (4, 8, [1, 1, 1, 1])],
)
def test_quota_spreads_what_is_open_over_the_steps_left(length: int, steps: int, quotas: list[int]) -> None:
    """Each step takes an even share, larger ones first; what the last step fills is not asked of the strategy."""
    tokens = [0] * length
    taken = []
    for step in range(steps - 1):
        if 0 not in tokens:
            break
        update = LowConfidence().step(view(tokens, step=step, steps_left=steps - step), sure([0.5] * length), None)
        taken.append(len(revealed(update)))
        tokens = [9 if place in revealed(update) else token for place, token in enumerate(tokens)]

    assert taken == quotas


def test_the_surest_go_first() -> None:
    """The quota is filled from the highest confidence down."""
    update = LowConfidence().step(view([0] * 4, steps_left=2), sure([0.2, 0.9, 0.3, 0.8]), None)

    assert revealed(update) == [1, 3]


def test_ties_go_to_the_earlier_position() -> None:
    """Equally sure positions are revealed from the left, also in a long canvas."""
    update = LowConfidence().step(view([0] * 5, steps_left=2), sure([0.4, 0.7, 0.7, 0.7, 0.7]), None)
    assert revealed(update) == [1, 2, 3]

    likely = [(0.3, 0.5, 0.7)[place * place % 7 % 3] for place in range(64)]
    ranked = sorted(range(64), key=lambda place: (-likely[place], place))
    assert revealed(LowConfidence().step(view([0] * 64, steps_left=3), sure(likely), None)) == sorted(ranked[:22])


def test_quota_counts_candidates_alone() -> None:
    """Positions behind the draft's first end token neither raise the quota nor are revealed by it."""
    update = LowConfidence().step(view([0] * 16, steps_left=4, until=4), sure([0.5] * 4 + [0.99] * 12), None)

    assert revealed(update) == [0]


def test_fixed_positions_are_passed_over() -> None:
    """However sure the network is of a fixed position, the quota is for open ones."""
    update = LowConfidence().step(view([0, 9, 0, 9], steps_left=2), sure([0.3, 0.99, 0.2, 0.99]), None)

    assert revealed(update) == [0]


def test_threshold_is_strict() -> None:
    """Beside the quota every candidate above the threshold is revealed; one that equals it is not."""
    signals = sure([0.5, 0.75, 0.875, 0.96875])
    update = LowConfidence(threshold=0.75).step(view([0] * 4, steps_left=4), signals, None)

    assert revealed(update) == [2, 3]


def test_quota_is_met_where_nothing_beats_the_threshold() -> None:
    """The quota is the forced progress."""
    update = LowConfidence(threshold=0.99).step(view([0] * 4, steps_left=2), sure([0.5, 0.6, 0.7, 0.8]), None)

    assert revealed(update) == [2, 3]


def test_threshold_does_not_reach_behind_the_end() -> None:
    """A sure position behind the draft's first end token stays open."""
    update = LowConfidence(threshold=0.5).step(view([0] * 4, steps_left=4, until=2), sure([0.4, 0.6, 0.9, 0.9]), None)

    assert revealed(update) == [1]


def test_most_confident_takes_no_more_than_there_are() -> None:
    """Asking for more positions than are eligible marks all of them and no other."""
    among = np.array([True, False, True])
    chosen = most_confident(np.array([0.0, 9.0, 1.0], dtype=np.float32), among, 5)

    assert chosen.tolist() == among.tolist()
