"""schemathesis makes requests of the OpenAPI document, allowed ones and others, and holds the answers against it."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import schemathesis
from schemathesis.engine import from_schema
from schemathesis.engine.events import NonFatalError, ScenarioFinished
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.hooks import HookContext
from schemathesis.openapi.checks import RejectedPositiveData
from schemathesis.schemas import BaseSchema

from tests.clients.server import serving
from tests.clients.unsayable import BROKEN
from unmask.testing.fake_backend import FakeBackend

EXAMPLES = 25
"""Requests drawn at random for each operation, beside those at the edges of every field."""
MOST_SHOWN = 5
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "positive_data_acceptance",
    "unsupported_method",
    "allow_header_conformance",
)
"""All but those about what does not exist here: required headers, keys, and what is created and deleted."""


class Finding(NamedTuple):
    """An answer that is not what the document says."""

    title: str
    request: str
    answer: bytes

    def __str__(self) -> str:
        return f"{self.title}\n{self.request}\n{self.answer.decode(errors='replace')}"


def open_schema(url: str) -> BaseSchema:
    """Load the document of a server, with the same requests every time."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    schema.config.update(continue_on_failure=True)
    schema.config.phases.update(phases=["examples", "coverage", "fuzzing"])
    schema.config.generation.update(max_examples=EXAMPLES, deterministic=True, no_shrink=True)
    schema.config.checks.update(included_check_names=list(CHECKS))
    schema.config.output.sanitization.enabled = False
    schema.hook(map_body)
    return schema


def map_body(_: HookContext, body: Any) -> Any:  # noqa: ANN401 - allowed or not
    """Let most chats end with their user, or few would be answered; what is not allowed stays so."""
    messages = body.get("messages") if isinstance(body, dict) else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    if isinstance(last, dict) and last.get("role") in {"system", "developer", "assistant"}:
        last["role"] = "user"
    return body


def findings(recorder: ScenarioRecorder) -> Iterator[Finding]:
    """Yield what is wrong with the answers of some requests."""
    for number, checks in recorder.checks.items():
        response = recorder.interactions[number].response
        answer = b"" if response is None else response.content
        for check in checks:
            if check.failure_info is None:
                continue
            failure = check.failure_info.failure
            if isinstance(failure, RejectedPositiveData) and is_unsayable(recorder.cases[number].value.body, answer):
                continue
            yield Finding(title=str(failure), request=check.failure_info.code_sample, answer=answer[:1000])


def is_unsayable(body: Any, answer: bytes) -> bool:  # noqa: ANN401 - as it was drawn
    """Tell whether a body was refused for a rule that the document cannot say."""
    broken = BROKEN.get(re.sub(r"\[\d+\]", "[]", str(json.loads(answer)["error"]["param"])))
    return broken is not None and broken(body)


def test_answers_are_what_the_document_says() -> None:
    """No request of any kind gets an answer that is not described, nor is one refused or taken that should not be."""
    found: list[Finding] = []
    errors: list[str] = []
    seen: dict[str, set[int]] = {}
    with serving(FakeBackend()) as site:
        schema = open_schema(site.url)
        for event in from_schema(schema).execute():
            if isinstance(event, NonFatalError):
                errors.append(str(event.info))
            if isinstance(event, ScenarioFinished) and event.label is not None:
                found.extend(findings(event.recorder))
                seen.setdefault(event.label, set()).update(statuses(event.recorder))
        operations = {f"{method.upper()} {path}" for path in schema for method in schema[path]}

    assert errors == []
    assert not found, "\n\n".join(map(str, found[:MOST_SHOWN]))
    assert seen.keys() == operations
    assert {label for label, answers in seen.items() if {200, 405} <= answers} == operations
    assert {label for label, answers in seen.items() if 400 in answers} == {
        "POST /v1/chat/completions",
        "POST /v1/completions",
    }


def statuses(recorder: ScenarioRecorder) -> Sequence[int]:
    """Return the statuses of all answers."""
    return [one.response.status_code for one in recorder.interactions.values() if one.response is not None]
