"""Words that say nothing about the subject, in many languages. Data only.

For the gate, which must not take a shared "und" or "que" for evidence. The index and the questions to it know English
stop words alone (`stop_words.py`): there a common word of another language costs nothing, since BM25 weighs it down.
Written by hand: articles, pronouns, prepositions, conjunctions, auxiliaries, question words, particles and the
everyday adverbs. Without accents, as `words.folded` leaves them.
"""

from __future__ import annotations

from hermes_lance.core.stop_words import STOP_WORDS

ENGLISH_TALK = frozenset(
    """
    ok okay hey hi hello thanks thank please yeah yep nope lol haha wow oh ah hmm got get gets getting going gonna
    go went let lets make makes made want wants wanted know knows knew think thought say says said tell told see seen
    look looks like likes need needs able ask asked come came give gave gives take took way really actually maybe
    sure fine good great nice well right lot lots bit kind sort always sometimes today tomorrow yesterday tonight
    again too also back soon later ago ever don doesn didn isn wasn aren couldn wouldn shouldn haven hasn ll ve re im
    ive id someone anybody everybody somebody anyone everyone anything something everything nothing first last
    next
    """.split()  # noqa: SIM905 (read as words)
)
"""English words of everyday talk that are no stop words of the index."""

OTHERS = {
    "de": """
    der die das den dem des ein eine einen einem einer eines kein keine keinen und oder aber denn sondern doch nicht
    nur auch noch schon wieder immer nie mal ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein
    meine meinen meinem meiner dein deine deinen deinem deiner sein seine seinen seinem seiner ihre ihren ihrem ihrer
    unser unsere unseren euer eure sich selbst man wer wen wem was wann wo wohin woher wie warum wieso weshalb welche
    welcher welches welchen ist sind bin bist war waren warst wird werden wurde wurden worden hat haben habe hast
    hatte hatten kann kannst konnen konnte konnten muss musst mussen musste soll sollen sollte will willst wollen
    wollte darf durfen mag mochte wurde ware hatte bitte danke ja nein so sehr viel viele mehr etwas nichts alle alles
    jede jeder jedes jeden hier da dort dann jetzt heute gestern morgen von vom zu zum zur mit in im ins an am auf aus
    bei beim bis durch fur gegen ohne um uber unter vor nach zwischen seit wahrend wegen als wenn ob dass weil damit
    also ganz gar gerade eben eigentlich echt denn mach machen macht gemacht gib geht
    gehen sag sagen sagt
    """,
    "fr": """
    le la les l un une des du de d au aux et ou mais donc or ni car ne pas plus jamais rien tout tous toute toutes je
    j tu il elle on nous vous ils elles me m te t se s lui leur leurs y en moi toi soi eux mon ma mes ton ta tes son
    sa ses notre nos votre vos ce c cet cette ces ca cela ceci qui que qu quoi dont ou quand comment pourquoi combien
    quel quelle quels quelles est es suis sommes etes sont etait etaient etre ete sera ai as a avons avez ont avait
    avoir eu peux peut pouvez peuvent pourrais pourrait dois doit faut veux veut fait fais faire font va vais vas
    allons aller si oui non bien tres trop peu beaucoup aussi encore deja toujours ici la ainsi alors puis apres avant
    avec sans sous sur dans par pour vers chez entre pendant depuis contre comme parce lorsque quelque chose merci
    aujourd hui hier demain maintenant
    """,
    "es": """
    el la los las lo un una unos unas de del al y e o u pero sino ni que no si mas muy mucho mucha muchos muchas poco
    todo toda todos todas nada algo alguien nadie yo tu el ella ello nosotros vosotros ellos ellas usted ustedes me te
    se nos os le les mi mis tu tus su sus nuestro nuestra nuestros este esta estos estas ese esa esos esas aquel eso
    esto quien quienes cual cuales cuando donde como cuanto cuanta cuantos cuantas por para con sin sobre entre hasta
    desde en a ante bajo contra hacia segun durante es son soy eres era eran fue fueron ser sido esta estan estoy
    estas estaba he has ha hemos han habia haber hay puede puedes puedo pueden podria debe debo tengo tienes tiene
    tener quiero quieres quiere hace hacer hago va voy vas ir ya aun tambien tampoco solo siempre nunca ahora hoy ayer
    manana aqui ahi alli asi luego entonces porque aunque mientras otra otro vez bien favor gracias
    """,
    "it": """
    il lo la i gli le l un uno una di del dello della dei degli delle d a al allo alla ai agli alle da dal dalla dai
    in nel nello nella nei nelle con su sul sulla sui per tra fra e ed o ma se che chi cui non piu molto poco tutto
    tutti tutta niente qualcosa io tu lui lei noi voi loro mi ti si ci vi me te mio mia miei tuo tua suo sua nostro
    questo questa questi queste quello quella quando dove come perche quanto quale quali cosa e sono sei siamo era
    stato essere ho hai ha abbiamo hanno avere posso puoi puo devo deve voglio fare fa va anche ancora gia sempre mai
    qui li ora oggi ieri domani cosi allora bene grazie
    """,
    "pt": """
    o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem sobre entre ate e ou mas
    se que quem qual quais quando onde como porque quanto nao mais muito pouco tudo nada algo eu tu ele ela nos eles
    elas voce voces me te lhe meu minha teu tua seu sua nosso este esta isto esse essa isso aquele e sao sou era foi
    ser estar esta estou estava tem tenho ter ha pode posso deve quero faz fazer vai vou ja ainda tambem so sempre
    nunca agora hoje ontem amanha aqui ali assim entao bem obrigado obrigada
    """,
    "nl": """
    de het een en of maar want dat die dit deze niet geen wel ook nog al weer ik jij je u hij zij ze wij we jullie
    hun hen mij me jou ons mijn jouw zijn haar onze wie wat waar wanneer hoe waarom welke is zijn ben bent was waren
    wordt worden heeft hebben heb had kan kun kunnen moet moeten wil willen zal zou mag doen doe gaat gaan van voor
    met in op aan uit bij naar door om over onder tot tussen na als dan toen omdat er hier daar nu vandaag gisteren
    morgen heel veel meer iets niets alles iedereen ja nee dank bedankt
    """,
    "sv": """
    en ett den det de och eller men att som inte jag du han hon vi ni dem mig dig oss min mitt mina din ditt sin var
    vad vem nar hur varfor vilken vilka ar vara blir har hade kan ska skulle vill maste far gor i pa av till fran med
    for om vid under over efter mellan utan har dar nu idag igar imorgon mycket mer nagot inget alla ja nej tack
    """,
    "pl": """
    i a ale lub oraz nie tak to ten ta te tego tej tym jest sa byl byla bylo byc bedzie ja ty on ona ono my wy
    oni mnie
    mi ci cie go jej ich nas wam moj moja moje twoj jego co kto gdzie kiedy jak dlaczego czemu ile ktory ktora
    czy w we
    z ze na do od dla po za przez przy nad pod o u sie juz jeszcze tylko tez bardzo mam masz ma moge mozesz moze chce
    dzis dzisiaj wczoraj jutro teraz tutaj tam dziekuje prosze
    """,
    "tr": """
    bir bu su o ve veya ama fakat ile icin de da ki mi mu ne neden nicin nasil nerede kim kac hangi ben sen biz siz
    onlar bana sana beni seni benim senin var yok degil evet hayir cok daha en gibi kadar sonra once simdi bugun dun
    yarin lutfen tesekkurler
    """,
    "ru": """
    и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня
    еще нет о из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам ведь там
    потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже
    себе под будет ж тогда кто этот того потому этого какой какая какое какие каком совсем ним здесь этом один почти
    мой моя мое мои моего моей твой твоя твое твои тем чтобы нее были куда зачем почему всех никогда можно при
    наконец два об другой хоть после над больше тот через эти нас про всего них много разве эту впрочем хорошо свою
    этой перед иногда лучше чуть том нельзя такой им более всегда конечно всю между это сколько сегодня вчера завтра
    сейчас очень пожалуйста спасибо могу можешь хочу умеешь какого какую который которая которые наш ваш
    """,
    "uk": """
    і й та в у не що він на я з із як а то все вона так його але ти до ви за по тільки її мені від мене ще ні про ми
    їх чи якщо вже або бути був була було для хто де коли чому навіщо який яка яке які скільки цей ця це ці той там
    тут дуже сьогодні вчора завтра зараз будь ласка дякую
    """,
    "el": """
    ο η το οι τα του της των τον την και ή αλλα δεν μη μην να θα που πως τι ποιος ποια ποιο ποτε γιατι ποσο ειναι
    ειμαι εισαι ηταν εχω εχει εχεις για με σε απο στο στη στον στην μου σου μας σας αυτο αυτη αυτος ενα μια ναι οχι
    πολυ τωρα σημερα χθες αυριο ευχαριστω
    """,
    "ar": """
    في من على الى إلى عن مع هذا هذه ذلك تلك التي الذي هو هي انا أنا انت أنت نحن هم ما ماذا متى اين أين كيف لماذا كم
    هل لا نعم لم لن قد كان كانت يكون ان أن إن او أو ثم لكن كل بعض جدا اليوم غدا امس شكرا
    """,
    "hi": """
    है हैं था थी थे का की के को में से पर और या लेकिन यह वह ये वे मैं तुम आप हम मेरा मेरी तुम्हारा आपका क्या कौन
    कब कहाँ क्यों कैसे
    कितना कितने नहीं हाँ भी ही तो एक कर करना करता हो होता बहुत आज कल अब धन्यवाद
    """,
    "ko": """
    이 그 저 것 수 등 및 나 너 우리 저는 나는 제가 내가 당신 무엇 뭐 누구 언제 어디 왜 어떻게 얼마 몇 있다 없다
    이다 아니 네 예 아니요
    오늘 내일 어제 지금 정말 아주 감사합니다
    """,
}
"""Language to its words."""

