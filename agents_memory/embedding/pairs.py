"""Ten meanings in four languages, each said in two ways that share few words.

A model is calibrated with them: the two of a pair should look alike, all others of a language not.
"""

Pair = tuple[str, str]

PAIRS: dict[str, tuple[Pair, ...]] = {
    "en": (
        ("We postponed the release until after the holidays.", "The launch will happen later."),
        ("My daughter is learning to play the cello.", "The girl takes string lessons."),
        ("The cache ate all the disk space on the build machine.", "Storage for CI ran full."),
        ("I can't stand coriander in my food.", "One herb spoils every meal for the user."),
        ("Deploys need two people to say yes.", "Nobody may ship to production alone."),
        ("Our flight to Lisbon leaves at dawn on Friday.", "They travel to Portugal very early."),
        ("The login page is broken on old phones.", "Dated mobiles fail to sign in."),
        ("Grandfather moved into a nursing home last week.", "An old relative now lives in care."),
        ("Please answer me in short sentences.", "The user prefers terse replies."),
        ("I finished the marathon in under four hours.", "A long race was run quite fast."),
    ),
    "de": (
        ("Wir haben die Veröffentlichung auf nach den Feiertagen verschoben.",
         "Der Start findet später statt."),
        ("Meine Tochter lernt Cello spielen.", "Das Mädchen nimmt Unterricht am Instrument."),
        ("Der Cache hat den ganzen Plattenplatz der Baumaschine gefressen.",
         "Der Speicher für CI lief voll."),
        ("Koriander im Essen kann ich nicht ausstehen.", "Ein Kraut verdirbt jede Mahlzeit."),
        ("Für ein Deployment müssen zwei Leute zustimmen.", "Niemand liefert allein aus."),
        ("Unser Flug nach Lissabon geht am Freitag im Morgengrauen.",
         "Sie reisen sehr früh nach Portugal."),
        ("Die Anmeldeseite ist auf alten Handys kaputt.", "Betagte Telefone kommen nicht hinein."),
        ("Großvater ist letzte Woche ins Pflegeheim gezogen.",
         "Ein alter Verwandter wird nun betreut."),
        ("Antworte mir bitte in kurzen Sätzen.", "Der Nutzer mag es knapp."),
        ("Ich habe den Marathon in weniger als vier Stunden geschafft.",
         "Ein langer Lauf gelang recht schnell."),
    ),
    "ko": (
        ("연휴가 지난 뒤로 출시를 미뤘어요.", "공개 일정이 늦춰졌다."),
        ("딸이 첼로를 배우고 있어요.", "여자아이가 현악기 수업을 받는다."),
        ("캐시가 빌드 서버의 디스크를 다 차지했어요.", "CI 저장 공간이 가득 찼다."),
        ("저는 음식에 고수가 들어가면 못 먹어요.", "특정 향채가 식사를 망친다."),
        ("배포하려면 두 사람이 승인해야 해요.", "혼자서는 운영에 올릴 수 없다."),
        ("리스본행 비행기가 금요일 새벽에 떠나요.", "그들은 아주 일찍 포르투갈로 여행한다."),
        ("오래된 휴대폰에서 로그인 화면이 깨져요.", "구형 기기로는 접속이 안 된다."),
        ("할아버지가 지난주에 요양원에 들어가셨어요.", "나이 든 친척이 시설에서 지낸다."),
        ("짧은 문장으로 대답해 주세요.", "사용자는 간결한 답을 좋아한다."),
        ("마라톤을 네 시간 안에 완주했어요.", "긴 달리기를 꽤 빨리 마쳤다."),
    ),
    "zh": (
        ("我们把发布推迟到假期之后了。", "上线时间延后。"),
        ("我女儿在学拉大提琴。", "那个女孩在上弦乐课。"),
        ("缓存占满了构建机的硬盘。", "持续集成的存储空间用完了。"),
        ("我受不了菜里放香菜。", "有一种香草会毁掉用户的每顿饭。"),
        ("部署要两个人同意才行。", "谁都不能独自发布到生产环境。"),
        ("我们去里斯本的航班星期五凌晨起飞。", "他们一大早前往葡萄牙。"),
        ("旧手机上的登录页面坏了。", "老款移动设备无法登入。"),
        ("爷爷上周住进了养老院。", "一位年迈的亲人现在由机构照料。"),
        ("请用短句回答我。", "用户喜欢简洁的回复。"),
        ("我不到四个小时就跑完了马拉松。", "一场长跑完成得相当快。"),
    ),
}  # fmt: skip
