"""What is said out of politeness and asks for nothing, as whole sentences in small letters without marks."""

BOILERPLATE = frozenset({
    "hello", "hi", "hi there", "hello there", "hey", "good morning", "good afternoon", "good evening", "dear assistant",
    "thanks", "thank you", "thanks a lot", "many thanks", "thank you very much", "thanks in advance",
    "thank you in advance", "thank you for your help", "thanks for your help", "i appreciate your help",
    "i hope you are well", "i hope you are doing well", "i hope this finds you well", "sorry to bother you",
    "i have a question", "i have a question for you", "please help me", "can you help me", "could you help me",
    "could you please help me",
    "안녕", "안녕하세요", "안녕하십니까", "반갑습니다", "감사합니다", "고맙습니다", "미리 감사합니다",
    "미리 감사드립니다", "도와주셔서 감사합니다", "수고하세요", "수고하십니다", "부탁드립니다", "부탁합니다",
    "잘 부탁드립니다", "실례합니다", "질문 있습니다", "질문이 있습니다", "질문이 하나 있습니다", "도와주세요",
})  # fmt: skip
"""None of them is an instruction, and none changes what another sentence asks for."""

REFERRING = frozenset({
    "it", "its", "they", "them", "their", "theirs", "he", "him", "his", "she", "her", "hers", "this", "that", "these",
    "those", "there", "one", "ones", "same", "other", "others", "another", "more", "again", "also", "too", "then",
    "and", "but", "so", "or", "else", "instead", "earlier", "before", "previous", "above", "last", "first", "second",
    "said", "mentioned", "continue", "why", "how", "about", "still", "now",
    "그", "그것", "그거", "그건", "그게", "그들", "그녀", "그의", "그럼", "그러면", "그리고", "그런데", "그러나",
    "그래서", "그때", "이", "이것", "이거", "이건", "이게", "저", "저것", "거기", "여기", "또", "또는", "다시", "더",
    "다른", "같은", "아까", "방금", "위", "위의", "앞", "앞의", "이전", "계속", "왜", "어떻게", "아니", "아직", "이제",
})  # fmt: skip
"""Words by which a question may go back to what was said before."""