FOREIGN_WORDS = frozenset(word for words in OTHERS.values() for word in words.split())
"""Those of all other languages."""
FUNCTION_WORDS = STOP_WORDS | ENGLISH_TALK | FOREIGN_WORDS
"""All of them together: messages are too short for a language to be told from."""

FUNCTION_PAIRS = frozenset(
    """
    什么 怎么 么样 怎样 为什 是什 哪里 哪儿 哪个 哪些 哪一 多少 几个 是谁 谁是 我们 你们 他们 她们 它们 这个
    那个 这些 那些 这里 那里
    一个 一下 一些 可以 能不 不能 是不 不是 有没 没有 是否 如何 我的 你的 他的 她的 的是 是我 是你 我是 你是
    我想 我要 想要 你能 我能
    能否 请问 请你 请帮 帮我 给我 告诉 诉我 今天 明天 昨天 现在 已经 还是 还有 但是 因为 所以 如果 就是 都是
    也是 又是 非常 真的 这样
    那样 的时 时候 了吗 是吗 多高 多远 多大 等于 于多 在哪 有哪 有什 何时 为何 谢谢 你好 知道 觉得 一首 一个
    终于 刚刚 最近
    何が 何の 何を 何で 誰が 私の 私は 今日 明日 昨日 何時
    """.split()  # noqa: SIM905 (read as words)
)
"""Pairs of characters that a Chinese or Japanese question is held together by."""

FUNCTION_CHARACTERS = frozenset("的了吗呢吧是我你他她它在有不很都也就还和与么哪啊呀哦嗯几这那个们给让把被从到请问")
"""Characters that bind Chinese words; a pair with one of them is part of no name."""
