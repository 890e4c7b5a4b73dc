"""Whether a text says of somebody else what a sentence without a subject says of the speaker.

"My sister lives in Graz" does not tell where the speaker lives. Only what stands at the beginning
of a clause is taken for its subject, and a clause that names the speaker, too, is his.
"""

import re

from agents_memory.domain.grounding.units import sentences
from agents_memory.domain.lexical import analyse
from agents_memory.domain.lexical.stopwords import stop_lexemes

# Relatives, friends, and who one works or lives with, after "my" in each language.
_KIN = {
    "en": r"(?:step|grand|god|ex-?)?(?:sister|brother|mother|mom|mum|father|dad|daughter|son|child)"
    r"(?:-in-law)?s?|(?:grand)?(?:kids?|children|parents|ma|pa)|(?:ex-?)?(?:wife|husband)|spouse|fianc[ée]e?"
    r"|(?:boy|girl)?friends?|(?:room|flat|class|team)mates?|partners?|aunts?|uncles?|cousins?"
    r"|nieces?|nephews?|neighbou?rs?|colleagues?|co-?workers?|boss|managers?|supervisor|landlord"
    r"|landlady|teachers?|mentor|clients?|customers?|dentist|doctor|therapist|dogs?|cats?",
    "de": r"(?:Stief|Halb|Groß)?(?:Schwestern?|Br(?:u|ü)der|Mutter|Mama|Vater|Papa|T(?:o|ö)chter"
    r"|S(?:o|ö)hn?e?|Eltern)|Oma|Opa|Kind(?:er)?|(?:Ehe)?(?:Frau|Mann)|(?:Lebens)?Partner(?:in)?"
    r"|Freund(?:e|in|innen)?|Tante|Onkel|Cousine?|Nichte|Neffe|Nachbar(?:n|in)?|Koll?eg(?:e|en|in)"
    r"|Chef(?:in)?|Vermieter(?:in)?|Mitbewohner(?:in)?|Schwager|Schwägerin|Lehrer(?:in)?",
    "fr": r"s[oœ]e?urs?|frères?|mère|maman|père|papa|femme|mari|compagne|compagnon|filles?|fils"
    r"|enfants?|parents|grands?-(?:mère|père|parents)|tante|oncle|cousine?s?|nièce|neveu"
    r"|ami(?:e|s|es)?|copine?|voisine?s?|collègues?|chef(?:fe)?|patronn?e?|propriétaire",
    "romance": r"hermanas?|hermanos?|madre|mamá|padre|papá|padres|esposa|esposo|mujer|marido|pareja"
    r"|novi[oa]|hij[oa]s?|abuel[oa]s?|t[íi][oa]s?|prim[oa]s?|sobrin[oa]s?|amig[oa]s?|vecin[oa]s?"
    r"|compañer[oa]s?|colegas?|jef[ea]|casero|sorell[ae]|fratell[oi]|mamma|papà|babbo|moglie"
    r"|compagn[oa]|figli[oae]?|genitori|nonn[oai]|zi[oa]|cugin[oaie]|nipot[ei]|amic[oa]|amici"
    r"|vicin[oa]|collegh?[aei]|capo|irmãs?|irmão|irmãos|mãe|pai|pais|esposa|namorad[oa]|filh[oa]s?"
    r"|av[óô]|vizinh[oa]|chefe",
    "nl": r"zus(?:sen)?|zusje|broer(?:s|tje)?|moeder|mama|vader|papa|vrouw|man|vriend(?:in)?"
    r"|vrienden|partner|dochters?|zoon|kinderen|kind|ouders|oma|opa|tante|oom|neef|nicht|buur(?:man|vrouw)"
    r"|collega(?:'s)?|baas|huisbaas",
    "pl": r"siostr[ay]|brat|bracia|matka|mama|ojciec|tata|żona|mąż|partner(?:ka)?|córk[ai]|syn"
    r"|dzieci|rodzice|babcia|dziadek|ciocia|wujek|kuzyn(?:ka)?|przyjaciel|przyjaciółka|koleg[ai]"
    r"|koleżanka|sąsiad(?:ka)?|szef(?:owa)?",
    "ru": r"сестр[аы]|брат(?:ья)?|мать|мама|отец|папа|жена|муж|дочь|дочка|сын|дети|родители"
    r"|бабушка|дедушка|т[её]тя|дядя|друг|друзья|подруга|сосед(?:ка)?|коллег[аи]|начальник"
    r"|начальница|шеф",
    "tr": r"(?:kız )?kardeşim|ablam|abim|ağabeyim|annem|babam|eşim|karım|kocam|kızım|oğlum"
    r"|(?:iş )?arkadaşım|patronum|müdürüm|komşum|teyzem|amcam|halam|dayım|dedem",
    "zh": r"姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|母亲|父亲|妻子|老婆|丈夫|老公|女儿|儿子|孩子|奶奶|爷爷"
    r"|外婆|外公|朋友|女友|男友|同事|老板|经理|邻居|室友|房东|父母",
    "ja": r"姉|妹|兄|弟|母|父|妻|夫|娘|息子|祖母|祖父|両親|友人|友達|彼女|同僚|上司|隣人|大家",
    "ko": r"언니|누나|오빠|형|여동생|남동생|동생|어머니|엄마|아버지|아빠|아내|남편|딸|아들"
    r"|부모님|할머니|할아버지|친구|동료|상사|이웃",
    "ar": r"أختي|أخي|أمي|والدتي|أبي|والدي|زوجتي|زوجي|ابنتي|ابني|صديقي|صديقتي"
    r"|زميلي|زميلتي|مديري|جاري",
    "he": r"אחותי|אחי|אמי|אבי|אשתי|בעלי|בתי|בני|(?:ה?(?:אמא|אבא|בת|בן|חבר|חברה|בוס|שכן|שכנה)) שלי",
    "hi": r"बहन|भाई|माँ|मां|पिता|पत्नी|पति|बेटी|बेटा|दोस्त|सहकर्मी|पड़ोसी",
    "th": r"น้องสาว|พี่สาว|พี่ชาย|น้องชาย|แม่|พ่อ|ภรรยา|สามี|ลูกสาว|ลูกชาย|เพื่อน",
}
_BOUND = {name for name in _KIN if name not in ("zh", "ja", "ko", "th")}
_SOMEBODY = re.compile(
    "|".join(rf"\b(?:{kin})\b" if name in _BOUND else kin for name, kin in _KIN.items()),
    re.IGNORECASE,
)

