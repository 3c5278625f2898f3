"""The words that the gate knows by itself: mere talk, forms of questions and requests, and names of the user's files.

Data only, in many languages; the configuration adds to it. Everything in lower case and as `words.folded` leaves it
(letters of the Latin alphabet without accents). Written by hand.
"""

from __future__ import annotations

TALK = """
again|now|too|there|hi|hello|hey|hey there|hi there|hello there|hiya|yo|good morning|good afternoon|good evening
good night
morning|evening|greetings|welcome back|nice to meet you|how are you|how are you doing|how are you today
how is it going
how s it going|how are things|what s up|wassup|bye|bye bye|goodbye|good bye|see you|see you later|see you soon
bye for now
see you tomorrow|talk to you later|talk to you soon|take care|have a nice day|have a good day
have a great day|have a nice weekend|have a good weekend|have a good one|sleep well|cheers|thanks|thank you
thanks a lot|thank you so much|thank you very much|many thanks|thanks again|much appreciated|thx|ty|tysm
no thank you|ok|okay|okey|k|kk|sure|sure thing|fine|alright|all right|right|exactly|indeed|correct
absolutely|definitely|of course|yes|yep|yeah|yup|no|nope|nah|that s fine|that s right|sounds good
looks good|good|great|perfect|awesome|nice|cool|excellent|amazing|wonderful|lovely|well done|good job|great job
got it
i see|i understand|understood|makes sense|that makes sense|interesting
hm|hmm|mhm|uh|um|ah|oh|aha|wow|oops|haha|hahaha|lol|never mind|nevermind|no worries|no problem|you re welcome
you are welcome
please|sorry|my bad|excuse me|go ahead|go on|continue|please continue|carry on|wait|one moment|one second
just a moment|that s all|that is all|that s all for now|that s it
hallo|hallo zusammen|guten morgen|guten tag|guten abend|gute nacht|moin|moin moin|servus|gruss gott|na
wie geht s|wie geht s dir|wie geht es dir|wie geht es ihnen|wie gehts|was geht|tschuss|tschau|ciao|auf wiedersehen
bis bald|bis morgen|bis spater|bis dann|mach s gut|schonen tag|schonen tag noch|schones wochenende
schonen feierabend
feierabend|schlaf gut|danke|danke schon|dankeschon|danke sehr|vielen dank|besten dank|besten dank im voraus
herzlichen dank|nein danke|ja|gern|gerne|jawohl|jep|nein|ne|nee
passt|passt schon|alles klar|klar|mach nur|na klar|naturlich|genau|richtig|stimmt|verstanden|verstehe
ich verstehe|interessant|gut|sehr gut|super|prima|toll|perfekt
klasse|spitze|wunderbar|egal|vergiss es|schon gut|macht nichts|kein problem|keine ursache|bitte|bitte schon
bitte sehr
entschuldigung|tut mir leid|weiter|mach weiter|moment|moment bitte|das war s|das ist alles|ach so|achso|oh je
bonjour|bonsoir|bonne nuit|salut|coucou|allo|re|ca va|comment ca va|comment vas tu
comment allez vous|quoi de neuf|enchante|au revoir|a bientot|a demain|a plus|a plus tard|a tout a l heure
a la prochaine
bonne journee|bonne soiree|bon week end|bon weekend|adieu|merci|merci beaucoup|merci bien|mille mercis
merci a vous|oui|ouais|non
si|d accord|dac|ca marche|entendu|compris|j ai compris|je comprends|je vois
exact|exactement|tout a fait|bien sur|evidemment|parfait|genial|tres bien|bien|bravo|ah bon
vas y|allez y|continuez|laisse tomber|tant pis|pas grave|ce n est pas grave|de rien
je t en prie|je vous en prie|pas de probleme|pardon|desole|desolee|excuse moi|excusez moi|attends|un instant
un moment
c est tout|c est bon|s il te plait|s il vous plait|mdr|ptdr
hola|hola a todos|buenas|buenos dias|buenas tardes|buenas noches|que tal|como estas
como esta usted|como va|que pasa|mucho gusto|encantado|encantada|adios|chao|chau|hasta luego|hasta manana
hasta pronto
hasta la vista|nos vemos|buen fin de semana|que tengas un buen dia|buen dia|cuidate
gracias|muchas gracias|mil gracias|muchisimas gracias
claro|claro que si|esta bien|por supuesto|vale|de acuerdo|bueno|muy bien|perfecto
estupendo|excelente|fantastico|que bien|que bueno|exacto|exactamente|correcto|cierto|asi es|entendido|entiendo
ya veo
ya entiendo|que interesante|interesante|adelante|sigue|continua|da igual|olvidalo
no importa|no pasa nada|de nada|no hay de que|por favor|perdon|lo siento|disculpa|espera|un momento
eso es todo|ya esta|jaja|jajaja
salve|buongiorno|buonasera|buonanotte|come stai|come va|arrivederci|a presto|a domani|a dopo|grazie|grazie mille
molte grazie|no grazie|certo|va bene|d accordo|perfetto|ottimo|bene|capito|ho capito|esatto|interessante|prego
per favore|scusa|mi dispiace|non importa|non fa niente|niente
ola|oi|bom dia|boa tarde|boa noite|tudo bem|como vai|tchau|ate logo|ate amanha|obrigado|obrigada|muito obrigado
muito obrigada
nao obrigado|sim|nao|entendi|perfeito|otimo|legal|desculpa|deixa pra la
hoi|goedemorgen|goedemiddag|goedenavond|hoe gaat het|doei|dag|tot ziens|tot morgen|bedankt|dank je|dank je wel
dank u
nee bedankt|goed|begrepen|precies|laat maar|graag gedaan|alsjeblieft
hej|hejsan|god morgon|god natt|hur mar du|hej da|vi ses|tack|tack sa mycket|nej tack|nej|okej|bra|jag forstar|precis
czesc|dzien dobry|dobry wieczor|dobranoc|jak sie masz|do widzenia|pa|do jutra|dziekuje|dzieki|dziekuje bardzo|tak
nie|dobrze
rozumiem|jasne|swietnie|prosze|przepraszam|niewazne
merhaba|selam|gunaydin|iyi geceler|nasilsin|gorusuruz|hosca kal|tesekkurler|tesekkur ederim|sagol|evet|hayir|tamam
anladim
harika|guzel|lutfen|ozur dilerim|bos ver
привет|приветик|здравствуй|здравствуйте|доброе утро|добрый день|добрый вечер
спокойной ночи|как дела|как ты|как поживаешь|что нового|пока|до свидания|до завтра|до встречи|увидимся
хороших выходных|хорошего дня|удачи|спасибо|большое спасибо|спасибо большое|благодарю|спс|да
нет|не надо|ага|угу|хорошо|ладно|окей|ок|понятно|понял|поняла|теперь понятно|ясно|точно
верно|правильно|конечно|давай|интересно|отлично|супер|прекрасно|замечательно|класс|круто|здорово
неважно|забудь|ничего|ничего страшного|не за что|пожалуйста|извини|извините|прости|продолжай|дальше|подожди
минутку|хватит|все|вот как|хаха
привіт|доброго ранку|добрий день|добрий вечір|на добраніч|як справи|бувай|до побачення|дякую|щиро дякую|так|ні|добре
зрозуміло
γεια|γεια σου|καλημερα|καλησπερα|καληνυχτα|τι κανεις|αντιο|ευχαριστω|ναι|οχι|ενταξει|καταλαβα
مرحبا|السلام عليكم|صباح الخير|مساء الخير|كيف حالك|مع السلامه|شكرا|شكرا جزيلا|نعم|لا|حسنا|تمام|فهمت|عفوا
नमस्ते|सुप्रभात|शुभ रात्रि|आप कैसे हैं|अलविदा|धन्यवाद|शुक्रिया|हाँ|नहीं|ठीक है|समझ गया
안녕|안녕하세요|좋은 아침|잘 자|잘 지내|안녕히 계세요|감사합니다|고마워|고맙습니다|네|예|아니요|아니|알겠습니다
알겠어|좋아|좋아요|괜찮아
你好|您好|嗨|哈喽|大家好|早|早上好|早安|中午好|下午好|晚上好|晚安|你好吗|再见|拜拜|回头见|明天见|周末愉快
谢谢|谢谢你|谢谢您|多谢|非常感谢|太感谢了|不用谢|不客气|好|好的|好吧|好呀|行|行吧|可以|请继续|继续|没问题
没关系|没事|不用|不用了|不要|不是|是|是的|对|对的|没错|嗯|嗯嗯|哦|哦哦|啊|哈哈|哈哈哈|明白|明白了|懂了|知道了
了解|原来如此|原来是这样
有意思|真有趣|太好了|太棒了|真棒|不错|很好|算了|随便|请|抱歉|对不起|等一下|稍等
こんにちは|こんばんは|おはよう|おはようございます|おやすみ|おやすみなさい|元気|お元気ですか|さようなら|またね
じゃあね|ありがとう|ありがとうございます
どうも|はい|うん|いいえ|いや|わかった|わかりました|なるほど|了解です|大丈夫|いいね|すごい|すみません|ごめん
ごめんなさい|続けて|お願いします
สวัสดี|สวัสดีครับ|สวัสดีค่ะ|ขอบคุณ|ขอบคุณครับ|ขอบคุณค่ะ|ใช่|ไม่|โอเค|ครับ|ค่ะ
"""
"""What is said between two signs of punctuation in a message that needs no files."""

