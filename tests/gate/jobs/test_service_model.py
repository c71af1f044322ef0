"""Requests against botocore's model of the service."""

from typing import Any

import pytest

from unmask.gate.jobs.request import JobRequest, JobTerms, job_request
from unmask.gate.jobs.service_model import model_faults

TERMS = JobTerms(
    name="gate-1",
    image="123456789012.dkr.ecr.eu-west-1.amazonaws.com/unmask:1",
    role="arn:aws:iam::123456789012:role/Gate",
    instance="ml.g5.xlarge",
    volume_gb=50,
    hours=4,
    spot_hours=8,
    environment={"LANGUAGE": "한국어"},
)


def request_with(path: str, value: object) -> JobRequest:
    """Return a request of which one field is another."""
    request: Any = dict(job_request(TERMS, ("example", "--resume"), "s3://b/run/"))
    *outer, last = path.split(".")
    inner = request
    for name in outer:
        inner[name] = dict(inner.get(name, {}))
        inner = inner[name]
    inner[last] = value
    return dict(request)


def test_a_request_that_is_made_fits() -> None:
    """On spot capacity it may wait beyond its own time, and answers stay out of the service's own folder."""
    request: Any = job_request(TERMS, ("example", "--resume"), "s3://b/run/")

    assert model_faults(request) == ()
    assert request["StoppingCondition"] == {"MaxRuntimeInSeconds": 14_400, "MaxWaitTimeInSeconds": 43_200}
    assert request["OutputDataConfig"] == {"S3OutputPath": "s3://b/run/job"}


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("RoleArn", "arn", "RoleArn"),
        ("RoleArn", "arn:aws:iam::12:role/Gate-of-ours", "RoleArn is"),
        ("TrainingJobName", "a_b", "TrainingJobName is 'a_b', allowed: what"),
        ("TrainingJobName", "a" * 64, "TrainingJobName is of size 64, allowed: at most 63"),
        ("ResourceConfig.InstanceType", "ml.g5.xlrge", "ml.g5.xlarge"),
        ("ResourceConfig.InstanceCount", "one", "InstanceCount"),
        ("ResourceConfig.KeepAlivePeriodInSeconds", 30_000, "is of size 30000, allowed: at most 21600"),
        ("StoppingCondition.MaxRuntimeInSeconds", 0, "MaxRuntimeInSeconds"),
        ("AlgorithmSpecification.ContainerArguments", ["x"] * 101, "is of size 101, allowed: at most 100"),
        ("AlgorithmSpecification.ContainerArguments", ["x" * 257], r"ContainerArguments[0] is of size 257"),
        ("Environment", {"a": "x" * 20_000}, "Environment.a is of size 20000"),
        ("Tags", [{"Key": "팀", "Value": "게이트"}], None),
        ("Spot", True, 'Unknown parameter in input: "Spot"'),
    ],
)
def test_each_misfit_is_named(path: str, value: object, fault: str | None) -> None:
    """With the field and what is allowed, before anything is sent."""
    faults = model_faults(request_with(path, value))

    assert (fault is None) == (faults == ())
    assert fault is None or any(fault in found for found in faults)
