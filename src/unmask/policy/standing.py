"""Where every policy stands after the acts of a log; what an act needs is decided here and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import assert_never

from unmask.policy.errors import PolicyActError, UnknownPolicyError
from unmask.policy.log import Act, Deed, Log, Signature

SHORT = 12
"""Digits of a digest that people read."""


class Stage(StrEnum):
    """How far a policy has come. At most one of a model's weights is active."""

    PROPOSED = "proposed"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"
    ACTIVE = "active"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What became of one policy.

    Attributes:
        authors: who proposed or submitted it; none of them approves it, except by self-approval.
        against: digest of the policy that was active when it was last submitted.
        approver: who approved it; ``self_approved`` where that is one of the authors.
        promoted: when it last became active.
    """

    policy: str
    model: str
    model_digest: str
    stage: Stage
    authors: frozenset[str]
    against: str | None = None
    approver: str | None = None
    self_approved: bool = False
    promoted: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The lives of all policies by digest, and which were superseded, latest last."""

    lives: Mapping[str, Life] = field(default_factory=lambda: MappingProxyType({}))
    superseded: tuple[str, ...] = ()

    def life(self, policy: str) -> Life:
        """Return the life of a policy.

        Raises:
            UnknownPolicyError: it was never proposed.
        """
        if policy not in self.lives:
            raise UnknownPolicyError(
                f"no policy {policy[:SHORT]} is in the log, allowed: one of `unmask policy history`; submit its file"
            )
        return self.lives[policy]

    def active(self, model: str, model_digest: str) -> Life | None:
        """Return the active policy of a model's weights."""
        return next(
            (
                life
                for life in self.lives.values()
                if life.stage is Stage.ACTIVE and (life.model, life.model_digest) == (model, model_digest)
            ),
            None,
        )

    def earlier(self, model: str, model_digest: str) -> Life | None:
        """Return the policy of a model's weights that was superseded last."""
        found = (self.lives[policy] for policy in reversed(self.superseded))
        return next((life for life in found if (life.model, life.model_digest) == (model, model_digest)), None)

    def after(self, deed: Deed, signature: Signature) -> "Standing":
        """Return the standing after one more act.

        Raises:
            PolicyActError: the policy's stage, or who its authors are, does not allow it.
        """
        match deed.act:
            case Act.PROPOSE:
                return self._with(_proposed(self.lives.get(deed.policy), deed, signature))
            case Act.SUBMIT:
                return self._with(_submitted(self, self.life(deed.policy), deed, signature))
            case Act.APPROVE:
                return self._with(_approved(self.life(deed.policy), deed, signature))
            case Act.REJECT:
                return self._with(_rejected(self.life(deed.policy)))
            case Act.PROMOTE:
                return self._activated(_promotable(self, self.life(deed.policy)), signature)
            case Act.ROLLBACK:
                life = self.life(deed.policy)
                _need(life, Stage.SUPERSEDED, act="rolled back to")
                return self._activated(life, signature)
            case _:
                assert_never(deed.act)

    def _with(self, *lives: Life) -> "Standing":
        return replace(self, lives=MappingProxyType({**self.lives, **{life.policy: life for life in lives}}))

    def _activated(self, life: Life, signature: Signature) -> "Standing":
        risen = replace(life, stage=Stage.ACTIVE, promoted=signature.time)
        superseded = tuple(policy for policy in self.superseded if policy != life.policy)
        before = self.active(life.model, life.model_digest)
        if before is None:
            return replace(self._with(risen), superseded=superseded)
        fallen = replace(before, stage=Stage.SUPERSEDED)
        return replace(self._with(risen, fallen), superseded=(*superseded, before.policy))


def standing_of(log: Log) -> Standing:
    """Return where every policy stands after a log.

    Raises:
        PolicyActError: an entry is of an act that was not allowed; ``param`` is its number.
    """
    standing = Standing()
    for entry in log.entries:
        try:
            standing = standing.after(entry.deed, entry.signature)
        except PolicyActError as error:
            raise PolicyActError(error.message, param=str(entry.number)) from error
    return standing


def _proposed(life: Life | None, deed: Deed, signature: Signature) -> Life:
    if life is None:
        return Life(
            policy=deed.policy,
            model=deed.model,
            model_digest=deed.model_digest,
            stage=Stage.PROPOSED,
            authors=frozenset({signature.actor}),
        )
    _need(life, Stage.REJECTED, act="proposed again")
    return replace(life, stage=Stage.PROPOSED, authors=life.authors | {signature.actor})


def _submitted(standing: Standing, life: Life, deed: Deed, signature: Signature) -> Life:
    _need(life, Stage.PROPOSED, Stage.SUBMITTED, Stage.APPROVED, act="submitted")
    active = standing.active(life.model, life.model_digest)
    if active is not None and deed.against != active.policy:
        raise PolicyActError(
            f"policy {life.policy[:SHORT]} was not compared with the active one, which is {active.policy[:SHORT]}"
        )
    return replace(
        life,
        stage=Stage.SUBMITTED,
        authors=life.authors | {signature.actor},
        against=deed.against,
        approver=None,
        self_approved=False,
    )


def _approved(life: Life, deed: Deed, signature: Signature) -> Life:
    _need(life, Stage.SUBMITTED, act="approved")
    is_author = signature.actor in life.authors
    if is_author and not deed.self_approval:
        raise PolicyActError(
            f"{signature.actor} is an author of policy {life.policy[:SHORT]}, allowed: approval by anyone but "
            f"{', '.join(sorted(life.authors))}. Have someone else approve it, or say --solo, which the log will show"
        )
    if deed.self_approval and not is_author:
        raise PolicyActError(
            f"{signature.actor} is no author of policy {life.policy[:SHORT]}, so this is no approval of one's own"
        )
    return replace(life, stage=Stage.APPROVED, approver=signature.actor, self_approved=is_author)


def _rejected(life: Life) -> Life:
    _need(life, Stage.SUBMITTED, Stage.APPROVED, act="rejected")
    return replace(life, stage=Stage.REJECTED, approver=None, self_approved=False)


def _promotable(standing: Standing, life: Life) -> Life:
    _need(life, Stage.APPROVED, act="promoted")
    active = standing.active(life.model, life.model_digest)
    if active is not None:
        check_against(life, active.policy)
    return life


def check_against(life: Life, active: str | None) -> None:
    """Refuse a policy that was compared with another one than the active.

    Raises:
        PolicyActError: names both.
    """
    if active != life.against:
        against, now = ("none" if policy is None else policy[:SHORT] for policy in (life.against, active))
        raise PolicyActError(
            f"policy {life.policy[:SHORT]} was submitted against {against}, allowed: against the active policy, which "
            f"is now {now}. Submit and approve it again"
        )


def _need(life: Life, *stages: Stage, act: str) -> None:
    if life.stage not in stages:
        raise PolicyActError(
            f"policy {life.policy[:SHORT]} is {life.stage} and cannot be {act}, allowed: one that is "
            f"{' or '.join(stages)}. `unmask policy history` tells what was done with it"
        )
