"""Judges dialogue answers, with the truth (`check_answer`) and from the request alone (`verify_answer`)."""

import re
from collections import Counter
from dataclasses import dataclass

from unmask.cards import parse_facts
from unmask.tasks.dialogue_grammar import Reading, expand, read_answer, read_sentence
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, Item, failed
from unmask.types import Message, Role

_SPEAKER = re.compile(r"^You are (\S+)\.$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a request says: who speaks, what is true, what was asked last."""

    speaker: str
    persona: str
    truths: frozenset[tuple[str, str, str]]
    question: str

    def values(self, slot: str) -> set[str]:
        """Return the speaker's true values of a slot."""
        return {value for subject, key, value in self.truths if subject == self.speaker and key == slot}


def read_request(messages: tuple[Message, ...]) -> Request | None:
    """Read a request, or return nothing when it names no speaker."""
    system = "\n".join(message.content for message in messages if message.role is Role.SYSTEM)
    speakers = _SPEAKER.findall(system)
    if not speakers:
        return None
    speaker = speakers[-1]
    truths = frozenset((fact.subject, fact.slot, fact.value) for fact in parse_facts(system) if not fact.denied)
    persona = next((value for subject, slot, value in truths if (subject, slot) == (speaker, "persona")), "")
    questions = [message.content for message in messages if message.role is Role.USER]
    return Request(speaker=speaker, persona=persona, truths=truths, question=questions[-1] if questions else "")


def check_answer(item: Item, text: str) -> CheckResult:
    """Pass when the text states exactly the required claims, in any order and any phrasing."""
    request = read_request(item.messages)
    if request is None:
        return failed("the item names no speaker")
    reading = read_answer(text, request.persona)
    if reading.problem:
        return failed(reading.problem, FailureKind.FORMAT)
    return _compare(Counter(expand(item.accepted)), reading)


def _compare(missing: Counter[str], reading: Reading) -> CheckResult:
    for claims in reading.claims:
        # More than one reading is possible only for texts that no phrasing means; a required one wins.
        wanted = next((claim for claim in sorted(claims) if missing[claim] > 0), None)
        if wanted is None:
            claim = min(claims)
            same = claim.rsplit("|", 1)[0]
            wrong = any(key.rsplit("|", 1)[0] == same for key, count in missing.items() if count > 0)
            said = "wrong value" if wrong else "not asked for or repeated"
            return failed(f"{said}: {claim}", FailureKind.FACT if wrong else FailureKind.LOGIC)
        missing[wanted] -= 1
    lacking = [claim for claim, count in missing.items() if count > 0]
    return failed(f"missing: {', '.join(lacking)}", FailureKind.LOGIC) if lacking else PASSED


def verify_answer(messages: tuple[Message, ...], text: str) -> CheckResult:
    """Pass when every sentence is the persona's manner or holds on the request's facts."""
    request = read_request(messages)
    if request is None:
        return failed("the request names no speaker")
    reading = read_answer(text, request.persona)
    if reading.problem:
        return failed(reading.problem, FailureKind.FORMAT)
    for claims in reading.claims:
        if not any(_holds(request, claim) for claim in claims):
            return failed(f"not on the facts: {min(claims)}", FailureKind.FACT)
    if all(claim.startswith("deny|") for claims in reading.claims for claim in claims):
        return failed("no content sentence", FailureKind.LOGIC)
    return PASSED


def holds_on(request: Request, sentence: str) -> bool:
    """Tell whether a whole sentence can be read, and may be true of the request's facts."""
    read = read_sentence(sentence)
    return bool(read) and all(any(_holds(request, claim) for claim in claims) for claims in read)


def _holds(request: Request, claim: str) -> bool:
    match claim.split("|"):
        case ["first", slot, value]:
            return (request.speaker, slot, value) in request.truths
        case ["third", subject, slot, value]:
            return (subject, slot, value) in request.truths
        case ["absent", slot]:
            return not request.values(slot)
        case ["deny", wrong]:
            own = {value for subject, _, value in request.truths if subject == request.speaker}
            return wrong not in own and wrong in re.findall(r"[\w'-]+", request.question)
        case _:
            return False
