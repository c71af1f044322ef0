"""Finds the names of a world's entities and words in a text, whatever alias, script or particles they stand with.

A mention is replaced by a short token, so that a name of several words, or one with a particle, is one word to whatever
reads the text afterwards.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from unmask.gate.reading.normal import has_hangul, normalised
from unmask.knowledge.world import World

MENTION = r"Q[ew]\d+Z"
"""A token that stands for a mention: of entities (``Qe0Z``) or of words of the vocabulary (``Qw0Z``)."""
ENTITY = r"Qe\d+Z"
LIST_ENDS = r"(?:'s)? (?:is|was|has|lives|serves)\b"
"""What follows a name that begins a clause of its own rather than ending a list: a verb for one, not for several."""

_LATIN = r"A-Za-z0-9À-ɏ"
# A copula of any ending, then particles, of which several may follow one another.
_COPULA = r"(?:입니|이었|였|이다|이야|이에|예요|이오|이네|이지|이라|이며|이고|이자|인|야|다|지|요)[가-힣]{0,4}"
_PARTICLE = (
    r"(?:은|는|이|가|을|를|의|에서|에게서|에게|에|와|과|도|만|으로|로|께서|께|랑|이랑|부터|까지|보다|처럼|님|씨|경|공|"
    r"이나|나|한테|하고|라는|라고|이라는|이라고|뿐|들|조차|마저|아|여)"
)
_TAIL = rf"(?=(?:{_PARTICLE}{{0,3}}(?:{_COPULA})?)(?:[^가-힣]|$))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name in a text and all that it may mean: ids of entities, or keys of the vocabulary."""

    token: str
    text: str
    entities: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    @property
    def values(self) -> frozenset[str]:
        """Whatever it may stand for as a value of a slot."""
        return self.entities | self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A text with its mentions as tokens."""

    text: str
    mentions: Mapping[str, Mention]

    def in_part(self, part: str) -> tuple[Mention, ...]:
        """Return the mentions of a part of the text, in order."""
        return tuple(self.mentions[token] for token in re.findall(MENTION, part))


class Names:
    """The names of a world, to be found in many texts."""

    def __init__(self, world: World) -> None:
        named = [
            (name, entity.id)
            for entity in world.entities.values()
            for name in (*entity.names.values(), *(alias for more in entity.aliases.values() for alias in more))
        ]
        self._entities = _by_name(named)
        self._small = frozenset(normalised(name) for name, _ in named if not normalised(name)[:1].isupper())
        self._words = _by_name((text, key) for key, texts in world.words.items() for text in texts.values())

    def mask(self, text: str, *, with_words: bool = True) -> Masked:
        """Replace the mentions in a normalised text; the longest name wins where names overlap."""
        mentions: dict[str, Mention] = {}
        present = _present(self._entities, text)
        words = _present(self._words, text) if with_words else {}

        def replace(found: re.Match[str]) -> str:
            name = found.group()
            folded = name.casefold()
            entities, keys = present.get(folded, frozenset()), words.get(folded, frozenset())
            # "Dawn" may be somebody; "dawn" is not, unless that is how the world writes it.
            if name == folded and folded not in self._small:
                entities = frozenset()
            if not entities and not keys:
                return name
            kind = "e" if entities else "w"
            token = f"Q{kind}{len(mentions)}Z"
            mentions[token] = Mention(token=token, text=name, entities=entities, words=keys)
            return token

        options = sorted({*present, *words}, key=len, reverse=True)
        if not options:
            return Masked(text=text, mentions={})
        pattern = "|".join(_bounded(name) for name in options)
        return Masked(text=re.sub(pattern, replace, text, flags=re.IGNORECASE), mentions=mentions)

    def entities_in(self, text: str) -> frozenset[str]:
        """Return every entity that a text may name."""
        masked = self.mask(normalised(text), with_words=False)
        return frozenset(entity for mention in masked.mentions.values() for entity in mention.entities)


def _by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, key in pairs:
        folded = normalised(name).casefold()
        if folded:
            found.setdefault(folded, set()).add(key)
    return {name: frozenset(keys) for name, keys in found.items()}


def _present(names: Mapping[str, frozenset[str]], text: str) -> dict[str, frozenset[str]]:
    """Keep the names that a text can have: looking for a substring is far faster than trying thousands of patterns."""
    folded = text.casefold()
    return {name: keys for name, keys in names.items() if name in folded}


def _bounded(name: str) -> str:
    body = re.escape(name)
    if has_hangul(name[0]):
        body = rf"(?<![가-힣]){body}"
    elif re.match(f"[{_LATIN}]", name[0]):
        body = rf"(?<![{_LATIN}]){body}"
    if has_hangul(name[-1]):
        return body + _TAIL
    return rf"{body}(?![{_LATIN}])" if re.match(f"[{_LATIN}]", name[-1]) else body
