"""Facts and a question that follows one to six of them, the path written out.

``Follow ally then home from Kaloren.`` is answered
``ally Miven home Dorasen: Dorasen``: every hop with the name it leads to, then
the value.
"""

import re
from random import Random

from unmask.cards import Fact, parse_facts, render_cards, render_triples
from unmask.tasks.draw import draw_in_split
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, Difficulty, Item, Split, failed, question_of
from unmask.tasks.names import draw_names
from unmask.tasks.phrasing import draw_phrasing
from unmask.tasks.spec import load_spec
from unmask.types import Message, Role

RELATIONS = ("home", "affiliation", "ally", "rival", "mentor", "sealed_by")
PHRASINGS = (
    "Start at {name}: {path}.",
    "From {name} follow {path}.",
    "{name}: {path}?",
    "Go from {name} by {path}.",
    "What is {path} of {name}?",
    "Follow {path} from {name}.",
    "Start at {name} and follow {path}.",
    "What is {path} from {name}?",
)
# Whole words only: the name Tarival holds a relation too.
_PATH = re.compile(rf"\b(?:{'|'.join(RELATIONS)})\b")
_SHOWN = 40


class Lookup:
    """Multi-hop look-up; facts and hops are the difficulty axes."""

    name = "lookup"

    def generate(self, rng: Random, split: Split) -> Item:
        """Draw one question of ``split``."""
        return draw_in_split(rng, split, self._draw)

    def _draw(self, rng: Random, split: Split) -> Item:
        spec = load_spec()
        hops = spec.axis(self.name, "hops").draw_int(rng)
        count = max(spec.axis(self.name, "facts").draw_int(rng), hops)
        names = draw_names(rng, split, hops + 1 + max(2, count // 3))
        path = tuple(rng.choices(RELATIONS, k=hops))
        chain = [Fact(subject=names[hop], slot=slot, value=names[hop + 1]) for hop, slot in enumerate(path)]
        facts = chain + _distractors(rng, names, chain, count - hops)
        rng.shuffle(facts)
        render = render_triples if spec.axis(self.name, "format").draw(rng) == "triples" else render_cards
        question = draw_phrasing(rng, split, PHRASINGS).format(name=names[0], path=" then ".join(path))
        answer = " ".join(f"{fact.slot} {fact.value}" for fact in chain) + f": {names[hops]}"
        return Item(
            task=self.name,
            messages=(Message(role=Role.USER, content=f"{render(facts)}\n{question}"),),
            answer=answer,
            difficulty=Difficulty(axes=(("hops", hops), ("facts", count))),
            canonical="lookup " + ";".join(sorted(map(repr, facts))) + names[0] + "/".join(path),
        )

    def check(self, item: Item, text: str) -> CheckResult:
        """Pass only the exact path and value."""
        if text.strip() == item.answer:
            return PASSED
        return failed(f"expected {item.answer!r}", self.verify(item.messages, text).failure or FailureKind.LOGIC)

    def verify(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Pass when every hop is a fact of the request, in the order it asks for, and the value ends the path."""
        prompt = question_of(messages)
        facts = {(fact.subject, fact.slot): fact.value for fact in parse_facts(prompt) if not fact.denied}
        subjects = {subject for subject, _ in facts}
        question = prompt.strip().rsplit("\n", 1)[-1]
        asked = _PATH.findall(question)
        here = next((word for word in re.findall(r"\w+", question) if word in subjects), "")
        path, colon, value = text.strip().rpartition(": ")
        if not (here and asked and colon):
            failure = FailureKind.FORMAT if here and asked else None
            return failed("no path to follow in the request or in the text", failure)
        words = path.split(" ")
        if words[::2] != asked or len(words) != 2 * len(asked):
            is_path = len(words) % 2 == 0 and set(words[::2]) <= set(RELATIONS)
            return failed("the path is not the one asked for", FailureKind.LOGIC if is_path else FailureKind.FORMAT)
        for slot, name in zip(asked, words[1::2], strict=True):
            if facts.get((here, slot)) != name:
                return failed(f"{here} {slot} {name[:_SHOWN]!r} is not a fact of the request", FailureKind.FACT)
            here = name
        return PASSED if value == here else failed("the value is not the end of the path", FailureKind.LOGIC)


def _distractors(rng: Random, names: list[str], chain: list[Fact], count: int) -> list[Fact]:
    """Draw facts that never give a second value to a subject's slot."""
    taken = {(fact.subject, fact.slot) for fact in chain}
    facts: list[Fact] = []
    free = [(name, slot) for name in names for slot in RELATIONS if (name, slot) not in taken]
    for subject, slot in rng.sample(free, count):
        value = rng.choice([name for name in names if name != subject])
        facts.append(Fact(subject=subject, slot=slot, value=value))
    return facts
