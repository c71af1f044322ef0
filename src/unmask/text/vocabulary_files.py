"""Tokenizers published as a vocabulary and a list of merges, without a ``tokenizer.json``."""

import json

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from unmask.errors import CheckpointFolderError

QWEN2_CLASSES = frozenset({"DreamTokenizer", "Qwen2Tokenizer", "Qwen2TokenizerFast"})
"""Values of ``tokenizer_class`` whose texts are split alike."""

# The split that Qwen2's vocabulary was learned with: contractions, words with what stands before them, single digits,
# punctuation, line ends, blanks. Another would give other tokens.
_QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)


def qwen2_tokenizer(vocabulary: bytes, merges: bytes) -> bytes:
    """Return what a ``tokenizer.json`` of Qwen2 would hold.

    Args:
        vocabulary: ``vocab.json``, ids by words.
        merges: ``merges.txt``, two words a line.

    Raises:
        CheckpointFolderError: they are damaged, or do not belong together.
    """
    try:
        words = json.loads(vocabulary)
        lines = merges.decode("utf-8").splitlines()
        pairs = [(left, right) for left, right in map(str.split, lines[lines[:1] == ["#version: 0.2"] :]) if right]
        tokenizer = Tokenizer(models.BPE(vocab=words, merges=pairs))
    except Exception as error:  # the library raises nothing narrower
        raise CheckpointFolderError(f"vocab.json and merges.txt are damaged: {error}; fetch both again") from error
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_QWEN2_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return str(tokenizer.to_str()).encode()
