"""Learned parts that policies name: JSON, versioned apart from the model, named by what they say as policies are."""

import orjson

from unmask.errors import ConfigError, shown
from unmask.policy.digest import canonical, content_digest
from unmask.policy.policy import Policy

LARGEST_PART = 1 << 24
"""Bytes; a difficulty estimator has a few hundred thousand."""


def canonical_part(content: bytes) -> tuple[str, bytes]:
    """Return a part's digest and its bytes in the one way that they are stored.

    The digest is the SHA-256 of the canonical JSON of all but the field ``digest``, with which a part may name itself
    by 16 or more of its first digits.

    Raises:
        ConfigError: it is no JSON object, is too large, or names itself wrongly.
    """
    if len(content) > LARGEST_PART:
        raise ConfigError(f"the learned part is larger than one may be, allowed: up to {LARGEST_PART} bytes")
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"the learned part is no JSON: {error}; write it anew") from error
    if not isinstance(found, dict):
        raise ConfigError(f"the learned part is {shown(found)}, allowed: a JSON object; write it anew")
    try:
        digest = content_digest(canonical({name: value for name, value in found.items() if name != "digest"}))
        stored = canonical(found)
    except orjson.JSONEncodeError as error:
        raise ConfigError(f"the learned part cannot be written again: {error}; write it anew") from error
    own = found.get("digest", digest)
    if not isinstance(own, str) or len(own) < 16 or not digest.startswith(own):
        raise ConfigError(
            f"digest is {shown(own)}, allowed: {digest} or 16 of its first digits at least; the learned part was "
            "changed, so write it anew",
            param="digest",
        )
    return digest, stored


def parts_of(policy: Policy) -> tuple[str, ...]:
    """Return the digests of the learned parts that a policy names."""
    named = (policy.difficulty, *(task.finality for task in policy.tasks))
    return tuple(dict.fromkeys(digest for digest in named if digest is not None))
