"""The grammar of ``unmask deploy``."""

import argparse

from unmask.cli.settings import add_settings


def add_deploy_actions(deploy: argparse.ArgumentParser) -> None:
    """Add where one can deploy to."""
    actions = deploy.add_subparsers(dest="action", required=True, metavar="WHERE")
    on_ray = actions.add_parser(
        "ray",
        help="gateways and engine replicas on a Ray cluster that runs already",
        description="Bring up gateways and engine replicas on a Ray cluster that runs already, in place of those of an "
        "earlier deployment. Takes the settings of serve.",
    )
    on_ray.add_argument(
        "--address", default="auto", metavar="ADDRESS", help="of the cluster, such as HOST:6379 (default auto)"
    )
    on_ray.add_argument("--down", action="store_true", help="finish what runs, and take the deployment down")
    add_settings(on_ray)
