"""From a call as it was asked for to one whose requests have their budgets."""

from dataclasses import replace

from unmask.api.call import Call, Delivery
from unmask.control.controller import Controller


def admit(call: Call, control: Controller) -> Call:
    """Give every request of a call its budget, each by itself: prompts differ, and so does what they need.

    Raises:
        InvalidRequestError: there is no such task type or service class, or the class does not allow so much.
    """
    asked = call.verifying
    admitted = tuple(
        control.admit(request, call.asked, call.model, call.answer_format, asked.verifiers, asked.consistency)
        for request in call.requests
    )
    delivery = call.delivery
    if delivery is Delivery.STREAM:
        may_change = any(one.expansion is not None for one in admitted)
        delivery = Delivery.VERIFIED if may_change else Delivery.COMMITTED
    return replace(call, requests=tuple(one.request for one in admitted), admitted=admitted, delivery=delivery)
