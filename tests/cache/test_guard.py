"""Behaviour of `unmask.cache.guard`: what may share an answer, and what never may."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.cache.guard import Difference, difference, tokens_of

SAME = (
    ("What is your home?", "Tell me your home."),
    ("What is the home of Kaloren?", "Please tell me the home of Kaloren"),
    ("what's the home of Kaloren", "Could you please tell me what is the home of Kaloren?"),
    ("Who sealed Kaloren?", "who sealed Kaloren"),
    ("Who sealed  Kaloren ?", "Who sealed Kaloren?!"),
    ("Sort 3, 1, 2.", "Please sort 3 1 2"),
    ("Add two apples to the cart.", "Add 2 apples to cart"),
    ("The gate isn't open.", "The gate is not open."),
    ("I can't open it.", "I cannot open it."),
    ("# Ada\n- home Velka\nWhat is the home of Ada?", "# Ada\n- home Velka\nTell me the home of Ada."),
    ("하은의 고향은 무엇인가요?", "하은의 고향을 알려 주세요."),
    ("하은의 고향이 뭐야?", "하은의 고향을 말해줘"),
    ("네 이름이 뭔지 알려줘.", "네 이름이 뭐예요?"),
    ("누가 하은을 봉인했나요?", "누가 하은을 봉인했나요"),
    ("마을을 알려줘.", "마을은 무엇입니까?"),
    ("カロレンの家はどこ？", "カロレンの家はどこ?  "),
)

HARD = (
    # Numbers, signs and times.
    ("Add 12 + 30.", "Add 12 + 31.", Difference.NUMBERS),
    ("Add 12 + 30.", "Add 12 - 30.", Difference.WORDS),
    ("Add 12 and 30.", "Add 30 and 12.", Difference.NUMBERS),
    ("Sort 1, 23.", "Sort 12, 3.", Difference.NUMBERS),
    ("What is -5 + 3?", "What is 5 + 3?", Difference.NUMBERS),
    ("Wake me at 10:30.", "Wake me at 10, 30.", Difference.NUMBERS),
    ("It takes 1.5 hours.", "It takes 15 hours.", Difference.NUMBERS),
    ("Two keys are left.", "Three keys are left.", Difference.NUMBERS),
    ("Compute (1 + 2) * 3.", "Compute 1 + (2 * 3).", Difference.ORDER),
    ("사과 3개를 더해 줘.", "사과 4개를 더해 줘.", Difference.NUMBERS),
    ("5일 전에 만났다.", "5일 후에 만났다.", Difference.WORDS),
    ("What is 10²?", "What is 102?", Difference.NUMBERS),
    ("What is 10₂?", "What is 102?", Difference.NUMBERS),
    ("What is 5!", "What is 5?", Difference.WORDS),
    ("Is x != y?", "Is x = y?", Difference.WORDS),
    ("How long is 5'?", 'How long is 5"?', Difference.WORDS),
    # Articles that are names, and names that are words.
    ("Is it plan A?", "Is it plan?", Difference.WORDS),
    ("What is a + b?", "What is the + b?", Difference.WORDS),
    ("Is the answer A?", "Is the answer an?", Difference.WORDS),
    ("What is Polish?", "What is polish?", Difference.WORDS),
    ("US", "us", Difference.WORDS),
    ("하은이 말해 줘.", "하은을 말해 줘.", Difference.WORDS),
    # Negation.
    ("Is the gate open?", "Is the gate not open?", Difference.NEGATION),
    ("Did Ada seal Ben?", "Didn't Ada seal Ben?", Difference.NEGATION),
    ("Name a town with walls.", "Name a town without walls.", Difference.NEGATION),
    ("Everybody may enter.", "Nobody may enter.", Difference.NEGATION),
    ("List towns in the north.", "List towns except in the north.", Difference.NEGATION),
    ("문을 열었나요?", "문을 안 열었나요?", Difference.NEGATION),
    ("하은은 도윤의 친구다.", "하은은 도윤의 친구가 아니다.", Difference.NEGATION),
    ("열쇠가 있다.", "열쇠가 없다.", Difference.NEGATION),
    ("문을 닫아.", "문을 닫지 마.", Difference.WORDS),
    ("그는 갈 수 있다.", "그는 못 간다.", Difference.NEGATION),
    # Polarity.
    ("Who has more gold?", "Who has less gold?", Difference.WORDS),
    ("What came before the war?", "What came after the war?", Difference.WORDS),
    ("Is the gate open?", "Is the gate closed?", Difference.WORDS),
    ("Turn the light on.", "Turn the light off.", Difference.WORDS),
    ("Name the largest town.", "Name the smallest town.", Difference.WORDS),
    ("Can I enter the tower?", "Must I enter the tower?", Difference.WORDS),
    ("Is it safe to drink?", "Is it unsafe to drink?", Difference.WORDS),
    ("Who always lies?", "Who sometimes lies?", Difference.WORDS),
    ("문이 열려 있나요?", "문이 닫혀 있나요?", Difference.WORDS),
    ("더 많은 쪽은 누구야?", "더 적은 쪽은 누구야?", Difference.WORDS),
    ("전쟁 전에 무슨 일이 있었나요?", "전쟁 후에 무슨 일이 있었나요?", Difference.WORDS),
    # Names and entities, in questions and in facts.
    ("What is the home of Kaloren?", "What is the home of Kalorin?", Difference.WORDS),
    ("# Ada\n- home Velka\nWhat is your home?", "# Ada\n- home Velsa\nWhat is your home?", Difference.WORDS),
    ("Who is the leader of Velka?", "Who is the founder of Velka?", Difference.WORDS),
    ("What is your home?", "What is my home?", Difference.WORDS),
    ("Who helps us?", "Who helps US?", Difference.WORDS),
    ("What happens in May?", "What happens in may?", Difference.WORDS),
    ("하은의 고향은 무엇인가요?", "도윤의 고향은 무엇인가요?", Difference.WORDS),
    ("하은의 고향은 무엇인가요?", "하은의 소속은 무엇인가요?", Difference.WORDS),
    # Order and roles.
    ("Ada sealed Ben.", "Ben sealed Ada.", Difference.ORDER),
    ("Flights from Rome to Oslo?", "Flights to Rome from Oslo?", Difference.ORDER),
    ("What is the home of your ally?", "What is the ally of your home?", Difference.ORDER),
    ("Follow ally then home from Ada.", "Follow home then ally from Ada.", Difference.ORDER),
    ("하은이 도윤을 봉인했다.", "도윤이 하은을 봉인했다.", Difference.WORDS),
    ("하은이 도윤을 봉인했다.", "하은을 도윤이 봉인했다.", Difference.WORDS),
    ("하은은 도윤이 봉인했다.", "하은이 도윤은 봉인했다.", Difference.WORDS),
    ("서울에서 부산까지 얼마나 걸려?", "부산에서 서울까지 얼마나 걸려?", Difference.WORDS),
    # What is asked, and whether it is asked.
    ("Where was Ada born?", "When was Ada born?", Difference.WORDS),
    ("What is the home of Ada?", "What was the home of Ada?", Difference.WORDS),
    ("Is your home Velka?", "Your home is Velka.", Difference.ORDER),
    ("You have seen Ada.", "You have seen Ada?", Difference.WORDS),
    ("밥 먹었어.", "밥 먹었어?", Difference.WORDS),
    ("Tell me your home.", "Tell me about your home.", Difference.WORDS),
    ("Describe your home.", "Name your home.", Difference.WORDS),
    ("Do you know Ada?", "Tell me Ada.", Difference.WORDS),
    ("Did Ada tell Ben?", "Did Ada ask Ben?", Difference.WORDS),
    ("누가 하은을 봉인했나요?", "하은이 누구를 봉인했나요?", Difference.WORDS),
    ("고양이의 이름이 뭐야?", "고양의 이름이 뭐야?", Difference.WORDS),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_ways_to_ask_the_same_are_let_through(one: str, other: str) -> None:
    """Frames, politeness, marks, blanks and numerals make no difference."""
    assert difference(tokens_of(one), tokens_of(other)) is None


@pytest.mark.parametrize(("one", "other", "why"), HARD)
def test_pairs_that_vectors_take_for_alike_are_kept_apart(one: str, other: str, why: Difference) -> None:
    """Either way round, and with the reason."""
    assert difference(tokens_of(one), tokens_of(other)) is why
    assert difference(tokens_of(other), tokens_of(one)) is why


WORDS = ("Ada", "Ben", "sealed", "not", "3", "12", "more", "하은이", "도윤을", "없다", "안", "the", "?", "what is")


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_a_text_is_the_same_as_itself(words: list[str]) -> None:
    """Whatever it is made of, and however it is spaced."""
    assert difference(tokens_of(" ".join(words)), tokens_of("  ".join(words))) is None


ORDERED = ("Ada", "Ben", "sealed", "found", "하은이", "도윤을", "3", "12")


@given(st.permutations(ORDERED))
def test_order_is_never_overlooked(words: list[str]) -> None:
    """Any other order of the same words is another text."""
    is_same = difference(tokens_of(" ".join(("x", *ORDERED))), tokens_of(" ".join(("x", *words)))) is None

    assert is_same == (tuple(words) == ORDERED)


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    """Nothing is raised, and a text stays the same as itself."""
    assert difference(tokens_of(text), tokens_of(text)) is None
