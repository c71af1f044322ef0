"""Compares a request with what botocore knows of the service, down to patterns and lists of allowed words.

botocore itself compares names, types and least sizes alone before it sends a request; the service refuses the rest.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from unmask.errors import shown
from unmask.gate.jobs.errors import AwsMissingError
from unmask.gate.jobs.request import JobRequest

OPERATION = "CreateTrainingJob"


def model_faults(request: JobRequest) -> tuple[str, ...]:
    """Return what in a request does not fit the service's model; needs neither credentials nor a network.

    Raises:
        AwsMissingError: botocore is not installed.
    """
    try:
        from botocore.validate import ParamValidator  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise AwsMissingError("botocore") from error
    shape = _shape()
    report = ParamValidator().validate(request, shape).generate_report()
    if report:
        return tuple(report.splitlines())
    return tuple(_faults(shape, request, ""))


@cache
def _shape() -> Any:  # noqa: ANN401 - botocore's
    """Return the request's shape; the model of the whole service takes a while to read."""
    from botocore.session import get_session  # noqa: PLC0415 - an extra

    return get_session().get_service_model("sagemaker").operation_model(OPERATION).input_shape


# Shapes are botocore's, and values whatever the file holds: types fit once `ParamValidator` has nothing to say.
def _faults(shape: Any, value: Any, path: str) -> Iterator[str]:  # noqa: ANN401
    match shape.type_name:
        case "structure":
            for name, inner in value.items():
                yield from _faults(shape.members[name], inner, f"{path}.{name}".lstrip("."))
        case "map":
            yield from _size_faults(shape, len(value), path)
            for name, inner in value.items():
                yield from _faults(shape.key, name, f"{path} key")
                yield from _faults(shape.value, inner, f"{path}.{name}")
        case "list":
            yield from _size_faults(shape, len(value), path)
            for number, inner in enumerate(value):
                yield from _faults(shape.member, inner, f"{path}[{number}]")
        case "string":
            yield from _size_faults(shape, len(value), path)
            yield from _word_faults(shape, value, path)
        case "integer" | "long":
            yield from _size_faults(shape, value, path)
        case _:
            return


def _size_faults(shape: Any, size: int, path: str) -> Iterator[str]:  # noqa: ANN401 - botocore's
    most = shape.metadata.get("max")
    if most is not None and size > most:
        yield f"{path} is of size {size}, allowed: at most {most}"


def _word_faults(shape: Any, value: str, path: str) -> Iterator[str]:  # noqa: ANN401 - botocore's
    words = shape.metadata.get("enum", ())
    if words and value not in words:
        near = sorted(word for word in words if word.split(".")[:2] == value.split(".")[:2])
        yield f"{path} is {shown(value)}, allowed: {', '.join(near or words)}"
    pattern = shape.metadata.get("pattern")
    # Patterns with \p{...}, which are of tags and the like, are not Python's; the service tells of those.
    if pattern is not None and r"\p" not in pattern and re.fullmatch(pattern, value, re.DOTALL) is None:
        yield f"{path} is {shown(value)}, allowed: what {pattern} matches"
