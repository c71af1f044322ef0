"""Votes among the drafts of a single run, which takes no step (after Wang et al. 2025, arXiv 2508.09138).

A run may pass by its best answer: a draft in the middle is right and the last step spoils it. A text that many drafts
in a row have agreed on is likelier to be right than one that the last step alone says.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from unmask.backend import Generation
from unmask.search.score import Agreement, said, verdict_of
from unmask.types import DraftCheck, StepTrace, Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    text: str
    tokens: tuple[int, ...]
    weight: float


def voted(
    generation: Generation, check: DraftCheck | None, stop: Sequence[str] = (), agreement: Agreement = said
) -> Generation:
    """Return what the drafts of a traced run say together: the run's own answer, or another of its drafts.

    Only drafts that are whole answers vote: those of the last canvas at which the answer would end. One that passes
    the verifier is taken before any that fails; then the text with the largest weight; the run's own answer wins a
    tie. A draft that is taken has no log-probabilities, as no step has fixed it.

    Args:
        generation: with its trace; one without is returned as it is.
        check: the request's verifier, if it has one.
        stop: its stop sequences, which drafts have not been cut at.
        agreement: what of two texts has to be the same.
    """
    drafts = list(_drafts(generation.trace, stop))
    own = _Draft(text=generation.text, tokens=generation.tokens, weight=0.0)
    weights: dict[str, float] = defaultdict(float)
    for draft in drafts:
        weights[agreement(draft.text)] += draft.weight
    passes = {
        text: verdict_of(check, text) is not Verification.FAIL for text in {draft.text for draft in (*drafts, own)}
    }
    best = max((own, *reversed(drafts)), key=lambda draft: (passes[draft.text], weights[agreement(draft.text)]))
    if agreement(best.text) == agreement(own.text):
        return generation
    return replace(generation, text=best.text, tokens=best.tokens, logprobs=())


def _drafts(trace: Sequence[StepTrace], stop: Sequence[str]) -> list[_Draft]:
    canvases = [list(steps) for _, steps in groupby(trace, key=lambda entry: entry.canvas)]
    if not canvases:
        return []
    before = b"".join(steps[-1].data for steps in canvases[:-1])
    tokens = tuple(token for steps in canvases[:-1] for token in steps[-1].draft)
    last = canvases[-1]
    found: list[_Draft] = []
    for number, entry in enumerate(last, start=1):
        text = _cut((before + entry.data).decode(errors="replace"), stop)
        if entry.ends and text:
            # Early drafts are guesses: a draft counts in proportion to how far its canvas was.
            found.append(_Draft(text=text, tokens=(*tokens, *entry.draft), weight=number / len(last)))
    return found


def _cut(text: str, stop: Sequence[str]) -> str:
    places = [place for place in (text.find(one) for one in stop) if place >= 0]
    return text[: min(places)] if places else text
