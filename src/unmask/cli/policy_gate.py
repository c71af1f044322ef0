"""What a promotion takes beside an approval."""

import argparse

from unmask.cli.exits import UsageError
from unmask.cli.gate_looks import look_log
from unmask.cli.policy_store import settings_of
from unmask.config.choices import PromotionGate
from unmask.gate.artefacts import RunFolder
from unmask.gate.decide_errors import PromotionRefusedError
from unmask.policy.standing import SHORT


def check_gate(args: argparse.Namespace, digest: str) -> None:
    """Refuse a promotion whose gate run did not pass, or that names none where one is required.

    What counts is the log of looks: a file in the run's folder could have been written by anyone.

    Raises:
        UsageError: a run is required and none is named.
        PromotionRefusedError: the run's last decision is no PASS, decides nothing, or is bound to another policy.
    """
    if args.gate is None:
        if settings_of(args).promotion_gate is PromotionGate.REQUIRED:
            raise UsageError("the setting promotion_gate is required, so name a gate run that passed with --gate RUN")
        return
    binding = RunFolder(args.gate).binding()
    if binding is None:
        raise PromotionRefusedError(f"{args.gate} holds no gate run; make one under this policy with unmask gate run")
    if look_log(args).read().passed(binding, digest) is None:
        raise PromotionRefusedError(
            f"run {binding.run} is not on record as a PASS under policy {digest[:SHORT]}, allowed: the last decision "
            "on it is one, and not exploratory. Run the gate with this policy; --looks names another log"
        )
