"""How people ask for the slots of the card format, beside the words that a world gives for them."""

from collections.abc import Mapping
from types import MappingProxyType

COMMON: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "role": ("role", "occupation", "what do you do", "역할", "직업", "무슨 일"),
    "home": ("home", "where live", "lives", "come from", "고향", "어디 살", "어디 사", "사는 곳", "어디 출신"),
    "affiliation": ("affiliation", "belong to", "serve", "소속", "섬기"),
    "ally": ("ally", "friend", "동료", "친구", "아군"),
    "rival": ("rival", "enemy", "foe", "숙적", "원수", "라이벌"),
    "state": ("state", "how feel", "상태", "기분"),
    "possession": ("possession", "carry", "own", "소지품", "물건", "가지고 있", "가진"),
    "era": ("era", "which age", "시대"),
    "sealed_by": ("sealed by", "sealed", "봉인"),
    "mentor": ("mentor", "teacher", "taught", "trained", "스승", "가르"),
    "craft": ("craft", "trade", "skill", "기술", "솜씨", "재주"),
    "persona": ("persona", "temper", "성격", "말투"),
})  # fmt: skip
