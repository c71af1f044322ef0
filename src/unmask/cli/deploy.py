"""``unmask deploy``."""

import argparse

from unmask.cli.exits import Exit
from unmask.cli.settings import load_given
from unmask.cli.tools import Tools
from unmask.cluster.checks import check_settings
from unmask.cluster.errors import ClusterMissingError


def run_deploy(args: argparse.Namespace, tools: Tools) -> int:
    """Bring a deployment up, or down."""
    settings = load_given(args).settings
    check_settings(settings)
    try:
        # Here, as it needs an extra.
        from unmask.cluster.ray_deploy import bring_up, take_down
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "ray":
            raise
        raise ClusterMissingError from error
    if args.down:
        take_down(args.address, settings, tools.say)
    else:
        bring_up(args.address, settings, tools.say)
    return Exit.OK
