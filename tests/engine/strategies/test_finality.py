"""The finality strategy: threshold and quota, and that serving sees what training sees."""

import numpy as np
import pytest

from tests.engine.strategies.handmade import END, MASK, revealed, sure, view
from unmask.engine.strategies import finality as finality_module
from unmask.engine.strategies.finality import Finality, FinalityState
from unmask.policy.finality import Floats, Sight, features, sights
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence
from unmask.strategy import StrategyName
from unmask.testing.cores import make_core, make_engine, run_all
from unmask.testing.learned import make_choice, make_finality_model
from unmask.testing.networks import TINY_ADAPTER, make_network
from unmask.testing.submissions import make_submission

MODEL = make_finality_model()
FINALITY = Finality(model=MODEL, threshold=0.9)


def test_what_is_final_is_revealed_at_once() -> None:
    """All candidates scored at least the threshold, fixed positions and those behind the end left alone."""
    update = FINALITY.step(view([9, MASK, MASK, MASK, MASK], until=4), sure([0.5, 0.99, 0.99, 0.5, 0.99]), None)

    assert revealed(update) == [1, 2]


def test_the_threshold_is_inclusive() -> None:
    """A score of exactly the threshold's log-odds is enough."""
    canvas, signals = view([MASK] * 3, steps_left=3), sure([0.6, 0.7, 0.8])
    sight_scores = []
    for threshold in (0.0, 1.0):
        update = Finality(model=MODEL, threshold=threshold).step(canvas, signals, None)
        sight_scores.append(revealed(update))

    assert sight_scores == [[0, 1, 2], [2]]


def test_a_small_budget_is_used_evenly() -> None:
    """Where nothing is final, each step takes an even share of the best-scored candidates."""
    update = Finality(model=MODEL, threshold=1.0).step(view([MASK] * 6, steps_left=2), sure([0.3, 0.9] * 3), None)

    assert len(revealed(update)) == 3
    # The first has the context to its left; the rest are the surest.
    assert revealed(update) == [1, 3, 5]


def test_tokens_that_stay_grow_more_final() -> None:
    """A position is revealed once its token has stayed the same long enough; the state is what is remembered."""
    canvas, signals = view([MASK] * 4, steps_left=40), sure([0.8] * 4)
    state: object = None
    counts = []
    for _ in range(6):
        update = FINALITY.step(canvas, signals, state)
        state = update.state
        counts.append(len(revealed(update)))

    assert counts[0] == 1
    assert counts[-1] == 4
    assert isinstance(state, FinalityState)
    assert state.age.tolist() == [5] * 4


def test_the_draft_it_remembers_is_closed() -> None:
    """As in a trace, behind the first end token are end tokens."""
    state = FINALITY.step(view([MASK, END, MASK], until=2), sure([0.9] * 3), None).state

    assert isinstance(state, FinalityState)
    assert state.draft.tolist() == [9, END, END]


def watched_run(*, traced: bool) -> tuple[Sequence, list[Floats]]:
    """Run two canvases; return the sequence and the features of each step in order."""
    served: list[Floats] = []

    def watched(sight: Sight) -> Floats:
        served.append(features(sight))
        return served[-1]

    way = SchedSettings(pages=16, page_size=16, max_rows=1)
    choice = make_choice(StrategyName.FINALITY, 0.99)
    submission = make_submission((3, 4, 5), max_tokens=32, canvas_length=16, max_steps=9, strategy=choice, trace=traced)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finality_module, "features", watched)
        (sequence,) = run_all(make_core(make_engine(make_network(ending=0.3), way), way), [submission])
    return sequence, served


@pytest.mark.parametrize("traced", [True, False])
def test_training_sees_what_serving_sees(traced: bool) -> None:
    """The features of every step of a run are those that its trace gives, whether it is traced or not."""
    _, served = watched_run(traced=traced)
    sequence, _ = watched_run(traced=True)
    canvases = [[entry for entry in sequence.trace if entry.canvas == number] for number in (0, 1)]
    # The engine fills the last step itself.
    seen = [
        features(sight)
        for canvas in canvases
        for sight in sights(canvas, TINY_ADAPTER.end)
        if sight.step + 1 < canvas[0].max_steps
    ]

    assert len(served) >= 8
    for found, expected in zip(served, seen, strict=True):
        assert found.shape == expected.shape
        # A last bit may round the other way, by a hundredth.
        assert np.allclose(found, expected, rtol=0, atol=0.0101)