_OPENING = (
    r"^\W*(?:(?:and|but|so|also|well|oh|yes|no|und|aber|auch|ja|nein|et|mais|y|pero|e|ma|mas|en|maar"
    r"|i|ale|а|и|но|ve|ama)\W+)?"
    # What is thought or said of it, and when it was so, changes nothing in who it is about.
    r"(?:(?:(?:i|we|you)\s+(?:just\s+)?(?:think|thought|believe|guess|know|knew|hope|heard|suppose"
    r"|assume|said|remember|told\s+you)|is\s+there\s+a\s+chance)\s+(?:that\s+)?"
    r"|ich\s+(?:glaube|denke|weiß|hoffe|hörte)\W+(?:dass\s+)?"
    r"|(?:creo|sé|pienso|espero)\s+que\s+|je\s+(?:crois|pense|sais)\s+que\s+"
    r"|(?:credo|penso|so|spero)\s+che\s+|(?:acho|sei|penso|espero)\s+que\s+"
    r"|(?:yesterday|today|now|recently|last\s+\w+|this\s+\w+|(?:in|since)\s+\d{4}|gestern|heute"
    r"|ayer|hoy|hier|ieri|ontem)\W+)?"
)
# What can be said of a person, in the third person.
_VERBS = (
    r"lives?|works?|is|was|has|had|likes?|loves?|hates?|plays?|speaks?|studies|eats?|drinks?|prefers?"
    r"|wants?|moved|drives?|owns?|uses?|grew|comes?|wohnt|lebt|arbeitet|ist|war|hat|mag|liebt|hasst"
    r"|spielt|spricht|isst|trinkt|zog|studiert|kommt|habite|vit|travaille|est|aime|déteste|joue"
    r"|parle|mange|boit|étudie|vive|trabaja|es|está|tiene|ama|odia|toca|habla|come|bebe|estudia"
    r"|abita|lavora|è|ha|suona|parla|mangia|beve|mora|trabalha|é|tem|odeia|fala|woont|werkt|heeft"
    r"|houdt|haat|speelt|spreekt|eet|drinkt|mieszka|pracuje|jest|lubi|kocha|gra|mówi|pije"
    r"|живёт|живет|работает|любит|ненавидит|играет|говорит|ест|пьёт|пьет"
)
_OTHER = re.compile(
    _OPENING + "(?:"
    rf"(?:my|our|his|her|their|an?|one of my)\s+(?:[\w-]+\s+){{0,2}}?(?:{_KIN['en']})\b"
    r"(?:\s+of mine)?"
    # A client, a parent or a manager is often a program.
    r"|the\s+(?:neighbou?rs?|boss|landlord|landlady|dentist|doctor|therapist|kids|twins)\b"
    rf"|(?:mein|unser)e?\s+(?:\w+\s+){{0,2}}?(?:{_KIN['de']})\b"
    rf"|(?:ma|mon|mes|notre|nos)\s+(?:\w+\s+)?(?:{_KIN['fr']})\b"
    rf"|(?:(?:il|la|i|le|o|a|os|as)\s+)?(?:mi|mis|nuestr[oa]s?|mi[oae]|miei|nostr[oaie]|meus?"
    rf"|minhas?|noss[oa]s?)\s+(?:\w+\s+)?(?:{_KIN['romance']})\b"
    rf"|(?:mijn|onze|ons)\s+(?:\w+\s+)?(?:{_KIN['nl']})\b"
    rf"|(?:mój|moja|moi|moje|nasz[aei]?)\s+(?:\w+\s+)?(?:{_KIN['pl']})\b"
    rf"|(?:мой|моя|мои|наш[аи]?)\s+(?:\w+\s+)?(?:{_KIN['ru']})\b"
    rf"|(?:benim\s+)?(?:{_KIN['tr']})\b"
    rf"|(?:我们?的?|我家)?(?:{_KIN['zh']})"
    rf"|(?:私の|僕の|俺の)?(?:{_KIN['ja']})(?=[はがの])"
    rf"|(?:제|내|저의|나의|우리)?\s*(?:{_KIN['ko']})(?=[은는이가의])"
    rf"|(?:[تي]\w+\s+)?(?:{_KIN['ar']})\b"
    rf"|(?:{_KIN['he']})(?=\s)"
    rf"|(?:मेर[ीाे]|हमार[ीाे])\s+(?:{_KIN['hi']})"
    rf"|(?:{_KIN['th']})(?:ของ)?(?:ฉัน|ผม|เรา)?"
    r"|(?P<pronoun>(?:he|she|they|er|sie|он|она|они|הוא|היא|वह|هو|هي)\b"
    rf"|(?:il|elle|ils|elles|él|ella|lui|lei|ele|ela|hij|zij|ze|on|ona)\s+(?={_VERBS}\b)"
    r"|他们?|她们?|彼女?(?=[はが])|그녀?(?=[는가])|เขา)"
    r"|(?P<name>\w{1,12}(?:さん|ちゃん|くん|氏)(?=[はが])|\w{2,12}\s?씨(?=[은는이가]))"
    ")",
    re.IGNORECASE,
)
# Where the verb comes first: "In Graz wohnt meine Schwester".
_BEHIND = re.compile(
    rf"\b(?:{_VERBS})\s+(?:(?:my|our)\s+(?:\w+\s+)?(?:{_KIN['en']})"
    rf"|(?:mein|unser)e?\s+(?:\w+\s+)?(?:{_KIN['de']})"
    rf"|(?:mi|mis)\s+(?:{_KIN['romance']})|(?:ma|mon|mes)\s+(?:{_KIN['fr']}))\b",
    re.IGNORECASE,
)
# The speaker as whom somebody else turns to.
_TURNED_TO = re.compile(
    r"\b(?:told|asked|called|texted|wrote|showed|reminded|visited|said to)\s+(?:me|us)\b", re.I
)
_NAME = r"[A-ZÀ-ÝА-ЯŁŚŻ]\w+"
_NAMED = re.compile(_OPENING + rf"({_NAME})\s+(?=(?:{_VERBS})\b)")
_CALLED = re.compile(rf",?\s+({_NAME})")
_OPENERS = """
    i we this that it there here what which who where when how everything nothing something nobody
    everybody everyone somebody someone anybody anyone today tomorrow yesterday now the you user
    owner es das dies hier da dort was wer wo wie wann heute jetzt gestern morgen alles nichts
    niemand jemand so dann nun man wir ich ihr du nutzer nutzerin benutzer ce cela ça tout qui où on
    je nous vous tu utilisateur hoy esto eso todo nadie aquí quien que yo usted usuario oggi questo
    tutto nessuno chi io utente isto isso ninguém hoje quem eu você utilizador dit dat het er
    niemand vandaag ik wij jij gebruiker to dziś ja ty nikt użytkownik это что кто никто сегодня я
    ты вы мы пользователь
    """
