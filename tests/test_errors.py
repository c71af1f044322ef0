"""Behaviour of `unmask.errors`."""

import copy
import pickle

import pytest

from unmask.errors import (
    CheckpointError,
    ConfigError,
    ContextLengthError,
    DrainingError,
    InvalidRequestError,
    QueueFullError,
    RetryLaterError,
    UnknownModelError,
    UnmaskError,
    WeightsError,
)

EXAMPLES: tuple[UnmaskError, ...] = (
    UnmaskError("something", param="a"),
    InvalidRequestError("diffusion.max_steps", 0, "1 to 64", "Send a whole number."),
    ContextLengthError(500, 32, 512, param="prompt"),
    UnknownModelError("no-such", ["tiny", "other"]),
    QueueFullError("queue of interactive is full", retry_after_s=2.0),
    DrainingError("shutting down"),
    ConfigError("port is taken", param="server.port"),
    WeightsError("digest differs"),
    CheckpointError("disk full"),
)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_every_error_is_an_unmask_error(error: UnmaskError) -> None:
    """One `except UnmaskError` catches them all, and the text is the message."""
    with pytest.raises(UnmaskError) as caught:
        raise error

    assert str(caught.value) == error.message


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling_and_copying(error: UnmaskError) -> None:
    """Errors cross process boundaries with their message and fields."""
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own bytes
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_invalid_request_names_value_range_and_fix() -> None:
    """The message holds the parameter, the value as written, what is allowed and the fix."""
    error = InvalidRequestError("diffusion.max_steps", "8", "a whole number from 1 to 64", "Send it without quotes.")

    assert str(error) == "diffusion.max_steps is '8', allowed: a whole number from 1 to 64. Send it without quotes."
    assert error.param == "diffusion.max_steps"


def test_invalid_request_shortens_long_values() -> None:
    """A megabyte of prompt does not come back in the error."""
    error = InvalidRequestError("prompt", "x" * 1_000_000, "at most 1000 characters", "Shorten it.")

    assert len(str(error)) < 200


def test_context_length_names_both_parts_and_the_limit() -> None:
    """The message says how many tokens were asked for and how many fit."""
    message = str(ContextLengthError(500, 32, 512))

    assert message.startswith("messages is ")
    for number in ("500", "32", "512"):
        assert number in message


@pytest.mark.parametrize(("known", "listed"), [(["a", "b"], "a, b"), ([], "none is loaded")])
def test_unknown_model_lists_the_known_ones(known: list[str], listed: str) -> None:
    """The caller learns which names would have worked."""
    error = UnknownModelError("c", known)

    assert f"model is 'c', allowed: {listed}." in str(error)
    assert error.param == "model"


@pytest.mark.parametrize("kind", [QueueFullError, DrainingError])
def test_retry_later_errors_carry_a_delay(kind: type[RetryLaterError]) -> None:
    """A server under load may say when to come back, or leave it open."""
    assert kind("later", retry_after_s=1.5).retry_after_s == 1.5
    assert kind("later").retry_after_s is None
