"""Which of several entities a name means, by who is asked, what else the question says, and what was said before."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from unmask.knowledge.graph import Graph
from unmask.knowledge.mention import Candidate, Mention
from unmask.knowledge.question import Question

SPOKEN_OF = 1.0
"""The conversation is about it already."""
NEXT_TO_NAMED = 0.6
"""It is next to another entity that the question names."""
NEXT_TO_SPEAKER = 0.5
HAS_SLOT = 0.4
"""Something is known of it on a slot that the question asks for."""
CLEAR = 0.3
"""A candidate that scores so much less than the best is not meant."""
_ROUNDING = 1e-9


def resolved(question: Question, graph: Graph, speaker: str, focus: Collection[str]) -> tuple[Mention, ...]:
    """Return the mentions of a question with the candidates that are left; several where nothing tells them apart."""
    named = [mention.candidates[0].entity for mention in question.mentions if len(mention.candidates) == 1]
    near_named = {entity for name in named for entity in graph.neighbours(name)}
    slots = {slot for path in question.paths for hop in path.hops for slot in hop}

    def scored(candidate: Candidate) -> Candidate:
        entity = candidate.entity
        score = candidate.score
        score += SPOKEN_OF * (entity in focus)
        score += NEXT_TO_NAMED * (entity in near_named)
        score += NEXT_TO_SPEAKER * (entity in near_speaker)
        score += HAS_SLOT * any(graph.values(entity, slot) for slot in slots)
        return replace(candidate, score=score)

    near_speaker = graph.neighbours(speaker) | {speaker}
    return tuple(
        replace(mention, candidates=_clear([scored(candidate) for candidate in mention.candidates]))
        if len(mention.candidates) > 1
        else mention
        for mention in question.mentions
    )


def _clear(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    ranked = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.entity))
    best = ranked[0].score
    return tuple(candidate for candidate in ranked if best - candidate.score < CLEAR - _ROUNDING)
