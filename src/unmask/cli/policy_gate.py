"""What a promotion takes beside an approval."""

import argparse

from unmask.cli.exits import UsageError
from unmask.cli.gate_looks import look_log
from unmask.cli.policy_store import settings_of
from unmask.gate.artefacts import RunFolder
from unmask.gate.decide_errors import PromotionRefusedError
from unmask.gate.gate_file import read_gate
from unmask.policy.standing import SHORT


def check_gate(args: argparse.Namespace, digest: str) -> str | None:
    """Refuse a promotion whose gate run did not pass the gate that it has to; return what it passed, in words.

    What counts is the log of looks: a file in the run's folder could have been written by anyone. Without a run nothing
    is returned, which is right where the settings name no gate.

    Raises:
        UsageError: a run is required and none is named.
        GateFileError: the gate of the settings cannot be read.
        PromotionRefusedError: the run's last decision is no PASS, decides nothing, or is bound to another policy or
            gate.
    """
    required = settings_of(args).promotion_gate
    if args.gate is None:
        if required is not None:
            raise UsageError(f"promotion_gate is {required}, so name a gate run that passed it with --gate RUN")
        return None
    binding = RunFolder(args.gate).binding()
    if binding is None:
        raise PromotionRefusedError(f"{args.gate} holds no gate run; make one under this policy with unmask gate run")
    passed = look_log(args).read().passed(binding, digest)
    if passed is None:
        raise PromotionRefusedError(
            f"run {binding.run} is not on record as a PASS under policy {digest[:SHORT]}, allowed: the last decision "
            "on it is one, and not exploratory. Run the gate with this policy; --looks names another log"
        )
    if required is not None and (gate := read_gate(required).digest) != passed.gate:
        raise PromotionRefusedError(
            f"run {binding.run} passed gate {passed.gate[:SHORT]}, allowed: {gate[:SHORT]}, which the setting "
            f"promotion_gate has in {required}. Run that gate with this policy"
        )
    return f"run {binding.run} passed gate {passed.gate[:SHORT]}"
