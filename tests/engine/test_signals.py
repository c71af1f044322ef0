"""What a step's logits say: tokens drawn, how sure, and noise that repeats."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from unmask.engine.signals import MAX_LOG_ODDS, Draw, Needs, Signals, observe, uniform_noise
from unmask.engine.signals import spread as spread_out
from unmask.types import Sampling

EVERYTHING = Needs(gap=True, entropy=True, log_probabilities=True)


def draw_of(length: int, *, temperature: float = 0.0, top_p: float = 1.0, seed: int = 0, step: int = 0) -> Draw:
    """Return how a row of ``length`` is drawn, in its first canvas."""
    sampling = Sampling(temperature=temperature, top_p=top_p, seed=seed)
    return Draw(places=tuple(range(length)), span=length, sampling=sampling, canvas=0, step=step)


def observe_one(logits: Tensor, draw: Draw, needs: Needs = EVERYTHING) -> Signals:
    """Return the signals of a single row."""
    (signals,) = observe(logits, [draw], needs)
    assert signals is not None
    return signals


def spread(probabilities: list[float], length: int) -> Tensor:
    """Return logits of a distribution, the same at every position."""
    return torch.tensor(probabilities).log().repeat(length, 1)


def test_signals_follow_their_definitions() -> None:
    """The likeliest token, its probability and log-odds, the lead over the next, and the entropy in nats."""
    signals = observe_one(torch.tensor([0.7, 0.2, 0.1]).log().unsqueeze(0), draw_of(1))

    assert signals.tokens.tolist() == [0]
    assert signals.probability.tolist() == pytest.approx([0.7])
    assert signals.confidence.tolist() == pytest.approx([round(math.log(0.7 / 0.3), 3)])
    assert signals.gap is not None
    assert signals.gap.tolist() == pytest.approx([math.log(0.7 / 0.2)])
    assert signals.entropy is not None
    assert signals.entropy.tolist() == pytest.approx([-sum(p * math.log(p) for p in (0.7, 0.2, 0.1))])
    assert signals.log_probabilities is not None
    assert signals.log_probabilities.exp().tolist()[0] == pytest.approx([0.7, 0.2, 0.1])


def test_what_nobody_needs_is_not_computed() -> None:
    """Gap, entropy and distributions cost a pass over the vocabulary, so they come only when asked for."""
    signals = observe_one(torch.randn(2, 5), draw_of(2), Needs())

    assert (signals.gap, signals.entropy, signals.log_probabilities) == (None, None, None)


def test_needs_add_up() -> None:
    """The needs of two rows are what either needs."""
    assert Needs(gap=True) | Needs(entropy=True) == Needs(gap=True, entropy=True)
    assert Needs() | Needs(log_probabilities=True) == Needs(log_probabilities=True)


def test_rows_get_their_own_part() -> None:
    """Rows of different lengths stacked in one matrix come back apart, as if each were alone."""
    logits = torch.randn(7, 11, generator=torch.Generator().manual_seed(1))
    draws = [draw_of(3), draw_of(1, temperature=1.0, seed=5), draw_of(3, temperature=0.5, top_p=0.8)]
    together = observe(logits.clone(), draws, EVERYTHING)

    first = 0
    for draw, signals in zip(draws, together, strict=True):
        assert signals is not None
        alone = observe_one(logits[first : first + draw.length].clone(), draw)
        assert signals.tokens.tolist() == alone.tokens.tolist()
        assert signals.probability.tolist() == alone.probability.tolist()
        assert signals.confidence.tolist() == alone.confidence.tolist()
        first += draw.length


def test_logits_are_left_as_they_were() -> None:
    """Observing changes no logit."""
    logits = torch.randn(4, 9)
    before = logits.clone()
    observe_one(logits, draw_of(4, temperature=1.0))

    assert torch.equal(logits, before)


def test_last_bits_do_not_rank() -> None:
    """Logits that differ by what two orders of summation differ by give the same confidence, also near certainty."""
    certain = torch.tensor([[14.0, 0.0, -1.0], [14.0, 0.0, -1.0], [3.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    noisy = certain + torch.tensor([[2e-6, 0.0, 0.0], [-2e-6, 0.0, 0.0], [1e-6, 0.0, 0.0], [-1e-6, 0.0, 0.0]])
    confidence = observe_one(noisy, draw_of(4)).confidence

    assert confidence[0] == confidence[1]
    assert confidence[2] == confidence[3]


def test_near_certainty_still_ranks() -> None:
    """Log-odds tell apart probabilities that single precision rounds to one, up to a bound."""
    logits = torch.tensor([[17.0, 0.0], [18.0, 0.0], [40.0, 0.0], [50.0, 0.0], [0.0, float("-inf")]])
    signals = observe_one(logits, draw_of(5))

    assert signals.confidence.tolist() == [17.0, 18.0, MAX_LOG_ODDS, MAX_LOG_ODDS, MAX_LOG_ODDS]


def test_probability_of_a_drawn_token_is_undisturbed() -> None:
    """Temperature changes which token is drawn, not how sure the network is said to be of it."""
    signals = observe_one(spread([0.5, 0.3, 0.2], 200), draw_of(200, temperature=2.0, top_p=0.9))

    expected = np.array([0.5, 0.3, 0.2])[signals.tokens]
    assert set(signals.tokens.tolist()) == {0, 1, 2}
    assert signals.probability == pytest.approx(expected)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("bad", [[0.0, float("nan"), 0.0], [0.0, float("inf"), 1.0], [float("-inf")] * 3])
def test_numbers_that_are_none_give_no_signals(bad: list[float], temperature: float) -> None:
    """A row of a network that overflows has none, never made-up tokens; rows around it have theirs as ever."""
    good = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    logits = torch.cat((good[:2], good[:1], torch.tensor([bad]), good[2:]))
    draws = [draw_of(2, temperature=temperature, seed=seed) for seed in range(3)]
    first, broken, last = observe(logits, draws, EVERYTHING)

    assert broken is None
    for found, part, draw in ((first, good[:2], draws[0]), (last, good[2:], draws[2])):
        assert found is not None
        expected = observe_one(part.clone(), draw)
        assert found.tokens.tolist() == expected.tokens.tolist()
        assert found.probability.tolist() == expected.probability.tolist()
        assert found.entropy is not None
        assert np.isfinite(found.entropy).all()


def frequencies(probabilities: list[float], draw: Draw) -> list[float]:
    """Return how often each token is drawn."""
    tokens = observe_one(spread(probabilities, draw.length), draw, Needs()).tokens
    return [float((tokens == token).mean()) for token in range(len(probabilities))]


@pytest.mark.parametrize(
    ("temperature", "top_p", "expected"),
    [
        (1.0, 1.0, [0.5, 0.25, 0.15, 0.1]),
        (0.5, 1.0, [0.7246, 0.1812, 0.0652, 0.0290]),
        (1.0, 0.75, [2 / 3, 1 / 3, 0.0, 0.0]),
        (1.0, 0.76, [0.5556, 0.2778, 0.1667, 0.0]),
        (1.0, 0.5, [1.0, 0.0, 0.0, 0.0]),
        (1.0, 1e-9, [1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_tokens_follow_the_distribution(temperature: float, top_p: float, expected: list[float]) -> None:
    """Drawn frequencies fit the tempered nucleus, by a chi-square test that a fair drawer fails one time in 10^5."""
    count = 20_000
    found = frequencies([0.5, 0.25, 0.15, 0.1], draw_of(count, temperature=temperature, top_p=top_p))

    assert [share for share, wanted in zip(found, expected, strict=True) if wanted == 0] == [0.0] * expected.count(0.0)
    chi = sum(count * (share - wanted) ** 2 / wanted for share, wanted in zip(found, expected, strict=True) if wanted)
    assert chi < 26.0


def test_nucleus_ignores_the_order_of_ids() -> None:
    """The nucleus is made of the likeliest tokens, wherever their ids stand."""
    found = frequencies([0.1, 0.5, 0.15, 0.25], draw_of(5_000, temperature=1.0, top_p=0.7))

    assert [share > 0 for share in found] == [False, True, False, True]


def test_a_forbidden_token_is_never_drawn() -> None:
    """A logit of −∞ is never drawn, however flat the rest and whatever the noise."""
    logits = torch.zeros(20_000, 4)
    logits[:, 0] = logits[:, 3] = float("-inf")
    tokens = observe_one(logits, draw_of(20_000, temperature=2.0), Needs()).tokens

    assert set(tokens.tolist()) == {1, 2}


def test_a_tiny_temperature_takes_the_likeliest() -> None:
    """Dividing by a temperature near zero overflows nothing."""
    signals = observe_one(torch.tensor([[1.0, 2.0, 1.5]] * 3), draw_of(3, temperature=1e-45), Needs())

    assert signals.tokens.tolist() == [1, 1, 1]


def noise(places: Sequence[int], span: int, *, seed: int = 0, canvas: int = 0, step: int = 0) -> list[float]:
    """Return the numbers of some positions of a canvas."""
    return uniform_noise(
        Draw(places=tuple(places), span=span, sampling=Sampling(seed=seed), canvas=canvas, step=step)
    ).tolist()


@given(st.integers(-(2**70), 2**70), st.integers(0, 40), st.integers(-1, 40), st.sets(st.integers(0, 31)).map(sorted))
def test_noise_depends_on_its_key_alone(seed: int, step: int, canvas: int, places: list[int]) -> None:
    """The same seed, canvas and step give a position the same number, whichever others are drawn."""
    whole = noise(range(64), 64, seed=seed, canvas=canvas, step=step)

    assert noise(places, 32, seed=seed, canvas=canvas, step=step) == [whole[place] for place in places]
    assert all(0 <= number < 1 for number in whole)


def test_noise_differs_with_every_part_of_its_key() -> None:
    """Another seed, canvas, step or position gives another number."""
    keys = [(seed, canvas, step) for seed in (0, 1) for canvas in (-1, 0, 1) for step in (0, 1, 2)]
    numbers = [
        number for seed, canvas, step in keys for number in noise(range(8), 8, seed=seed, canvas=canvas, step=step)
    ]

    assert len(set(numbers)) == len(numbers)


def test_spread_puts_signals_where_they_belong() -> None:
    """Positions that were not looked at keep their token and count as certain."""
    looked_at = observe_one(torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]]), draw_of(2))
    whole = spread_out(looked_at, (1, 3), np.array([7, 0, 8, 0]))

    assert whole.tokens.tolist() == [7, 1, 8, 0]
    assert whole.probability[[0, 2]].tolist() == [1.0, 1.0]
    assert whole.probability[[1, 3]].tolist() == looked_at.probability.tolist()
    assert whole.confidence[[1, 3]].tolist() == looked_at.confidence.tolist()
    assert whole.confidence[[0, 2]].tolist() == [MAX_LOG_ODDS] * 2
    for found, expected in ((whole.gap, looked_at.gap), (whole.entropy, looked_at.entropy)):
        assert found is not None
        assert expected is not None
        assert found[[1, 3]].tolist() == expected.tolist()
        assert found[[0, 2]].tolist() == [0.0, 0.0]
    assert whole.log_probabilities is not None
    assert looked_at.log_probabilities is not None
    assert torch.equal(whole.log_probabilities[[1, 3]], looked_at.log_probabilities)


def test_spread_over_nothing_is_the_canvas_itself() -> None:
    """A canvas without an open position has signals all the same."""
    nothing = observe_one(torch.empty(0, 3), Draw(places=(), span=2, sampling=Sampling(), canvas=0, step=0))

    assert spread_out(nothing, (), np.array([7, 8])).tokens.tolist() == [7, 8]


def test_the_lead_of_one_of_two_equals_is_none() -> None:
    """The next token may be as likely as the likeliest; a drawn token changes no lead."""
    logits = torch.tensor([[2.0, 2.0, 1.0], [0.5, 3.0, 1.0]])
    for temperature in (0.0, 1.0):
        gap = observe_one(logits.clone(), draw_of(2, temperature=temperature), Needs(gap=True)).gap

        assert gap is not None
        assert gap.tolist() == [0.0, 2.0]
