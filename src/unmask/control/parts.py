"""What a controller is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from unmask.control.book import RecordBook
from unmask.control.sources import Classifier, EstimatorSource, NoEstimators, NoPolicies, PolicySource
from unmask.ledger.ledger import Ledger
from unmask.search.reward import RewardDesk


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlParts:
    """What a controller is made of; without any of it, budgets are fixed.

    Attributes:
        policies: which policy is in force.
        estimators: the difficulty estimators that policies name.
        classifier: tells the task types of requests that name none.
        book: where records go; without one no controls are drawn, for nobody would learn from them.
        ledger: where requests are booked; without one nothing is, and no limit of a tenant or key holds.
        reward: asks a reward endpoint which of a search's answers is best; without one they are told apart as far as
            verifiers, votes and confidence do.
        draw: uniform numbers from 0 up to but without 1, of which a control run is drawn.
    """

    policies: PolicySource = field(default_factory=NoPolicies)
    estimators: EstimatorSource = field(default_factory=NoEstimators)
    classifier: Classifier | None = None
    book: RecordBook | None = None
    ledger: Ledger | None = None
    reward: RewardDesk | None = None
    draw: Callable[[], float] = field(default_factory=lambda: Random(0).random)
