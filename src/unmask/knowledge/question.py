"""A question as what it asks for: paths of slots, and from where they start.

*Where does your ally live* asks for two slots in a row: the ally of whoever is spoken to, and the home of that ally.
What is written between two slots says how they hang together: *the home of your ally* is the other way round, and
*your home and your ally* are two paths.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unmask.knowledge.function_words import CONJUNCTIONS, ELLIPSES, INVERTED, JOINING_TAILS, PAST
from unmask.knowledge.linking import Linker
from unmask.knowledge.mention import Mention, Pointing, Pronoun, SlotMention, ValueMention
from unmask.knowledge.pronouns import find_pronouns
from unmask.knowledge.script import Unit, units
from unmask.knowledge.slot_phrases import SlotPhrases

Anchor = Mention | Pronoun
_SHORT = 3
"""Most units of a question that says too little to be asked anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Slots in the order they are followed, and the mentions they start from.

    Attributes:
        anchors: none where the question names nobody: then it is about the speaker, or whom the last one was about.
        hops: for each hop the slots that its words may mean.
        bound: whether grammar ties the path to its anchors; else it only stands next to them.
        chained: whether the path goes on from where the one before it ends, as in *your ally, and their home*.
    """

    anchors: tuple[Anchor, ...]
    hops: tuple[tuple[str, ...], ...]
    bound: bool
    chained: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was read from a question's text.

    Attributes:
        paths: what is asked for; none where no slot was recognised.
        past: whether it asks about what was.
        inverted: whether it asks whose value somebody is (*whose mentor is he*).
        elliptical: whether it leaves out what the last question asked for (*and Kaelis?*).
    """

    text: tuple[Unit, ...]
    mentions: tuple[Mention, ...]
    values: tuple[ValueMention, ...]
    pronouns: tuple[Pronoun, ...]
    paths: tuple[Path, ...]
    past: bool
    inverted: bool
    elliptical: bool


