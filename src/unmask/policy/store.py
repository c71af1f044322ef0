"""A folder of policies: each under its digest, and one log of what was done with them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unmask.errors import ConfigError
from unmask.policy.digest import canonical_document, content_digest
from unmask.policy.disk import Disk, SystemDisk, append, cut, put, read_bytes
from unmask.policy.errors import PolicyActError, PolicyStoreError, PolicyTamperedError, UnknownPolicyError
from unmask.policy.file import checked_document, parse_policy
from unmask.policy.lock import locked
from unmask.policy.log import Act, Deed, Log, Signature, entry_line, next_entry, parse_log, torn_message
from unmask.policy.parts import canonical_part, parts_of
from unmask.policy.policy import Policy
from unmask.policy.replay import Replay, replay_bytes
from unmask.policy.rules import check_policy
from unmask.policy.savings import check_savings
from unmask.policy.standing import SHORT, Life, Standing, check_against, standing_of
from unmask.policy.submission import check_submission
from unmask.savings.figure import SavingFigure
from unmask.savings.figure_file import packaged_figures

LOG_NAME = "audit.jsonl"
LOCK_SECONDS = 10.0
READ_LOCK_SECONDS = 1.0
SHORTEST_PREFIX = 4


class PolicyStore:
    """Reads and writes a folder of policies. Several processes may; each act is whole or did not happen.

    Policies are in ``policies/``, replays in ``evidence/``, what was learnt in ``parts/``, each file named by its
    digest. What is in the folder ``beneath``, which is only read, counts where this one has nothing. A policy may only
    enable savings whose quality one of ``figures`` tells.
    """

    def __init__(
        self,
        folder: Path,
        *,
        beneath: "PolicyStore | None" = None,
        read_only: bool = False,
        disk: Disk | None = None,
        figures: Callable[[], tuple[SavingFigure, ...]] = packaged_figures,
    ) -> None:
        self.folder = folder
        self.beneath = beneath
        self.read_only = read_only
        self._disk = SystemDisk() if disk is None else disk
        self._figures = figures

    @property
    def log_path(self) -> Path:
        """The log's file."""
        return self.folder / LOG_NAME

    def path(self, kind: str, digest: str) -> Path:
        """Return where a file of the folder ``kind`` is, or would be; see `content`."""
        return self.folder / kind / f"{digest}.json"

    def log(self) -> Log:
        """Read the log.

        Raises:
            PolicyTamperedError: names the first entry that is not what was written.
            PolicyStoreError: it cannot be read.
        """
        log = self._read()
        if not log.torn or self.read_only:
            return log
        # Perhaps another process is writing that line: once it is done, the line is whole.
        with suppress(PolicyStoreError), self._locked(READ_LOCK_SECONDS):
            return self._read()
        return log

    def standing(self) -> Standing:
        """Return where every policy of this folder stands.

        Raises:
            PolicyTamperedError, PolicyStoreError: as `log`; also for an entry of an act that was not allowed.
        """
        return _trusted_standing(self.log())

    def policy(self, digest: str) -> Policy:
        """Return a policy of this folder or the one beneath.

        Raises:
            UnknownPolicyError: neither has it in its log.
            PolicyTamperedError: its file is gone or is not what was written.
        """
        if not self.has(digest):
            # Raises, where no log names it.
            self.life(digest)
        owner = next((store for store in self.chain() if store.path("policies", digest).exists()), self)
        content = owner.content("policies", digest)
        try:
            return parse_policy(content)
        except ConfigError as error:
            # Its bytes are those that were logged, so this version of the program knows less or minds more.
            raise PolicyStoreError(
                f"policy {digest[:SHORT]} does not fit this version: {error.message}; write it anew and submit it"
            ) from error

    def has(self, digest: str) -> bool:
        """Tell whether a policy's file is in this folder or the one beneath."""
        return any(store.path("policies", digest).exists() for store in self.chain())

    def life(self, digest: str) -> Life:
        """Return what became of a policy of this folder or the one beneath.

        Raises:
            UnknownPolicyError: neither has it in its log.
        """
        own = self.standing()
        if digest in own.lives or self.beneath is None:
            return own.life(digest)
        return self.beneath.life(digest)

    def active(self, model: str, model_digest: str) -> Life | None:
        """Return the active policy of a model's weights, of this folder or else of the one beneath."""
        return self._active_in(self.standing(), model, model_digest)

    def find(self, text: str) -> str:
        """Return the digest that begins with a text.

        Raises:
            UnknownPolicyError: none does, or several do.
        """
        known = {policy for store in self.chain() for policy in store.standing().lives}
        found = sorted(policy for policy in known if policy.startswith(text))
        if len(text) < SHORTEST_PREFIX or len(found) != 1:
            several = f"{len(found)} policies begin" if len(found) > 1 else "no policy of the log begins"
            raise UnknownPolicyError(
                f"{several} with {text[:64]!r}, allowed: at least {SHORTEST_PREFIX} digits of the digest of one. "
                "`unmask policy history` lists them"
            )
        return found[0]

    def chain(self) -> tuple["PolicyStore", ...]:
        """Return this folder and those beneath it."""
        return (self,) if self.beneath is None else (self, *self.beneath.chain())

    def content(self, kind: str, digest: str) -> bytes:
        """Return a file of the folder ``kind``, which is ``policies`` or ``evidence``.

        Raises:
            PolicyTamperedError: it is gone, or is not what was written.
        """
        content = read_bytes(self.path(kind, digest))
        if content is None:
            raise PolicyTamperedError(f"{self.path(kind, digest)} is gone, which the log names; take it from a backup")
        if content_digest(content) != digest:
            raise PolicyTamperedError(
                f"{self.path(kind, digest)} was changed after it was written: its digest is "
                f"{content_digest(content)[:SHORT]}; find out who wrote to the folder, and take it from a backup"
            )
        return content

    def add_part(self, content: bytes) -> str:
        """Keep a learned part, such as a difficulty estimator's file, and return the digest that names it.

        Raises:
            ConfigError: it is no JSON object, or names itself wrongly; see `unmask.policy.parts`.
        """
        digest, stored = canonical_part(content)
        with self._writing():
            put(self._disk, self.path("parts", digest), stored)
        return digest

    def part(self, digest: str) -> bytes:
        """Return a learned part as `part_path`."""
        return self.part_path(digest).read_bytes()

    def part_path(self, digest: str) -> Path:
        """Return the verified file of a learned part, of this folder or the one beneath.

        Args:
            digest: all of its digits, or the first 16 or more.

        Raises:
            UnknownPolicyError: it is in neither.
            PolicyTamperedError: it is not what was written.
        """
        for store in self.chain():
            # Digests are of hexadecimal digits, so none of them is a pattern.
            for path in sorted((store.folder / "parts").glob(f"{digest}*.json")):
                content = read_bytes(path) or b""
                if _part_digest(content) != path.stem:
                    raise PolicyTamperedError(
                        f"{path} was changed after it was written; find out who wrote to the folder, and take it "
                        "from a backup"
                    )
                return path
        raise UnknownPolicyError(
            f"no learned part {digest[:SHORT]} is in {self.folder / 'parts'}, which the policy names; add its file"
        )

    def check_parts(self, policy: Policy) -> None:
        """Refuse a policy whose learned parts are not here, as `part`."""
        for digest in parts_of(policy):
            self.part(digest)

    def propose(self, policy: Policy, signature: Signature) -> str:
        """Put a policy into the folder, and return its digest.

        Raises:
            ConfigError: it makes no sense.
            PolicyActError: it is here already, and was not rejected.
        """
        check_policy(policy)
        content = canonical_document(checked_document(policy))
        digest = content_digest(content)
        deed = Deed(act=Act.PROPOSE, policy=digest, model=policy.model, model_digest=policy.model_digest)
        with self._writing() as log:
            _trusted_standing(log).after(deed, signature)
            put(self._disk, self.path("policies", digest), content)
            self._append(log, deed, signature)
        return digest

    def submit(self, digest: str, signature: Signature, *, replay: Replay | None = None) -> None:
        """Hand a policy in for approval, compared with the active one.

        Raises:
            PolicyActError: its stage does not allow it, or its exits differ and there is no replay.
            ConfigError: the replay is of another change, stale, too small, or shows too much misjudgement.
            UnknownPolicyError: it, or a learned part of it, is not here.
        """
        with self._writing() as log:
            standing = _trusted_standing(log)
            life, policy = standing.life(digest), self.policy(digest)
            self.check_parts(policy)
            active = self._active_in(standing, life.model, life.model_digest)
            evidence = None if replay is None else replay_bytes(replay)
            deed = Deed(
                act=Act.SUBMIT,
                policy=digest,
                model=life.model,
                model_digest=life.model_digest,
                against=None if active is None else active.policy,
                evidence=None if evidence is None else content_digest(evidence),
            )
            standing.after(deed, signature)
            old = None if active is None else self.policy(active.policy)
            check_submission(policy, deed, signature, active=active, old=old, replay=replay)
            if evidence is not None:
                put(self._disk, self.path("evidence", content_digest(evidence)), evidence)
            self._append(log, deed, signature)

    def approve(self, digest: str, signature: Signature, *, solo: bool = False) -> bool:
        """Approve a submitted policy; ``solo`` lets an author do so. Returns whether it was an author.

        Raises:
            PolicyActError: it is not submitted, or the actor is one of its authors.
        """
        with self._writing() as log:
            standing = _trusted_standing(log)
            life = standing.life(digest)
            deed = Deed(
                act=Act.APPROVE,
                policy=digest,
                model=life.model,
                model_digest=life.model_digest,
                self_approval=solo and signature.actor in life.authors,
            )
            standing.after(deed, signature)
            # What is approved is what is here: a changed file is found before anyone puts a name to it.
            self.policy(digest)
            self._append(log, deed, signature)
        return deed.self_approval

    def reject(self, digest: str, signature: Signature) -> None:
        """Turn down a policy that is submitted or approved.

        Raises:
            PolicyActError: it is neither.
        """
        self._act(Act.REJECT, digest, signature)

    def promote(self, digest: str, signature: Signature) -> None:
        """Make an approved policy the active one; servers take it for new requests.

        Raises:
            PolicyActError: it is not approved, or was compared with another than the active one.
            SavingUnmeasuredError: it enables a saving whose quality nobody has measured.
        """
        self._act(Act.PROMOTE, digest, signature)

    def rollback(self, digest: str, signature: Signature) -> None:
        """Make a policy active that was so before.

        Raises:
            PolicyActError: it was not.
        """
        self._act(Act.ROLLBACK, digest, signature)

    def repair(self) -> bytes:
        """Remove a torn last line, an act that was never finished, and return it; nothing else is ever removed."""
        with self._locked():
            log = self._read()
            if log.torn:
                size = len(read_bytes(self.log_path) or b"") - len(log.torn)
                cut(self._disk, self.log_path, size)
            return log.torn

    def _act(self, act: Act, digest: str, signature: Signature) -> None:
        with self._writing() as log:
            standing = _trusted_standing(log)
            life = standing.life(digest)
            deed = Deed(act=act, policy=digest, model=life.model, model_digest=life.model_digest)
            standing.after(deed, signature)
            if act is not Act.REJECT:
                self.check_parts(self.policy(digest))
            if act in {Act.PROMOTE, Act.ROLLBACK}:
                check_savings(self.policy(digest), digest, self._figures)
            if act is Act.PROMOTE:
                active = self._active_in(standing, life.model, life.model_digest)
                check_against(life, None if active is None else active.policy)
            self._append(log, deed, signature)

    def _active_in(self, standing: Standing, model: str, model_digest: str) -> Life | None:
        own = standing.active(model, model_digest)
        if own is not None or self.beneath is None:
            return own
        return self.beneath.active(model, model_digest)

    def _read(self) -> Log:
        return parse_log(read_bytes(self.log_path) or b"")

    def _append(self, log: Log, deed: Deed, signature: Signature) -> None:
        append(self._disk, self.log_path, entry_line(next_entry(log, deed, signature)))

    @contextmanager
    def _writing(self) -> Iterator[Log]:
        with self._locked():
            log = self._read()
            if log.torn:
                raise PolicyStoreError(
                    f"{torn_message(self.log_path, log)}. Nothing is added behind it until it is removed"
                )
            yield log

    @contextmanager
    def _locked(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        if self.read_only:
            raise PolicyStoreError(
                f"{self.folder} is part of the package and only read; name another with --policy-dir"
            )
        with locked(self.folder, seconds):
            yield


def _part_digest(content: bytes) -> str | None:
    """Return the digest of a stored part; nothing where its bytes are not as they are stored."""
    try:
        digest, stored = canonical_part(content)
    except ConfigError:
        return None
    return digest if stored == content else None


def _trusted_standing(log: Log) -> Standing:
    try:
        return standing_of(log)
    except PolicyActError as error:
        raise PolicyTamperedError(
            f"entry {error.param} of the policies' log is broken: {error.message}. It was not written by this program"
        ) from error
