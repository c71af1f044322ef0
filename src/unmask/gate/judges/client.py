"""Whoever can be asked for a judgement, whatever API it has."""

from typing import Protocol

from unmask.gate.judges.prompt import JudgePrompt
from unmask.gate.judges.reply import Reply


class JudgeClient(Protocol):
    """One judge."""

    async def ask(self, prompt: JudgePrompt) -> Reply:
        """Return what it replies to a prompt, asked once.

        Raises:
            FaultError: it could not be reached, was too busy, or did not speak its API.
            JudgeError: it refuses to be asked like this: the key, the model or the request.
        """
        ...

    async def close(self) -> None:
        """Let go of its connections."""
        ...
