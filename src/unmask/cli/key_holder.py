"""Who holds the key that a command is given."""

import asyncio
import os
import sys
from pathlib import Path

from unmask.app.keys import opened_store, pepper_of
from unmask.cli.exits import UsageError
from unmask.cli.tools import Tools
from unmask.clock import SystemClock
from unmask.config import Settings
from unmask.tenants.authenticator import open_authenticator
from unmask.tenants.principal import Principal

STDIN = Path("-")
LONGEST = 1_024


def holder_of(file: Path, settings: Settings, tools: Tools) -> Principal:
    """Return who holds the key in a file; command lines are seen by everyone on the machine, so it is never in one.

    Raises:
        UsageError: the file cannot be read.
        KeyRefusedError: the key opens nothing.
    """
    try:
        text = sys.stdin.read(LONGEST) if file == STDIN else file.read_text(encoding="utf-8")[:LONGEST]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"the key cannot be read from {file}: {reason}") from error
    with opened_store(settings, os.environ) as store:
        authenticator = open_authenticator(
            store, pepper_of(settings, os.environ), clock=SystemClock(), now=lambda: tools.now().timestamp()
        )
        return asyncio.run(authenticator.authenticate(text.strip()))
