"""Hands a job to the service."""

from collections.abc import Mapping
from typing import Any, Protocol

from unmask.gate.jobs.errors import AwsMissingError, JobRefusedError
from unmask.gate.jobs.request import JobRequest


class TrainingJobs(Protocol):
    """What is used of boto3's ``sagemaker`` client."""

    def create_training_job(self, **request: Any) -> Mapping[str, Any]:  # noqa: ANN401 - boto3 has no types
        """Begin a job."""
        ...


def submit_job(request: JobRequest, client: TrainingJobs) -> str:
    """Begin a job and return its ARN.

    Raises:
        JobRefusedError: the service did not take it, or was not reached.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - an extra

    try:
        return str(client.create_training_job(**request)["TrainingJobArn"])
    except (BotoCoreError, ClientError) as error:
        raise JobRefusedError(
            f"SageMaker did not take the job {request.get('TrainingJobName')}: {' '.join(str(error).split())}"
        ) from error


def sagemaker_client(region: str | None) -> TrainingJobs:
    """Return boto3's client; region and credentials are looked for as by any AWS tool.

    It asks once: a job that was begun though its answer was lost would be refused the second time, for its name.

    Raises:
        AwsMissingError: boto3 is not installed.
        JobRefusedError: no region is named anywhere.
    """
    try:
        import boto3  # noqa: PLC0415 - an extra
        from botocore.config import Config  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415
    except ImportError as error:
        raise AwsMissingError("boto3") from error
    try:
        client: TrainingJobs = boto3.client(
            "sagemaker", region_name=region, config=Config(retries={"total_max_attempts": 1})
        )
    except BotoCoreError as error:
        raise JobRefusedError(f"SageMaker cannot be asked: {error} Name its region with --region.") from error
    return client
