"""Words that derived sentences bring along without adding anything: whom they are about, and verbs
that only carry what was said."""

import re

from agents_memory.domain.values import words

# Whom a line is about, and words that turn a request into a report of it.
COMMON = words(
    """user users owner they he she his her their person nutzer nutzers nutzerin benutzer er sie
    utilisateur utilisatrice il elle usuario usuaria él ella utente lui lei usuário usuária
    gebruiker hij zij użytkownik kullanıcı пользователь пользователя он она они
    사용자 사용자는 그는 그녀는 현재 المستخدم هو هي الفريق המשתמש הוא היא उपयोगकर्ता वह है हैं हूँ था थी
    wants want likes prefers asked asks promised plans decided i i'm i'll i've i'd it's
    wünscht möchte will versprochen plant"""
)
# The same in scripts without spaces, and verbs there; longer ones first.
_RUNS = """
用户 使用者 承诺 职业 目前 现在 表示 希望 需要 已经 正在 打算 计划 决定 居住 使用 喜欢 讨厌
偏好 认为 提到 要求 工作 在住 担当 職業 利用 使用 希望 約束 予定 利用者 成功 失败 失敗 保留
放弃 取消 启用 禁用 的 是 在 了 和 与 把 被 对 从 有 没 不 也 都 就 会 要 想 做 用 将 已 为 其
该 个 他 她 它 们 后 前 并
"""
COMMON_RUNS = re.compile("|".join(sorted(_RUNS.split(), key=len, reverse=True)))
# Verbs that often take each other's place; another noun there makes another statement.
CARRYING = words(
    """use uses used using have has had got get gets became become becomes turned made make makes
    went go goes went going moved move moves migrated changed change changes switched took take
    takes put puts set sets gave give gives came come comes ran run runs stored kept lives live
    resides works work stays found find built build created create added wrote write fixed
    repaired solved finished completed done did does need needs said told explained discussed
    talked held showed shows caused causes led sent send sends ships shipped deployed rolled
    one ones thing things version versions also still again already now currently new old big
    large small good bad great very really
    wurde wurden wird hat haben ist sind nutzt benutzt verwendet verwenden benutzen nutzen geht
    liegt läuft macht machen gemacht fertig endlich jetzt auch noch schon wieder"""
)
# Before one of these the first word of a sentence is its subject.
SUBJECT_VERBS = words(
    """is are was were will has have had does did can must should may isn't aren't wasn't won't
    ist sind war waren wird werden hat haben muss soll kann est sont sera ont es son está están
    fue era è sono era será são foi jest są był była будет был была были есть wordt is zijn heeft"""
)
# Values that take each other's place and have no capital in these languages.
VALUES = words(
    """lundi mardi mercredi jeudi vendredi samedi dimanche janvier février avril juin juillet août
    septembre octobre novembre décembre lunes martes miércoles jueves viernes sábado domingo enero
    febrero abril mayo junio julio agosto septiembre octubre noviembre diciembre lunedì martedì
    mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio
    settembre ottobre dicembre segunda-feira terça-feira quarta-feira quinta-feira sexta-feira
    janeiro fevereiro março junho julho setembro outubro dezembro maandag dinsdag woensdag
    donderdag vrijdag zaterdag zondag poniedziałek wtorek środa czwartek piątek sobota niedziela
    понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье января
    февраля марта апреля мая июня июля августа сентября октября ноября декабря
    rouge bleu vert jaune noir blanc rojo azul verde amarillo negro blanco rosso giallo nero bianco
    красный синий зелёный жёлтый чёрный белый"""
)
