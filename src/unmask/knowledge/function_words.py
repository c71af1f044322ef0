"""Words that say nothing of what a question is about."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = _words(
    "a about all am an and any are as at be been by can could did do does done for from had has have he her hers "
    "him his how i if in into is it its may me mine must my no not of on once or our ours shall she should so "
    "some than that the their theirs them then there these they this those to us was we were what when where "
    "which who whom whose why will with would you your yours yourself s re ve ll d m t "
    "누구 누가 무엇 뭐 뭘 무슨 어디 언제 왜 어떤 어느 어떻게 몇 그 이 저"
)
SPEAKER = _words("you your yours yourself 당신 너 네 니 넌 널 네게 너희 자네 그대 댁 귀하")
PERSON = _words("he him his she her hers they them their theirs 그 그녀 그들 그분 그이 걔 쟤 이분 저분 그자 그사람")
THING = _words("it its there 거기 그곳 그것 그건 그게 거긴 여기 이곳 저기 저곳")
CONJUNCTIONS = _words("and or nor but while whereas also plus 그리고 또 또는 및 그런데 하지만")
JOINING_TAILS = ("와", "과", "랑", "이랑", "하고", "이나", "나", "고", "이고", "며", "이며", "지만")
"""Korean endings that join what they end to what follows, rather than making it a part of it."""
ELLIPSES = _words("and or but what how 그리고 그럼 그러면 그렇다면 또 그런데")
"""Words that a question begins with when it leaves out what the last one asked for."""
PAST = _words(
    "was were did had first former formerly earlier old once originally original previous previously before used past "
    "ancient history 처음 첫 예전 옛 옛날 원래 과거 전에 이전 당시 최초 역사"
)
INVERTED = _words("whose whom 누구의 누굴 누구를")
"""Words that ask whose value something is."""
