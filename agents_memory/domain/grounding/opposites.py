"""Words that turn a statement into its opposite: pairs of sides, each with words of its like."""

import re
from functools import cache

from agents_memory.domain.grounding.keys import hangul_stem, key

# Verbs in the forms in which they are said and reported, nouns only where they stand for the verb.
_PAIRS = """
keep keeps kept retain stay stays stayed behalten bleibt bleiben garder garde gardons reste
mantener mantiene tenere mantém manter zachować оставить остаётся | drop drops dropped remove
removed removes delete deleted discard abandon scrap goes streichen gestrichen entfernt
entfernen löschen gelöscht verwerfen supprimer supprimé abandonner abandonné eliminar eliminado
rimuovere rimosso remover removido usunąć удалить удалён убрать отказ отказались

enable enables enabled activate activated aktiviert aktivieren eingeschaltet activer activé
activar activado habilitar habilitado attivare attivato włączyć włączony включить включите
включён включен etkin | disable disables disabled deactivate deactivated deaktiviert
deaktivieren ausgeschaltet désactiver désactivé desactivar desactivado deshabilitar disattivare
disattivato desativar desativado wyłączyć wyłączony выключить выключен отключить отключён

add adds added hinzufügen hinzugefügt ajouter ajouté añadir agregar aggiungere adicionar dodać
добавить добавлен | remove removed removes delete deleted entfernt entfernen gelöscht supprimer
supprimé eliminar rimuovere remover usunąć удалить удалён

start starts started begin begins began starten gestartet commencer démarrer empezar iniciar
iniziare начать запустить | stop stops stopped end ended beenden gestoppt arrêter arrêté detener
parar fermare закончить остановить

open opens opened geöffnet offen ouvert abierto aperto aberto открыт открыть | close closed
closes shut geschlossen fermé cerrado chiuso fechado закрыт закрыть

like likes liked love loves loved enjoy enjoys mag mögen liebt aime aimer adore gusta encanta
piace gosta lubi нравится любит люблю любить houdt | hate hates hated dislike dislikes hasst
hassen déteste détester odia odio odiar detesta nienawidzi ненавидит ненавижу haat

accept accepts accepted approve approved agreed angenommen annehmen akzeptiert genehmigt
accepter accepté aceptar aceptó aceptado accettare accettato aceitar aceitou przyjąć принять
принял приняла geaccepteerd | reject rejects rejected refuse refused decline declined abgelehnt
ablehnen refuser refusé rechazar rechazó rechazado rifiutare rifiutato recusar recusou odrzucić
отклонить отклонил отклонила отказал geweigerd afgewezen

allow allows allowed permit permitted erlaubt erlauben autorisé permis permitido permesso
разрешено | forbid forbids forbidden deny denied ban banned prohibited verboten untersagt
interdit prohibido vietato proibido запрещено

succeed succeeds succeeded success successful pass passes passed gelungen erfolgreich réussi
réussir succès éxito exitosa riuscito sucesso успешно удалось gelukt | fail fails failed failing
failure broken broke gescheitert fehlgeschlagen misslungen échoué échouer échec falló fracasó
fallito falhou провалилась неудачно ошибкой mislukt

increase increases increased raise raised grow grew more faster erhöht erhöhen steigt schneller
augmenter augmenté aumentar увеличить | decrease decreased reduce reduced lower lowered shrink
less fewer slower gesenkt senken sinkt langsamer réduire réduit reducir уменьшить снизить

before vor bevor avant antes prima przed voor до перед | after nach nachdem après después dopo
depois после

public öffentlich público pubblico публичный | private privat privé privado privato приватный

stable stabil estable stabile | unstable instabil instable inestable instabile

safe sicher seguro | unsafe unsicher inseguro

possible möglich posible possibile possível возможно | impossible unmöglich imposible
impossibile impossível невозможно

win wins won gewonnen gewinnt gagné ganó vinto выиграл | lose loses lost verloren verliert perdu
perdió perso проиграл

buy buys bought gekauft kaufen acheté compró comprado comprato купил | sell sells sold verkauft
verkaufen vendu vendió vendido venduto продал

cheaper cheap günstiger billiger | expensive costlier teurer teuer

upgrade upgraded | downgrade downgraded

morning morgens vormittags | evening abends

first zuerst erste | last zuletzt letzte

install installed installiert | uninstall uninstalled deinstalliert

left links | right rechts

encrypted verschlüsselt chiffré cifrado | unencrypted unverschlüsselt plaintext

online | offline

synchronous synchron | asynchronous asynchron

required mandatory pflicht obligatoire obligatorio | optional facultatif opcional

喜欢 喜爱 爱 | 讨厌 厌恶

成功 | 失败 失敗

保留 保持 | 放弃 删除 取消 移除

启用 开启 打开 | 禁用 关闭 停用

接受 同意 批准 | 拒绝 反对 驳回

增加 提高 | 减少 降低

允许 | 禁止

开始 | 停止 结束

安全 | 危险

有効 | 無効

好き | 嫌い

残す | 削除 廃止

許可 | 禁止

開始 | 停止 終了

承認 受け入れ | 却下 拒否

成功 통과 성공 | 실패

활성화 켜 | 비활성화 꺼

유지 | 삭제 제거 폐기

좋아 | 싫어

허용 | 금지

승인 수락 | 거절 거부

시작 | 중지 종료

نجح نجحت نجاح | فشل فشلت

قبل وافق وافقت | رفض رفضت

فعل تفعيل | عطل تعطيل

يحب أحب نحب | يكره أكره نكره

أبقى إبقاء نبقي | حذف حذفنا إزالة إلغاء ألغينا

זכה הצליח הצליחה | נכשל נכשלה

אוהב אוהבת | שונא שונאת

पसंद | नापसंद नफरत

सफल | विफल असफल

ชอบ | เกลียด

สำเร็จ | ล้มเหลว
"""
_EAST = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0eff]")

Side = tuple[int, bool]


def sides(word: str) -> frozenset[Side]:
    """The sides that a word stands on, by its key: number of the pair, and whether the first."""
    return _tables()[0].get(word, frozenset())


def sides_of_run(text: str) -> dict[Side, int]:
    """The same of a text in a script without spaces or with many endings; with their places."""
    longest: dict[int, tuple[str, bool]] = {}
    for word, (pair, first) in _tables()[1]:
        # 비활성화 holds 활성화.
        if word in text and len(word) > len(longest.get(pair, ("",))[0]):
            longest[pair] = (word, first)
    return {(pair, first): text.find(word) for pair, (word, first) in longest.items()}


@cache
def _tables() -> tuple[dict[str, frozenset[Side]], tuple[tuple[str, Side], ...]]:
    spaced: dict[str, frozenset[Side]] = {}
    runs: list[tuple[str, Side]] = []
    for pair, words in enumerate(_PAIRS.strip().split("\n\n")):
        for number, side in enumerate(words.split("|")):
            for word in side.split():
                at = (pair, number == 0)
                if _EAST.search(word):
                    runs.append((hangul_stem(word), at))
                else:
                    found = key(word)
                    spaced[found] = spaced.get(found, frozenset()) | {at}
    return spaced, tuple(runs)
