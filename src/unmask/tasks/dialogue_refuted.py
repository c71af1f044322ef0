"""Tells of the beginning of a dialogue answer whether nothing that may follow can make it hold."""

from collections.abc import Iterator

from unmask.tasks.dialogue_check import Request, holds_on, read_request
from unmask.tasks.dialogue_grammar import MAX_TEXT, SENTENCE_END
from unmask.tasks.dialogue_phrases import MANNERS, Manner
from unmask.types import Message


def is_refuted(messages: tuple[Message, ...], text: str) -> bool:
    """Tell whether a beginning has a whole sentence that is neither manner nor true.

    From the request alone. A sentence is whole once a blank follows it. What may still become an opening or a closing
    of the persona is not judged, so no beginning of an answer that `verify_answer` passes is refuted.
    """
    request = read_request(messages)
    if request is None or len(text) > MAX_TEXT:
        return False
    manner = MANNERS.get(request.persona)
    body = " ".join(text.split()) + (" " if text[-1:].isspace() else "")
    if manner is not None:
        body = _without_opening(body, manner)
    return any(not _may_stand(request, manner, sentence, rest) for sentence, rest in _whole_sentences(body))


def _without_opening(body: str, manner: Manner) -> str:
    if any(f"{opening} ".startswith(body) for opening in manner.openings):
        return ""
    return next((body[len(opening) + 1 :] for opening in manner.openings if body.startswith(f"{opening} ")), body)


def _whole_sentences(body: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences that a blank follows, each with all that is there from it on."""
    at = 0
    for end in SENTENCE_END.finditer(body):
        yield body[at : end.start()], body[at:]
        at = end.end()


def _may_stand(request: Request, manner: Manner | None, sentence: str, rest: str) -> bool:
    if manner is not None and any(closing.startswith(rest.strip()) for closing in manner.closings):
        return True
    return holds_on(request, sentence)
