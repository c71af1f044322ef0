"""Weights of the judged model, out of the package or out of object storage."""

import argparse
import os
from pathlib import Path

from unmask.cli.exits import UsageError
from unmask.cli.tools import Tools
from unmask.gate.stored_weights import fetched_weights, weights_cache


def weights_of(args: argparse.Namespace, tools: Tools) -> Path | None:
    """Return where the weights of ``--weights`` are on this machine, fetched if they are elsewhere.

    Raises:
        UsageError: a server has weights of its own, or there is no home folder to keep them in.
        WeightsError: they cannot be fetched.
    """
    if args.weights is None:
        return None
    if "@" in args.model:
        raise UsageError(f"--weights is for an embedded model, and {args.model!r} is on a server; leave it out")
    if "://" not in args.weights:
        return Path(args.weights)
    try:
        cache = weights_cache(os.environ)
    except RuntimeError as error:
        raise UsageError(f"there is no home folder for weights: {error}; name one by XDG_CACHE_HOME") from error
    return fetched_weights(args.weights, cache, tools.say)
