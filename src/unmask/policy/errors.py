"""What may go wrong with a folder of policies."""

from unmask.errors import UnmaskError


class PolicyActError(UnmaskError):
    """An act that a policy's state, or who its author is, does not allow."""


class UnknownPolicyError(PolicyActError):
    """No policy of the folder has this digest, or several do."""


class PolicyTamperedError(UnmaskError):
    """The log or a file of the folder is not what was written: nothing of it may be trusted."""


class PolicyStoreError(UnmaskError):
    """The folder cannot be read or written: disk full, no permission, a writer that died, another one at work."""