THANKS_BESIDE = frozenset(
    """
    you so very much a lot again for your the help that this was really helpful useful perfect great awesome
    super nice
    cool ok okay yes please hi hello there bye lol mate dear all everyone everybody no cheers
    dir euch ihnen vielen besten herzlichen lieben sehr das hat war mir uns hilfreich geholfen fur die hilfe
    toll prima
    im voraus schon ja nein liebe gruss
    beaucoup bien a toi vous c est etait tres utile pour l aide ton votre parfait genial mille fois d avance oui
    non gentil
    muchas mil por tu su la ayuda todo me ha servido mucho muy util perfecto de antemano si
    molte mille per l aiuto molto muito pela ajuda dank voor hulp heel erg
    большое огромное тебе вам за помощь это очень помогло супер всем заранее
    """.split()  # noqa: SIM905 (read as words)
)
"""Words that stand beside one of thanks in a message that says nothing else."""
THANKS = frozenset(
    """
    thanks thank danke dank merci gracias спасибо grazie obrigado obrigada bedankt tack dziekuje
    """.split()  # noqa: SIM905 (read as words)
)
THANKS_INSIDE = ("谢谢", "感谢", "多谢", "ありがとう")
"""The same in scripts without spaces; for messages without a question."""

OPERATIONS = frozenset(
    """
    times plus minus divided multiplied percent mal durch geteilt hoch prozent fois divise moins cent por entre
    dividido
    mas menos ciento умножить разделить делить плюс минус процент процентов процента per diviso piu meno vezes
    keer gedeeld
    razy carpi bolu
    """.split()  # noqa: SIM905 (read as words)
)
"""Words for what is done with two numbers."""
SUM_WORDS = OPERATIONS | frozenset(
    """
    what is s are how much many does equal equals by of and the calculate compute result was ist sind wie viel
    wieviel ergibt
    macht von rechne combien font fait ca par pour de calcule cuanto es son el la x сколько будет на от quanto
    fa hoeveel ile
    kac eder
    """.split()  # noqa: SIM905 (read as words)
)
"""All that may stand between the numbers of a sum."""
NUMERALS = frozenset("一二三四五六七八九十")
"""Numbers that are written out in Chinese."""
SUM_CHARACTERS = NUMERALS | frozenset("加减乘除以于等的百分之多少是几和")
"""The same in Chinese, for messages that hold a number in digits."""

