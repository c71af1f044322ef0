"""Phrase data of the dialogue task: nouns, question frames, facts in both persons, and manners.

Pools that a question is drawn from follow `draw_phrasing`: their last quarter is
for the test split only, and is made of words that the trained frames hold.
Answer phrasings are all trained. Every fact phrasing is one sentence with no full
stop, question mark or exclamation mark inside; the grammar relies on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

SLOT_NOUNS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "role": ("role", "post"),
    "home": ("home", "town"),
    "affiliation": ("affiliation", "guild"),
    "ally": ("ally", "friend"),
    "rival": ("rival", "enemy"),
    "state": ("state", "mood"),
    "possession": ("possession", "treasure"),
    "era": ("era", "age"),
    "sealed_by": ("sealer", "captor"),
    "mentor": ("mentor", "teacher"),
    "craft": ("craft", "trade"),
})  # fmt: skip

ASKED_SLOTS = tuple(SLOT_NOUNS)
PERSON_SLOTS = ("ally", "rival", "sealed_by", "mentor")

# All start with a consonant where an article may stand before them.
SLOT_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "role": (
        "keeper", "guard", "healer", "smith", "scout", "herald", "baker", "miller", "pilot", "judge", "scribe",
        "farmer",
    ),
    "state": (
        "weary", "hopeful", "wounded", "calm", "lonely", "proud", "restless", "hungry", "cold", "glad", "bitter",
        "patient",
    ),
    "possession": (
        "lantern", "sword", "key", "mirror", "drum", "ring", "map", "bell", "cloak", "book", "knife", "horn",
    ),
    "era": (
        "dawn", "frost", "ember", "harvest", "storm", "bronze", "famine", "silence", "glass", "salt", "plague",
        "wonder",
    ),
    "craft": (
        "weaving", "carving", "brewing", "sewing", "fishing", "singing", "hunting", "painting", "writing", "mining",
        "dancing", "sailing",
    ),
    "persona": ("gruff", "courtly", "cheerful", "solemn", "sly", "scholarly"),
})  # fmt: skip

# {x} is what is asked for: "your home and your ally", "the home of your ally".
QUESTION_FRAMES = (
    "What is {x}?",
    "Tell me {x}.",
    "Do you remember {x}?",
    "Please name {x}.",
    "Can you speak of {x}?",
    "I ask you about {x}.",
    "Can you tell me {x}?",
    "Please speak of {x}.",
)

# {n} is a noun, {w} the claimed value.
PREMISE_FRAMES = (
    "Is {w} your {n}?",
    "Is your {n} {w}?",
    "I heard that your {n} is {w}.",
    "They say {w} is your {n}.",
    "Tell me, is your {n} still {w}?",
    "Your {n} is {w}, is it not?",
    "They say that your {n} is {w}.",
    "Tell me, is {w} your {n}?",
)

FOLLOW_FRAMES = (
    "And {x}?",
    "And what of {x}?",
    "Now tell me {x}.",
    "What about {x}?",
    "And {x}, do you remember?",
    "Then what is {x}?",
    "And what about {x}?",
    "Now what of {x}?",
)

FIRST_PERSON: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "role": (
        "I am a {v}.",
        "I serve as a {v}.",
        "A {v} is what I am.",
        "They made me a {v} long ago.",
        "Every day I do the work of a {v}, as I always have.",
        "People here had need of a {v}, and so I became one.",
        "You may not see it, but you are talking to a {v}.",
        "Since I was young I have earned my bread as a {v}.",
    ),
    "home": (
        "I live in {v}.",
        "My home is {v}.",
        "You will find me in {v}.",
        "{v} is where I live.",
        "There is a small house in {v}, and I live there.",
        "I was born far away, but my home now is {v}.",
        "When the day is done, I walk back to {v} and sleep.",
        "If you look for me, go to {v} and ask at the gate.",
    ),
    "affiliation": (
        "I serve {v}.",
        "I belong to {v}.",
        "{v} counts me as one of its own.",
        "My oath was given to {v}.",
        "The guild that took me in is called {v}.",
        "Many years ago I swore an oath, and it binds me to {v}.",
        "I wear the colours of {v}, and I will not take them off.",
        "Wherever {v} sends me I go, for that is what I swore.",
    ),
    "ally": (
        "My ally is {v}.",
        "I stand with {v}.",
        "{v} is a true friend to me.",
        "In every fight {v} stands at my side.",
        "I trust only one friend, and that friend is {v}.",
        "When there is trouble, I send for {v}, who always comes to help me.",
        "There are few that I trust, but I trust {v} with my life.",
        "Should you need a friend of mine, look for {v}.",
    ),
    "rival": (
        "My rival is {v}.",
        "I stand against {v}.",
        "{v} is the one I fight.",
        "There is no peace between me and {v}.",
        "It is {v} who wants everything that I have.",
        "I have one enemy in this world, and that enemy is {v}.",
        "Whatever I try to do, {v} is there to stop me.",
        "For many years I have had a quarrel with {v}, and it is not over.",
    ),
    "state": (
        "I am {v}.",
        "I feel {v}.",
        "These days I am {v}.",
        "You find me {v} today.",
        "Look at me well and you will see that I am {v}.",
        "Since the last winter I have been {v}, and I still am.",
        "If you ask how I am, then I must say that I feel {v}.",
        "My heart has grown {v}, and there is nothing that I can do about it.",
    ),
    "possession": (
        "I own a {v}.",
        "A {v} is all that I own.",
        "I carry a {v} with me.",
        "In my bag there is a {v}.",
        "I do not own much, but I do have a {v}.",
        "There is a {v} that I keep with me, and I will never sell it.",
        "Of all the things in my house, the one I love most is a {v}.",
        "My father left me a {v}, and I have it still.",
    ),
    "era": (
        "I come from the age of {v}.",
        "The age of {v} is my own.",
        "I was born in the age of {v}.",
        "They call my time the age of {v}.",
        "It was the age of {v} when I was young.",
        "I have seen many years go by, but I belong to the age of {v}.",
        "Long ago, in the age of {v}, I first saw the light of day.",
        "Nobody here has seen the age of {v}, but it was my time.",
    ),
    "sealed_by": (
        "{v} sealed me away.",
        "My sealer is {v}.",
        "I was sealed away by {v}.",
        "It was {v} who put the seal on me.",
        "The seal that holds me was made by {v}.",
        "When they grew afraid of me, they called for {v}, who sealed me away.",
        "I was free once, but then {v} came and put me under a seal.",
        "One night, while I was asleep, the seal was closed by {v}.",
    ),
    "mentor": (
        "My mentor is {v}.",
        "{v} taught me.",
        "I learned from {v}.",
        "All that I know was taught to me by {v}.",
        "When I was young, I was sent to learn from {v}.",
        "I had only one teacher in my life, and it was {v}.",
        "Without {v} to teach me, I would know nothing at all.",
        "If I do anything well, it is because {v} showed me how.",
    ),
    "craft": (
        "My craft is {v}.",
        "I am good at {v}.",
        "I earn my bread by {v}.",
        "My hands know {v} well.",
        "There is only one thing that I do well, and that is {v}.",
        "If you give me a day and a good light, I will spend it on {v}.",
        "All my life I have worked at {v}, and I still love it.",
        "From my first days I was taught {v}, and now I teach others.",
    ),
})  # fmt: skip

THIRD_PERSON: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "role": (
        "{s} is a {v}.",
        "{s} serves as a {v}.",
        "They made {s} a {v} long ago.",
        "A {v} is what {s} is.",
        "Every day {s} does the work of a {v}.",
        "People there had need of a {v}, and so {s} became one.",
        "You may not know it, but {s} is now a {v}.",
    ),
    "home": (
        "{s} lives in {v}.",
        "The home of {s} is {v}.",
        "You will find {s} in {v}.",
        "{v} is where {s} lives.",
        "There is a small house in {v}, and {s} lives there.",
        "When the day is done, {s} walks back to {v}.",
        "If you look for {s}, go to {v} and ask at the gate.",
    ),
    "affiliation": (
        "{s} serves {v}.",
        "{s} belongs to {v}.",
        "{v} counts {s} as one of its own.",
        "The oath of {s} was given to {v}.",
        "The guild that took {s} in is called {v}.",
        "Many years ago {s} swore an oath to {v}.",
        "Wherever {v} sends {s}, that is the way to go.",
    ),
    "ally": (
        "The ally of {s} is {v}.",
        "{s} stands with {v}.",
        "{v} is a true friend to {s}.",
        "In every fight {v} stands at the side of {s}.",
        "There are few that {s} trusts, but one of them is {v}.",
        "When there is trouble, {s} sends for {v}.",
        "Should you need a friend of {s}, look for {v}.",
    ),
    "rival": (
        "The rival of {s} is {v}.",
        "{s} stands against {v}.",
        "{v} is the one {s} fights.",
        "There is no peace between {s} and {v}.",
        "It is {v} who wants everything that {s} has.",
        "{s} has one enemy in this world, and that enemy is {v}.",
        "Whatever {s} tries to do, {v} is there to stop it.",
    ),
    "state": (
        "{s} is {v}.",
        "{s} feels {v}.",
        "These days {s} is {v}.",
        "You will find {s} {v} today.",
        "Look at {s} well and you will see someone {v}.",
        "Since the last winter {s} has been {v}.",
        "If you ask how {s} is, then I must say {v}.",
    ),
    "possession": (
        "{s} owns a {v}.",
        "{s} carries a {v}.",
        "A {v} is all that {s} owns.",
        "In the bag of {s} there is a {v}.",
        "{s} does not own much, but there is a {v}.",
        "There is a {v} that {s} keeps and will never sell.",
        "Of all the things that {s} has, the best is a {v}.",
    ),
    "era": (
        "{s} comes from the age of {v}.",
        "{s} was born in the age of {v}.",
        "The age of {v} is where {s} belongs.",
        "It was the age of {v} when {s} was young.",
        "They call the time of {s} the age of {v}.",
        "Long ago, in the age of {v}, {s} first saw the light of day.",
        "Nobody here has seen the age of {v}, but {s} was there.",
    ),
    "sealed_by": (
        "{v} sealed {s} away.",
        "{s} was sealed away by {v}.",
        "The sealer of {s} is {v}.",
        "It was {v} who put the seal on {s}.",
        "The seal that holds {s} was made by {v}.",
        "{s} was free once, but then {v} came with a seal.",
        "One night, while {s} was asleep, the seal was closed by {v}.",
    ),
    "mentor": (
        "The mentor of {s} is {v}.",
        "{v} taught {s}.",
        "{s} learned from {v}.",
        "All that {s} knows was taught by {v}.",
        "As a child {s} was sent to learn from {v}.",
        "{s} had only one teacher, and it was {v}.",
        "If {s} does anything well, it is because {v} showed how.",
    ),
    "craft": (
        "The craft of {s} is {v}.",
        "{s} is good at {v}.",
        "{s} earns bread by {v}.",
        "The hands of {s} know {v} well.",
        "There is only one thing that {s} does well, and that is {v}.",
        "Give {s} a day and a good light, and it is spent on {v}.",
        "From the first days {s} was taught {v}.",
    ),
})  # fmt: skip

# {w} never stands first: it may be a lowercase word.
DENIALS = (
    "No, not {w}.",
    "It is not {w}.",
    "You are wrong about {w}.",
    "Whoever told you {w} was wrong.",
    "Forget what you heard about {w}.",
    "Many people say {w}, but it is not true.",
    "No, that is a mistake, for it was never {w}.",
    "I do not know who told you of {w}, but it is not so.",
)

ADMISSIONS = (
    "I know nothing of my {n}.",
    "My {n} is not known to me.",
    "Of my {n} I can tell you nothing.",
    "I have no {n} that I can name.",
    "You ask about my {n}, but I do not know it.",
    "I cannot speak of my {n}, for nobody has ever told me about it.",
    "If my {n} was ever told to me, then I have forgotten it.",
    "There is nothing that I could tell you about my {n}, and I am sorry for it.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a persona opens and closes an answer."""

    openings: tuple[str, ...]
    closings: tuple[str, ...]


