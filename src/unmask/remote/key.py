"""Keys of upstreams: where they are read, and a wrapping that no log or message shows."""

from collections.abc import Mapping

from unmask.errors import ConfigError
from unmask.remote.settings import KeySource

LARGEST_KEY = 16_384
HIDDEN = "[key]"


class Key:
    """A secret. Printed in any way it shows that there is one, and no more.

    Args:
        value: what is sent; empty where an upstream wants no key.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Key('')" if not self._value else f"Key({HIDDEN})"

    def headers(self) -> dict[str, str]:
        """Return the headers that carry it."""
        return {"authorization": f"Bearer {self._value}"} if self._value else {}

    def as_header(self, name: str) -> dict[str, str]:
        """Return a header of that name that carries it bare, as APIs without bearer tokens have it."""
        return {name: self._value} if self._value else {}

    def hidden_in(self, text: str) -> str:
        """Return a text of an upstream without the key, should it repeat it."""
        return text.replace(self._value, HIDDEN) if self._value else text


def read_key(source: KeySource, upstream: str, environ: Mapping[str, str]) -> Key:
    """Read the key of an upstream; white space around it does not count.

    Raises:
        ConfigError: it is named and not there, is empty, too long, or holds what a header cannot carry.
    """
    match source:
        case KeySource(env=str() as name, file=None):
            place, text = f"environment variable {name}", environ.get(name)
            if text is None:
                raise ConfigError(f"upstream {upstream}: the {place} is not set. Set it to the key.", param="key_env")
        case KeySource(env=None, file=None):
            return Key()
        case KeySource(env=None, file=path) if path is not None:
            place = f"file {path}"
            try:
                with path.open(encoding="utf-8") as file:
                    text = file.read(LARGEST_KEY + 1)
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
                raise ConfigError(
                    f"upstream {upstream}: the key cannot be read from the {place}: {reason}", param="key_file"
                ) from error
        case _:
            raise ConfigError(f"upstream {upstream}: key_env and key_file are both set, allowed: one of them.")
    value = text.strip()
    if not value or len(value) > LARGEST_KEY or not value.isascii() or not value.isprintable() or " " in value:
        # Not a word of what stands there: it may be most of a key.
        raise ConfigError(
            f"upstream {upstream}: the {place} holds no key, allowed: one line of printable ASCII without spaces, "
            f"at most {LARGEST_KEY} characters."
        )
    return Key(value)
