"""An S3 server in this process, for fixtures."""

from collections.abc import Iterator
from contextlib import contextmanager

import boto3
import fsspec
import pytest
from moto.server import ThreadedMotoServer

BUCKET = "runs"


@contextmanager
def s3_server() -> Iterator[str]:
    """Run a server with one bucket; credentials come from the environment as for any user, processes begun here too."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        yield f"s3://{BUCKET}"
        fsspec.get_filesystem_class("s3").clear_instance_cache()
    server.stop()