_NO_NAME = frozenset(_OPENERS.split())
_SPEAKER = re.compile(
    r"\b(?:i|me|myself|we|us|ich|mich|mir|wir|uns|je|moi|nous|yo|conmigo|nosotr[oa]s|nos|io|noi|eu"
    r"|nós|comigo|ik|mij|wij|ja|mnie|ze mną|ben|biz|benimle|я|мы|мне|меня|мной|нам|нас|أنا|نحن"
    r"|אני|אנחנו)\b|\bj['’]|\bm['’](?=\w)|我|咱|私|僕|俺|わたし|ぼく|저[는를와도]|나[는를와도]|내가|제가"
    r"|우리|मैं|हम|मुझ|ฉัน|ผม|เรา",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:my|our|mein\w*|unser\w*|m[ao]n|mes|mi[oa]?|meu|minha|mijn|мо\w)\b", re.I)
# And where the speaker begins to speak of himself in the middle of a sentence.
_CLAUSE = re.compile(
    r"[,;:–—]\s+|[，、；：،؛]|\s-\s|\s(?:and|but|while|und|aber|während|et|mais|y|pero|e|ma|mas|en|maar|i"
    r"|ale|и|а|но)\s+(?=(?:i|ich|je|yo|io|eu|ik|ja|я)\b|j['’])",
    re.IGNORECASE,
)