def read_question(text: str, linker: Linker, phrases: SlotPhrases) -> Question:
    """Read a question; what it names is not yet told apart from what shares its names."""
    pieces = units(text)
    mentions = linker.mentions(pieces)
    covered = {at for mention in mentions for at in range(mention.start, mention.end)}
    pronouns = tuple(find_pronouns(pieces, covered))
    slots = phrases.find(pieces, mentions)
    words = [piece.text for piece in pieces]
    opens_short = bool(words) and words[0] in ELLIPSES and len(words) <= 2 * _SHORT
    return Question(
        text=pieces,
        mentions=mentions,
        values=linker.values(pieces, mentions),
        pronouns=pronouns,
        paths=tuple(_Reader(pieces, mentions, pronouns).paths(slots)),
        past=any(word in PAST - {"was", "were", "did", "had", "used", "before"} for word in words),
        inverted=any(word in INVERTED for word in words) or words[:2] in (["who", "did"], ["who", "does"]),
        elliptical=opens_short or len(words) <= _SHORT,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Slots that hang together, and how they are joined to the group before.

    Attributes:
        order: as they are followed. ``last``: the one that was written last.
        backwards: whether one is written behind those that it leads to.
    """

    order: tuple[SlotMention, ...]
    last: SlotMention
    join: str
    backwards: bool = False


class _Reader:
    """Puts slots together into paths by what stands between them."""

    def __init__(self, text: Sequence[Unit], mentions: Sequence[Mention], pronouns: Sequence[Pronoun]) -> None:
        self._text = text
        self._anchors: list[Anchor] = sorted((*mentions, *pronouns), key=lambda anchor: anchor.start)

    def paths(self, slots: Sequence[SlotMention]) -> list[Path]:
        groups: list[_Group] = []
        for slot in slots:
            join = self._join(groups[-1].last, slot) if groups else "apart"
            last = groups[-1] if groups else None
            if last and join == "of" and last.order[0] is last.last:
                groups[-1] = replace(last, order=(slot, *last.order), last=slot, backwards=True)
            elif last and join == "then":
                groups[-1] = replace(last, order=self._inserted(last, slot), last=slot)
            else:
                groups.append(_Group(order=(slot,), last=slot, join=join))
        return self._shared([self._path(group) for group in groups], groups)

    def _shared(self, paths: list[Path], groups: Sequence[_Group]) -> list[Path]:
        """Give slots that are joined by *and* what the other has: *the home and the craft of your mentor*."""
        for at in range(len(paths) - 2, -1, -1):
            this, after = groups[at], groups[at + 1]
            if after.join != "and" or self._owner(this.last) or self._owner_behind(this.last):
                continue
            if len(this.order) == 1 and (after.backwards or self._owner_behind(after.last)):
                hops = (*paths[at + 1].hops[:-1], *paths[at].hops)
                paths[at] = replace(paths[at + 1], hops=hops, chained=False)
        for at in range(1, len(paths)):
            this, before = groups[at], groups[at - 1]
            if this.join == "and" and len(this.order) == 1 and not before.backwards and len(paths[at - 1].hops) > 1:
                paths[at] = replace(paths[at - 1], hops=(*paths[at - 1].hops[:-1], *paths[at].hops))
        return paths

    def _inserted(self, group: _Group, slot: SlotMention) -> tuple[SlotMention, ...]:
        """Return a path with a further slot: right behind the last one where it is that one's, else at the end.

        *The home of your ally's mentor* asks for the home last, *where does the mentor of your ally live* too.
        """
        between = [self._text[at].text for at in range(group.last.end, slot.start)]
        is_its = between == ["s"] or (not between and group.last.tail.endswith("의"))
        at = group.order.index(group.last) + 1 if is_its else len(group.order)
        return (*group.order[:at], slot, *group.order[at:])

    def _join(self, first: SlotMention, second: SlotMention) -> str:
        """Tell how two slots hang together.

        ``of``: the first is the second's; ``then``: the second is the first's; ``their``: it goes on from the first's
        value; ``and``: both are of the same; ``apart``: each is of its own.
        """
        between = [self._text[at].text for at in range(first.end, second.start)]
        inside = [anchor for anchor in self._anchors if first.end <= anchor.start and anchor.end <= second.start]
        if first.tail.endswith(JOINING_TAILS) or any(self._joins(word) for word in between):
            own = [anchor for anchor in self._anchors if first.end <= anchor.start < second.end]
            if own and isinstance(own[-1], Pronoun) and own[-1].pointing is not Pointing.SPEAKER:
                return "their"
            return "apart" if own else "and"
        if between[:1] == ["of"]:
            return "of"
        if inside:
            return "apart" if self._owner(first) is not None else "of"
        if self._owner(first) is None and self._owner_behind(second) is not None and not self._before(first):
            return "of"
        return "then"

    def _joins(self, word: str) -> bool:
        return word in CONJUNCTIONS or (len(word) > 1 and word.endswith(("고", "며", "지만", "랑")))

    def _path(self, group: _Group) -> Path:
        order = group.order
        start = order[0]
        owner = self._owner(start) or self._owner_behind(start)
        anchor = owner or self._inside(start) or self._before(start) or self._behind(start)
        hops = tuple(slot.slots for slot in order)
        anchors = self._cluster(anchor) if anchor else ()
        return Path(anchors=anchors, hops=hops, bound=owner is not None, chained=group.join == "their")

    def _owner(self, slot: SlotMention) -> Anchor | None:
        """Return whom a slot's words are said to be of, right before them: *your*, *Kaelis's*, 카엘리스의."""
        anchor = self._before(slot)
        if anchor is None:
            return None
        between = [self._text[at].text for at in range(anchor.end, slot.start)]
        if isinstance(anchor, Pronoun) and not between:
            return anchor
        possessive = between in (["s"], ["의"]) or (not between and anchor.tail.endswith("의"))
        return anchor if possessive else None

    def _owner_behind(self, slot: SlotMention) -> Anchor | None:
        """Return whom a slot is said to be of, right behind it: *of Kaelis*, *of the old Kaelis*."""
        if slot.end >= len(self._text) or self._text[slot.end].text != "of":
            return None
        anchor = self._behind(slot)
        return anchor if anchor is not None and anchor.start - slot.end <= _SHORT else None

    def _inside(self, slot: SlotMention) -> Anchor | None:
        found = [anchor for anchor in self._anchors if slot.start <= anchor.start < slot.end]
        return found[-1] if found else None

    def _before(self, slot: SlotMention) -> Anchor | None:
        found = [anchor for anchor in self._anchors if anchor.end <= slot.start]
        return found[-1] if found else None

    def _behind(self, slot: SlotMention) -> Anchor | None:
        found = [anchor for anchor in self._anchors if anchor.start >= slot.end]
        return found[0] if found else None

    def _cluster(self, anchor: Anchor) -> tuple[Anchor, ...]:
        """Return an anchor with those it is joined to: *Kaelis and Mara*, 카엘리스와 마라."""
        cluster = [anchor]
        at = self._anchors.index(anchor)
        for other in reversed(self._anchors[:at]):
            if not self._joined(other, cluster[0]):
                break
            cluster.insert(0, other)
        for other in self._anchors[at + 1 :]:
            if not self._joined(cluster[-1], other):
                break
            cluster.append(other)
        return tuple(cluster)

    def _joined(self, one: Anchor, other: Anchor) -> bool:
        between = [self._text[at].text for at in range(one.end, other.start)]
        by_tail = one.tail.endswith(JOINING_TAILS) and not between
        return by_tail or (bool(between) and len(between) <= 2 and between[0] in (CONJUNCTIONS | {"와", "과", "랑"}))
