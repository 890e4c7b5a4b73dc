"""Words that a query is not about."""

from functools import cache

from agents_memory.domain.lexical.words import LEXEMES

# Words that ask or join and name nothing. Left out on purpose: those that are content words in
# another language once folded (die, war, man, für, son, pour, todo, dos, del, van, will, may, us).
_STOP_WORDS = """
a an and are as at be been but by can could did do does for from had has have he her him his how i
if in into is its me my of on or our she so than that the their them then there these they this
those to was we were what when where which who whom whose why with would you your dont didnt
doesnt about any am im just not no yes
der das und ist ein eine einen einem einer dem des ich nicht zu auf von wer wann wo wieso warum
welche welcher wie le la les du et un une est que qui quoi quand où dans avec sur aux ce cette il
elle el los las y en una por con para es qué quién cuándo dónde cómo o da em não com quem gli che
per sono het een niet och att det som på är av
и в во на не что с по это как а для от из у к о за то кто где когда και το της του να
فى في من على إلى ما هل का की के है में और से को क्या
"""
_STOP_RUNS = """
的 了 是 在 吗 呢 我 你 什么 怎么 是什 为什 么时 时候 哪里 哪个 哪些 多少 是谁 请问 什麼 怎麼
の は を に が と で も か です ます すか した から まで とは 何で なに
"""

# Beside these, of a query alone: pronouns, auxiliaries and the like, which stand in its answers and
# in everything else.
_ASKING_WORDS = """
wir du ihr sie es mich mir dich dir uns euch sich mein meine meinen meinem meiner dein deine unser
unsere unseren unserem ihre ihren ihrem sind bist wird werden wurde kann können haben habe auch
oder aber wenn weil dass noch nur schon vom zum zur beim im nach bei über je tu il nous vous ils
elles mes nos vos leur leurs suis sommes sont était avons avez avaient pas ne se sa ses mais
comment combien notre votre mi mis tu tus sus nuestro nuestra me te se lo nos le les hemos
están está fue pero cuál cuándo gli mio mie miei nostro nostra siamo abbiamo è ma anche
quando dove come eu nós você meu minha seu sua nosso nossa estão está foi onde quando
como
"""
_ASKING_RUNS = "我们 们在 们的 你们 他们 她们 在哪 是哪 有什 有哪"


@cache
def stop_lexemes() -> frozenset[str]:
    """The lexemes that name nothing."""
    return _lexemes(_STOP_WORDS, _STOP_RUNS)


@cache
def asking_lexemes() -> frozenset[str]:
    """The lexemes that a query is looked up by only when it has no others."""
    return stop_lexemes() | _lexemes(_ASKING_WORDS, _ASKING_RUNS)


def _lexemes(words: str, runs: str) -> frozenset[str]:
    stems = (lexeme for word in words.split() for lexeme in LEXEMES[word])
    return frozenset(stems) | frozenset(runs.split())