QUESTION_WORDS = frozenset(
    """
    what which who whom whose where when why how whats wheres hows
    wo wer wen wem wann warum wieso weshalb wie welche welcher welches welchem welchen woher wohin
    qui quoi quel quelle quels quelles quand comment pourquoi combien
    quien quienes cual cuales cuando donde cuanto cuantos cuanta cuantas
    chi quale quali quando perche quanto quem qual quais onde porque
    wat waar waarom hoe welke vad vem varfor hur vilken vilka kto gdzie kiedy dlaczego ktory ktora czy
    nerede zaman neden nasil hangi kac
    что кто где когда почему зачем как какой какая какое какие сколько куда откуда чей ли
    що хто де коли чому як який яка скільки чи
    τι ποιος ποια ποιο ποτε γιατι πως ποσο ما ماذا من متى اين أين كيف لماذا كم هل
    क्या कौन कब कहाँ क्यों कैसे कितना कितने 뭐 무엇 누구 언제 어디 왜 어떻게 얼마 몇 어느
    """.split()  # noqa: SIM905 (read as words)
)
"""Words that ask, wherever they stand. Those that another of the languages uses for something else are left out."""
REQUEST_WORDS = frozenset(
    """
    is are can could do does did will would should has have show find search list explain describe summarize summarise
    tell give look check compare open read remind
    was kann kannst konnen hast gibt ist sind zeig zeige such suche finde erklar erklare beschreibe fasse nenne
    vergleiche
    que est peux peut montre trouve cherche explique decris resume liste donne ou
    como puedes puede hay muestra muestrame busca encuentra explica describe lista compara dame
    cosa dove come puoi mostra trova cerca spiega descrivi riassumi pode mostre encontre procure explique
    descreva resuma
    kun kan laat zoek vind leg visa hitta sok forklara pokaz znajdz wyjasnij co ile jak ne kim goster bul acikla
    можешь можно покажи найди объясни опиши расскажи перечисли сравни покажіть знайди поясни δειξε βρες
    """.split()  # noqa: SIM905 (read as words)
)
"""Words that a question or a request begins with; inside a sentence they are anything."""
POLITE_WORDS = frozenset(
    """
    please bitte y et e und and so also well пожалуйста а и s il te plait vous ok okay
    """.split()  # noqa: SIM905 (read as words)
)
"""What may stand before them."""
QUESTION_PARTS = (
    "什么", "怎么", "怎样", "为什", "哪", "谁", "多少", "几", "何时", "如何", "是否", "吗", "呢", "请", "能否",
    "何", "誰", "どこ", "いつ",
    "なぜ", "どう", "どの", "どれ", "いくつ", "ですか", "ますか", "教えて", "อะไร", "ที่ไหน", "เมื่อไร", "ทำไม",
    "อย่างไร", "ใคร", "ไหม",
)  # fmt: skip
"""The same in scripts without spaces, where they stand anywhere."""

