"""Whether texts are there in every language of a world, and in no other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from unmask.config.placed_yaml import Key
from unmask.errors import shown
from unmask.knowledge.errors import Fault
from unmask.knowledge.folder import Part
from unmask.knowledge.schema import folded
from unmask.knowledge.world import Phrases


@dataclass(frozen=True, slots=True, kw_only=True)
class Languages:
    """The languages of a world."""

    codes: tuple[str, ...]

    def check_names(self, part: Part, names: Mapping[str, str], *path: Key) -> Iterator[Fault]:
        """Yield what is wrong with a text by language: each has to have one."""
        yield from self._unknown(part, names, path)
        for code in self.codes:
            if code not in names:
                yield part.fault(f"{_where(part, path)} has no text in {code}", *path)

    def check_phrases(self, part: Part, phrases: Mapping[str, Sequence[str]], path: tuple[Key, ...]) -> Iterator[Fault]:
        """Yield what is wrong with texts by language: none has to have any, but none has one twice."""
        yield from self._unknown(part, phrases, path)
        for code, texts in phrases.items():
            seen: set[str] = set()
            for index, text in enumerate(texts):
                if folded(text) in seen:
                    yield part.fault(f"{_where(part, path)} has {shown(text)} twice in {code}", *path, code, index)
                seen.add(folded(text))

    def _unknown(self, part: Part, texts: Mapping[str, object], path: tuple[Key, ...]) -> Iterator[Fault]:
        for code in texts:
            if code not in self.codes:
                allowed = ", ".join(self.codes)
                yield part.fault(f"{shown(code)} is no language of this world; allowed: {allowed}", *path, code)


def phrases_of(texts: Mapping[str, Sequence[str]]) -> Phrases:
    """Return texts by language so that nothing changes them."""
    return MappingProxyType({code: tuple(found) for code, found in texts.items()})


def _where(part: Part, path: tuple[Key, ...]) -> str:
    return f"{part.key}: {'.'.join(map(str, path))}" if path[0] in {"names", "aliases"} else ".".join(map(str, path))
