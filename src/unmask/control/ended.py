"""From a generation that has ended to its record."""

from dataclasses import dataclass

from unmask.backend import Generation
from unmask.control.admitted import Admitted
from unmask.control.records import ControlRecord, FailureRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A completed generation of a request under a policy, and what its record is to be called.

    Attributes:
        id: names the record.
        time: when it ended, in seconds since 1970.
    """

    admitted: Admitted
    generation: Generation
    request_id: str
    id: str
    time: float

    def control(self) -> ControlRecord:
        """Judge both texts of a control run, and make its record."""
        given, check, found = self.admitted.assignment, self.admitted.check, self.generation.exit
        assert given.policy is not None, "controls are of a policy's rules"
        assert given.service_class is not None, "a policy gives a class"
        assert given.budget is not None, "a policy gives a budget"
        estimate, text = given.estimate, self.generation.text
        return ControlRecord(
            id=self.id,
            time=self.time,
            request_id=self.request_id,
            model=self.admitted.model.name,
            model_digest=self.admitted.model.digest,
            policy=given.policy,
            task=given.task,
            service_class=given.service_class.name,
            probability=given.probability,
            bucket=given.bucket,
            max_steps=given.budget.max_steps,
            score=None if estimate is None else estimate.score,
            bin=None if estimate is None else estimate.bin,
            features=() if estimate is None else estimate.features,
            steps=self.generation.usage.steps_used,
            exit_steps=None if found is None else found.steps,
            judges=() if check is None else check.judges,
            passed=None if check is None else check.passes(text),
            exit_passed=None if check is None or found is None else check.passes(found.text),
            diverged=None if found is None else found.text != text,
            messages=self.admitted.request.messages,
            text=text,
            exit_text=None if found is None else found.text,
        )

    def failure(self) -> FailureRecord | None:
        """Judge an early-exited answer, and make a record of one that fails."""
        given, check, found = self.admitted.assignment, self.admitted.check, self.generation.exit
        assert check is not None, "nobody looks into what cannot be judged"
        assert found is not None, "nobody looks into what did not exit"
        assert given.policy is not None, "exits are of a policy's rules"
        assert given.service_class is not None, "a policy gives a class"
        if check.passes(self.generation.text):
            return None
        estimate = given.estimate
        return FailureRecord(
            id=self.id,
            time=self.time,
            request_id=self.request_id,
            model=self.admitted.model.name,
            model_digest=self.admitted.model.digest,
            policy=given.policy,
            task=given.task,
            service_class=given.service_class.name,
            score=None if estimate is None else estimate.score,
            bin=None if estimate is None else estimate.bin,
            steps=self.generation.usage.steps_used,
            signals=found.signals,
            judges=check.judges,
        )
