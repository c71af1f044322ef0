"""Handing a job to the service, which botocore's stubber stands for."""

import sys

import boto3
import pytest
from botocore.stub import Stubber

from tests.gate.jobs.test_service_model import TERMS
from unmask.gate.jobs.errors import AwsMissingError, JobRefusedError
from unmask.gate.jobs.request import job_request
from unmask.gate.jobs.service_model import model_faults
from unmask.gate.jobs.submit import sagemaker_client, submit_job

REQUEST = job_request(TERMS, ("example", "--model", "tiny", "--out", "s3://b/run", "--resume"), "s3://b/run")
ARN = "arn:aws:sagemaker:eu-west-1:123456789012:training-job/gate-1"


@pytest.fixture(name="client")
def _client(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return sagemaker_client("eu-west-1")


def test_a_job_is_begun_with_the_request_as_it_was_checked(client: boto3.client) -> None:
    """The stubber compares both with the service's model: what is sent, and what comes back."""
    with Stubber(client) as stub:
        stub.add_response("create_training_job", {"TrainingJobArn": ARN}, REQUEST)

        assert submit_job(REQUEST, client) == ARN
        stub.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("AccessDeniedException", "is not authorized to perform: sagemaker:CreateTrainingJob"),
        ("ResourceInUse", "Job name must be unique"),
        ("ResourceLimitExceeded", "limit of 0 Instances"),
    ],
)
def test_a_refusal_has_the_service_s_words(client: boto3.client, code: str, words: str) -> None:
    """Whoever submits learns the code and the reason, and it is not tried again."""
    with Stubber(client) as stub:
        stub.add_client_error("create_training_job", code, words)

        with pytest.raises(JobRefusedError, match=f"did not take the job gate-1: .*{code}.*{words}"):
            submit_job(REQUEST, client)


def test_without_a_region_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which option names one."""
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")

    with pytest.raises(JobRefusedError, match="--region"):
        sagemaker_client(None)


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.setitem(sys.modules, "botocore.validate", None)

    with pytest.raises(AwsMissingError, match=r"unmask\[aws\]"):
        sagemaker_client("eu-west-1")
    with pytest.raises(AwsMissingError, match=r"unmask\[aws\]"):
        model_faults(REQUEST)
