"""A policy's name: the digest of what it says, however it is written."""

import hashlib

import orjson
from pydantic import BaseModel

from unmask.policy.convert import document_of
from unmask.policy.policy import Policy


def canonical(value: object) -> bytes:
    """Write a value as JSON in one way only: names sorted, nothing between, numbers as short as they read back."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def content_digest(content: bytes) -> str:
    """Return the SHA-256 of bytes, 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def canonical_document(document: BaseModel) -> bytes:
    """Write a document canonically, without what is left out, so that a field to come changes no older digest."""
    return canonical(_positive_zeros(document.model_dump(mode="json", exclude_none=True)))


def canonical_policy(policy: Policy) -> bytes:
    """Write a policy canonically; the order of its tasks, classes and conditions makes no difference."""
    return canonical_document(document_of(policy))


def policy_digest(policy: Policy) -> str:
    """Return the digest that a policy is named by."""
    return content_digest(canonical_policy(policy))


def _positive_zeros(value: object) -> object:
    """Write -0.0 as the 0.0 that it equals."""
    match value:
        case dict():
            return {name: _positive_zeros(entry) for name, entry in value.items()}
        case float():
            return value + 0.0
        case _:
            return value
