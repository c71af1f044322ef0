"""A checkpoint's own chat template: untrusted Jinja, run in a sandbox."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from unmask.errors import CheckpointFolderError, InvalidRequestError
from unmask.types import Message


class ChatTemplate:
    """Turns messages into the text that a model was trained to answer.

    Args:
        source: Jinja, in the dialect of published checkpoints.
        tokens: texts of special tokens by the names that templates use, such as ``bos_token``.
    """

    def __init__(self, source: str, tokens: dict[str, str]) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            extensions=["jinja2.ext.loopcontrols"],
        )
        environment.globals |= {"raise_exception": _refuse, "strftime_now": _today}
        try:
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise CheckpointFolderError(f"the chat template is damaged: {error}; fetch it again") from error
        self._tokens = tokens

    def render(self, messages: Sequence[Message]) -> str:
        """Write a chat, up to where the answer begins.

        Raises:
            InvalidRequestError: the template refuses such a chat.
        """
        said = [{"role": str(message.role), "content": message.content} for message in messages]
        try:
            return self._template.render(messages=said, add_generation_prompt=True, **self._tokens)
        except Exception as error:  # it is code of whoever made the checkpoint, and may fail in any way
            roles = ", ".join(str(message.role) for message in messages)
            raise InvalidRequestError(
                "messages",
                f"of the roles {roles}",
                f"what the model's chat template takes: {error}",
                "Change the roles.",
            ) from error


def _refuse(reason: str) -> NoReturn:
    raise TemplateError(reason)


def _today(form: str) -> str:
    return datetime.now(UTC).strftime(form)
