"""The budget policy that a gate run's model is under."""

import argparse
from dataclasses import replace

from unmask.cli.exits import UsageError
from unmask.cli.policy_store import named_policy, store_of
from unmask.cli.tools import Tools
from unmask.control.classify import packaged_classifier
from unmask.control.sources import ActivePolicy
from unmask.control.stored import StoredEstimators, completed
from unmask.gate.governed import GovernedBackend
from unmask.gate.response import SystemLabel
from unmask.gate.run_plan import Endpoint
from unmask.policy.digest import policy_digest
from unmask.policy.standing import SHORT
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import Mode


def under_policy(args: argparse.Namespace, endpoints: tuple[Endpoint, ...], tools: Tools) -> tuple[Endpoint, ...]:
    """Return endpoints of which the judged one is under the policy of ``--policy``, and bound to its digest.

    Raises:
        UsageError: the policy is for other weights, or the model is on a server, which has its own, or is no diffusion.
        UnmaskError: the policy or a learned part of it cannot be read.
    """
    if args.policy is None:
        return endpoints
    return tuple(
        _governed(args, endpoint, tools) if endpoint.system.label is SystemLabel.MODEL else endpoint
        for endpoint in endpoints
    )


def _governed(args: argparse.Namespace, endpoint: Endpoint, tools: Tools) -> Endpoint:
    system, store = endpoint.system, store_of(args)
    policy = named_policy(store, args.policy)
    digest = policy_digest(policy)
    if system.url is not None or system.mode is not Mode.DIFFUSION:
        raise UsageError("--policy is for an embedded model that denoises; leave it out")
    if (policy.model, policy.model_digest) != (system.model, system.digest):
        raise UsageError(
            f"policy {digest[:SHORT]} is for {policy.model} with weights {policy.model_digest}, not for {system.model} "
            f"with {system.digest}"
        )
    model = next(model for model in endpoint.backend.models() if model.name == system.model)
    backend = GovernedBackend(
        endpoint.backend,
        ActivePolicy(policy=completed(policy, store), digest=digest),
        StoredEstimators(store, packaged_tokenizer().chat_length, model.default_max_tokens),
        packaged_classifier(),
        lambda: tools.now().timestamp(),
    )
    return Endpoint(system=replace(system, policy=digest), backend=backend)