OPEN_WORDS = """
workspace|knowledge base|knowledgebase|my files|our files|the files|my docs|our docs|the docs|my documents
our documents
the documents|my notes|our notes|the notes|my folder|documentation|readme|runbook|runbooks|wiki|handbook
my documentation
meine dateien|unsere dateien|den dateien|die dateien|meine dokumente|unsere dokumente|den dokumenten|die unterlagen
meine unterlagen|den unterlagen|meine notizen|meinen notizen|den notizen|unsere notizen|dokumentation|handbuch
arbeitsbereich
mes fichiers|nos fichiers|les fichiers|mes documents|nos documents|les documents|mes notes|nos notes|la documentation
mis archivos|nuestros archivos|los archivos|mis documentos|nuestros documentos|los documentos|mis notas|mis apuntes
la documentacion|i miei file|i miei documenti|i miei appunti|documentazione|meus arquivos|meus documentos|minhas notas
documentacao|mijn bestanden|mijn documenten|mijn notities|documentatie|moje pliki|moje dokumenty|moje notatki
dokumentacja
мои файлы|моих файлах|наших файлах|в файлах|мои документы|моих документах|наших документах|в документах|мои заметки
моих заметках|в заметках|документация|документации
文档|文件|笔记|资料|知识库|工作区|ドキュメント|資料|メモ|ファイル|문서|노트|파일
"""
"""What the user's files are called. A message that names them is always looked up."""


def phrases(text: str) -> frozenset[str]:
    """The phrases of one of these texts."""
    return frozenset(phrase.strip() for line in text.splitlines() for phrase in line.split("|") if phrase.strip())
