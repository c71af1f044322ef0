"""What a controller is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from unmask.control.book import RecordBook
from unmask.control.cached import CacheParts
from unmask.control.refiner import Refiner
from unmask.control.routing import Routes
from unmask.control.sources import Classifier, EstimatorSource, NoEstimators, NoPolicies, PolicySource
from unmask.ledger.ledger import Ledger
from unmask.savings.standing import KnownSavings
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
        routes: names that two models serve.
        savings: what is known of savings, and which of them settings enable.
        refiner: refines prompts; without one they stay as they are.
        cache: where answers are kept to be given again; without one none are.
        reward: asks a reward endpoint which of a search's answers is best; without one they are told apart as far as
            verifiers, votes and confidence do.
        draw: uniform numbers from 0 up to but without 1, of which a control run is drawn.
    """

    policies: PolicySource = field(default_factory=NoPolicies)
    estimators: EstimatorSource = field(default_factory=NoEstimators)
    classifier: Classifier | None = None
    book: RecordBook | None = None
    ledger: Ledger | None = None
    routes: Routes = field(default_factory=Routes)
    savings: KnownSavings = field(default_factory=KnownSavings)
    refiner: Refiner | None = None
    cache: CacheParts | None = None
    reward: RewardDesk | None = None
    draw: Callable[[], float] = field(default_factory=lambda: Random(0).random)
