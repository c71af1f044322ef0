"""Where the log of looks is."""

import argparse
import os

from unmask.cli.exits import UsageError
from unmask.config.state import state_folder
from unmask.gate.looks import LookLog


def look_log(args: argparse.Namespace) -> LookLog:
    """Return the log that options name, or that of the user.

    Raises:
        UsageError: there is no home folder to keep it in.
    """
    if args.looks is not None:
        return LookLog(args.looks)
    try:
        return LookLog(state_folder(os.environ) / "gate")
    except RuntimeError as error:
        raise UsageError(f"there is no home folder for the log of looks: {error}; name one with --looks DIR") from error
