"""Which service classes and task types keys may be made for."""

import os
from collections.abc import Iterable, Sequence

from unmask.config import Settings
from unmask.policy.folders import open_store
from unmask.policy.policy import DEFAULT_TASK, Policy
from unmask.policy.standing import Stage
from unmask.tasks.registry import all_tasks
from unmask.tenants.errors import TenantActError


def check_names(classes: Iterable[str], task: str | None, settings: Settings) -> None:
    """Refuse what no request could name: a key with it would be refused, or ignored, wherever it is used.

    Raises:
        TenantActError: no policy in force has such a class, or neither models nor policies have such a task type.
    """
    policies = _in_force(settings)
    known = tuple(dict.fromkeys(found.name for policy in policies for found in policy.classes))
    for name in classes:
        if name not in known:
            raise TenantActError(
                "class", name, _listed(known), "Promote the policy that has it first, or name its folder in policy_dir."
            )
    of_policies = (found.task for policy in policies for found in policy.tasks)
    tasks = tuple(dict.fromkeys((*all_tasks(), *of_policies, DEFAULT_TASK)))
    if task is not None and task not in tasks:
        raise TenantActError("task", task, _listed(tasks), "Leave it out, and requests are told apart by their prompt.")


def _in_force(settings: Settings) -> tuple[Policy, ...]:
    store = open_store(settings.policy_dir, os.environ)
    return tuple(
        store.policy(life.policy)
        for layer in store.chain()
        for life in layer.standing().lives.values()
        if life.stage is Stage.ACTIVE
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none, for no policy is in force"
