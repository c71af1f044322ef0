"""From a call as it was asked for to one whose requests have their budgets."""

from dataclasses import replace

from unmask.api.call import Call, Delivery
from unmask.control.admitted import Admitted
from unmask.control.controller import Controller
from unmask.tenants.principal import Principal


def admit(call: Call, control: Controller, principal: Principal | None = None) -> Call:
    """Give every request of a call its budget, each by itself: prompts differ, and so does what they need.

    Args:
        call: as it was read.
        control: gives budgets.
        principal: who makes the call, where the server asks for keys: its tenant's prefix cache is used, its key's
            task type where none is named, and its classes only.

    Raises:
        InvalidRequestError: there is no such task type or service class, the caller may not use it, or the class does
            not allow so much.
    """
    call = call if principal is None else _of(call, principal)
    asked = call.verifying
    admitted = tuple(
        control.admit(request, call.asked, call.model, call.answer_format, asked.verifiers, asked.consistency)
        for request in call.requests
    )
    served = replace(
        call,
        requests=tuple(one.request for one in admitted),
        admitted=admitted,
        delivery=_delivery(call.delivery, admitted),
    )
    if call.asked.service_tier is None:
        return served
    return replace(served, service_tier=control.served_tier(call.asked, admitted[0]))


def _delivery(asked: Delivery, admitted: tuple[Admitted, ...]) -> Delivery:
    if asked is not Delivery.STREAM:
        return asked
    may_change = any(one.expansion is not None or one.search is not None or one.can_escalate for one in admitted)
    return Delivery.VERIFIED if may_change else Delivery.COMMITTED


def _of(call: Call, principal: Principal) -> Call:
    asked = replace(call.asked, default_task=principal.default_task, allowed_classes=principal.classes)
    requests = tuple(replace(request, tenant=principal.tenant) for request in call.requests)
    return replace(call, asked=asked, requests=requests)
