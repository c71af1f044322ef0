"""What a key may be used for."""

from enum import StrEnum


class KeyRole(StrEnum):
    """One of the things that a key may be used for; it may have several.

    ``inference``: to have requests answered. ``tenant-admin``: to see its tenant's keys, limits and use.
    ``operator``: to read the server's metrics, and to propose, submit and promote policies. ``approver``: to approve
    or reject policies.
    """

    INFERENCE = "inference"
    TENANT_ADMIN = "tenant-admin"
    OPERATOR = "operator"
    APPROVER = "approver"