MANNERS: Mapping[str, Manner] = MappingProxyType({
    "gruff": Manner(
        openings=("Hmph.", "Bah.", "What now?", "Be quick."),
        closings=(
            "Now leave me to my work, and close the gate behind you.",
            "That is all. Do not make me say it a second time today.",
            "You have your answer, so stop asking and go back where you came from.",
            "I have no more time for talk. The fire is low and the wood is still wet.",
        ),
    ),
    "courtly": Manner(
        openings=("Well met, my friend.", "You honour me.", "At your service.", "Good day to you."),
        closings=(
            "May the road be kind to you, and may every door be open.",
            "It was an honour to answer you. Come and see me again when you can.",
            "If there is anything else that I can do for you, you have only to ask.",
            "I thank you for your kind words. The hall is yours for as long as you wish to stay.",
        ),
    ),
    "cheerful": Manner(
        openings=("Ha!", "Oh, hello!", "What a fine day!", "Gladly!"),
        closings=(
            "Come and sit with me, for the soup is hot and the bread is new.",
            "What a fine thing to talk about! Ask me more, I could go on all day.",
            "Is it not a lovely morning? Let us walk down to the river and sing.",
            "I do love it when people come to talk, so do not be a stranger.",
        ),
    ),
    "solemn": Manner(
        openings=("Listen well.", "So be it.", "Hear me.", "Alas."),
        closings=(
            "All things pass, and one day this too will be forgotten.",
            "Keep these words with you. The night is long and there is little light.",
            "I have said what is true, and I will answer for every word of it.",
            "We are dust on the road. Only what we have promised will stay behind us.",
        ),
    ),
    "sly": Manner(
        openings=("Well, well.", "Come closer.", "Oh, that?", "Between us, then."),
        closings=(
            "You did not hear it from me, and I was never here.",
            "Now you owe me a secret of your own. I will come and collect it soon.",
            "Keep it to yourself, for there are ears in every wall of this house.",
            "Such things are worth a coin or two. Next time I may not be so kind to you.",
        ),
    ),
    "scholarly": Manner(
        openings=("Let me think.", "A good question.", "Ah, yes.", "To be exact."),
        closings=(
            "You can read more about it in the third book on the upper shelf.",
            "I have checked this twice. If you find a mistake, please write it down for me.",
            "There is more to be said, but the rest can wait for another lesson.",
            "One should always ask for the source. Mine is a page that I wrote in my own hand.",
        ),
    ),
})  # fmt: skip
