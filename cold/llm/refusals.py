"""How models say that they will not do it, or that they are models, in several languages."""

import re

# A space stands for any run of signs between two words.
_PHRASES = (
    "(?:i'?m |i am )?sorry (?:but )?i ?(?:can|am|'m|do|don|could|won)",
    "(?:i apologi[sz]e|apologies) (?:but )?i ?(?:can|am|'m|do|don|could|won)",
    "i (?:can(?:not|'?t| not)|won'?t|will not|am unable to|'?m unable to|am not able to) (?:assist|"
    "help|comply|fulfill?|provide|process|answer|continue|extract|summari[sz]e|generate|complete)",
    "(?:unfortunately|regrettably) i (?:can(?:not|'?t| not)|am (?:unable|not able) to|won'?t) "
    "(?:assist|help|comply|fulfill?|provide|process|answer|do)",
    "i (?:must|have to|need to) (?:decline|refuse)",
    r"as an? (?:ai|artificial intelligence|large language|language)\b",
    "(?:i'?m|i am) (?:just |only )?an? (?:ai|language|large language) (?:model|assistant)",
    "(?:there is|i see|i find|you (?:have not|haven'?t) provided?) (?:no|any) (?:text|content|"
    "conversation|messages?|input) (?:to|was|provided)",
    "(?:es )?tut mir leid (?:aber )?(?:ich|das|dabei|da) ",
    r"ich kann (?:ihnen |dir )?(?:dabei|damit|das|hier)\b.{0,20}nicht",
    r"(?:ich kann|leider kann ich|(?:dabei|damit|das) kann ich)\b.{0,60}nicht "
    "(?:helfen|bearbeiten|beantworten|erfüllen|ausführen|unterstützen|behilflich)",
    "(?:entschuldigung|verzeihung) (?:aber )?(?:ich kann|ich darf|das kann|da kann|dabei|damit)",
    r"ich muss\b.{0,40}ablehnen",
    r"als (?:ki|künstliche intelligenz|sprachmodell)\b",
    "(?:je suis )?désolée? (?:mais )?je ne",
    "je ne (?:peux|suis) pas (?:vous aider|en mesure|répondre)",
    "en tant qu(?:'|e )(?:ia|intelligence|modèle)",
    "lo siento (?:pero )?no puedo",
    "no puedo (?:ayudar|asistir|proporcionar|cumplir)",
    r"como (?:modelo de lenguaje|(?:una )?ia|um modelo de linguagem|uma ia)\b",
    "(?:me )?desculpe? (?:mas )?(?:eu )?não posso",
    "mi dispiace (?:ma )?non posso",
    "in quanto (?:ia|modello)",
    "(?:извините|простите|к сожалению) (?:но )?я не могу",
    "как (?:языковая модель|искусственный интеллект)",
    "(?:죄송하지만|죄송합니다|미안하지만)",
    "(?:ai|인공지능|언어 ?모델)(?: 언어 모델)?(?:로서|이기 때문에)",
    "申し訳(?:ありません|ございません)",
    "(?:ai|人工知能|言語モデル)(?:として|ですので|なので)",
    r"(?:很?抱歉|对不起|對不起)\W*(?:但)?我(?:无法|不能|無法)",
    "(?:作为|作為)(?:一个|一個|一名)?(?:ai|人工智能|人工智慧|语言模型|語言模型)",
)
_START = re.compile(
    r"\A[\s\W]*(?:"
    + "|".join(f"(?:{p})" for p in _PHRASES).replace(" ?", r"\W*").replace(" ", r"\W+")
    + ")",
    re.IGNORECASE,
)


def refusal(text: str) -> str | None:
    """The phrase at the beginning of `text` that refuses; None where there is none."""
    found = _START.match(text.replace("’", "'"))
    return None if found is None else found[0].strip()
