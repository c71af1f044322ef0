"""A key as it is sent: a public id that may be shown and logged, and a secret that may not."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

PREFIX: Final = "um"
ID_LENGTH: Final = 12
SECRET_LENGTH: Final = 43
"""Letters and digits: 256 bits."""
LOWER: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
MIXED: Final = LOWER + LOWER[:26].upper()

_TOKEN = re.compile(rf"{PREFIX}-([a-z0-9]{{{ID_LENGTH}}})-([A-Za-z0-9]{{{SECRET_LENGTH}}})")

Choose = Callable[[str], str]
"""Draws one of several characters, as `secrets.choice` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A key's two parts; the secret is in no `repr`, so in no log."""

    public_id: str
    secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """The key as its holder keeps it."""
        return f"{PREFIX}-{self.public_id}-{self.secret}"


NOBODY: Final = Token(public_id="-" * ID_LENGTH, secret="-" * SECRET_LENGTH)
"""Stands for every text that is no key. No key has this id, and looking for it takes as long as for any other."""


def mint(choose: Choose) -> Token:
    """Return a new token, drawn with ``choose``."""
    return Token(
        public_id="".join(choose(LOWER) for _ in range(ID_LENGTH)),
        secret="".join(choose(MIXED) for _ in range(SECRET_LENGTH)),
    )


def parse(text: str) -> Token:
    """Return the parts of a key, or `NOBODY` where a text is none."""
    found = _TOKEN.fullmatch(text)
    return NOBODY if found is None else Token(public_id=found[1], secret=found[2])