def of_another(statement: str, text: str) -> bool:
    """Whether `text` says it of another person, whom `statement` does not name.

    What it says of its speaker, in as many of the same words, counts for the statement.
    """
    if _SOMEBODY.search(statement):
        return False
    words = _words(statement)
    own = others = 0
    for sentence in sentences(text):
        subject: str | None = None
        for clause in _CLAUSE.split(sentence):
            shared = len(words & _words(clause))
            subject = _other(clause, subject)
            if subject is None or _named_in(subject, statement):
                own = max(own, shared)
            else:
                others = max(others, shared)
    return others > own


def _other(clause: str, before: str | None) -> str | None:
    """The name or pronoun, maybe empty, of another person of whom a clause tells; None: of none.

    `before` is that of the clause before it.
    """
    if (found := _OTHER.match(clause)) is not None:
        called = (
            found["name"]
            or found["pronoun"]
            or ((name := _CALLED.match(clause, found.end())) and name[1])
        )
        told = _TURNED_TO.sub(" ", clause[found.end() :])
        return None if _SPEAKER.search(told) else (called or "").strip()
    if (found := _NAMED.match(clause)) is not None and found[1].casefold() not in _NO_NAME:
        rest = found.end()
        return None if _SPEAKER.search(clause, rest) or _OWN.search(clause, rest) else found[1]
    if _SPEAKER.search(clause):
        return None
    return "" if _BEHIND.search(clause) else before


def _named_in(subject: str, statement: str) -> bool:
    return bool(subject) and re.search(rf"\b{re.escape(subject)}", statement, re.I) is not None


def _words(text: str) -> frozenset[str]:
    return frozenset(analyse(text).terms.keys() - stop_lexemes())
