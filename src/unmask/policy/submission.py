"""What handing a policy in for approval takes."""

from unmask.policy.changes import changed_exits
from unmask.policy.errors import PolicyActError
from unmask.policy.log import Deed, Signature
from unmask.policy.policy import Policy
from unmask.policy.replay import Replay, check_replay
from unmask.policy.standing import SHORT, Life


def check_submission(
    policy: Policy,
    deed: Deed,
    signature: Signature,
    *,
    active: Life | None,
    old: Policy | None,
    replay: Replay | None,
) -> None:
    """Refuse a submission whose exits differ from those of the active policy without a replay that shows them right.

    Raises:
        PolicyActError: there is no replay, or nothing to compare with.
        ConfigError: the replay does not fit.
    """
    tasks = changed_exits(old, policy)
    if replay is None:
        if tasks:
            raise PolicyActError(
                f"policy {deed.policy[:SHORT]} changes the exit of {', '.join(tasks)}, allowed: with a replay of old "
                "against new on the same control runs. Hand it in with --replay FILE"
            )
        return
    if deed.against is None:
        raise PolicyActError("there is no active policy that a replay could compare with; leave --replay out")
    check_replay(
        replay,
        old=deed.against,
        new=deed.policy,
        policy=policy,
        tasks=tasks,
        promoted=None if active is None else active.promoted,
        submitted=signature.time,
    )
