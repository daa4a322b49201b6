"""Words of a query that are not searched: function words of many languages, and common phrasing of questions.

Function words are also used to detect a note's language. The phrasing of questions is separate from them: a change of
it affects only queries, not the index.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache

from engine.text.folding import fold

# As the analyser writes them: "don't" is `dont`, "l'eau" is `eau`, "we'll" is `we`.
FUNCTION_WORD_LISTS = {
    "english": """
        a about after again all also am an and any are arent as at be because been before being between both but
        by can cant could did didnt do does doesnt doing dont down during each few for from further had has have
        having he her here hers him his how i if in into is isnt it its just let me more most my no nor not of
        off on once only or other our out over own please same she should so some such than that the their them
        then there these they this those through to too under until up us very was wasnt we were what when where
        which while who whom why will with wont would you your""",
    "german": """
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist
        da damit dann das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses
        dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen hab habe haben
        hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren im in ins ist ja jede jedem
        jeden jeder jedes jetzt kann kein keine können könnte man mein meine meinem meinen meiner mich mir mit
        muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen sich sie sind so soll
        sollte sondern sonst über um und uns unser unsere unter viel vom von vor war waren warum was weil weiter
        welche welcher wenn wer werde werden wie wieder will wir wird wo wurde wurden zu zum zur zwar zwischen""",
    "french": """
        ai ainsi alors au aucun aussi autre aux avait avec avez avoir avons car ce ceci cela ces cet cette ceux
        chez comme comment dans de depuis des donc dont du elle elles en encore entre est et étaient était été
        être eu eux fait faut il ils je jusque la le les leur leurs lui ma mais me même mes moi mon ne ni nos
        notre nous on ont ou où par parce pas pendant peut plus pour pourquoi qu quand que quel quelle quelles
        quels qui quoi sa sans se ses si son sont sous suis sur ta te tes toi ton tous tout toute toutes très tu
        un une vers vos votre vous y""",
    "spanish": """
        a al algo algunos ante antes aquel aquí así aún bajo bien cada como cómo con contra cual cuál cuando
        cuándo de del desde donde dónde durante e el él ella ellas ellos en entre era eran es esa ese eso esos
        esta está están estar estas este esto estos fue fueron ha hace hacer han hasta hay la las le les lo los
        más me mi mientras mis mucho muy nada ni no nos nosotros nuestra nuestro o otra otro otros para pero
        poco por porque qué que quien quién se sea según ser si sí sido sin sobre son su sus también tan tanto
        te tener tiene tienen todo todos tu tus un una unas uno unos usted y ya yo""",
    "italian": """
        a abbiamo ad agli ai al alla alle allo anche ancora avere aveva c che chi ci come con contro cosa così
        cui da dagli dai dal dalla dalle degli dei del della delle dello dentro di dopo dove e è ed era erano
        essere fa fino fra gli ha hai hanno ho i il in io la le lei li lo loro lui ma me mi mia mio miei molto
        ne negli nei nel nella nelle nello no noi non nostro o ogni ora perché per più poi prima può qual quale
        quali quando quanto quello questa queste questi questo qui se sei si sia siamo sono sopra sta stata
        stato su sua sugli sui sul sulla sulle sullo suo suoi te ti tra tu tua tuo tutti tutto un una uno vi voi""",
    "portuguese": """
        a à ainda alguns ao aos aquele as às até cada com como da das de dela dele deles depois do dos e é ela
        elas ele eles em entre era eram essa esse esta está estão estas este estes eu foi foram há isso isto já
        la lhe mais mas me mesmo meu meus minha muito na não nas nem no nos nós nossa nosso num numa o onde os
        ou para pela pelas pelo pelos por porque qual quais quando que quem são se sem ser seu seus só sobre sua
        suas também te tem têm ter teu todos tu tudo um uma umas uns você vocês""",
    "dutch": """
        aan al alle als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge
        geen haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je jij jouw kan kon
        kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over reeds te
        toch toen tot u uit uw van veel voor waar waarom waren was wat we wel welke werd wezen wie wij wil
        worden wordt zal ze zei zelf zich zij zijn zo zonder zou""",
    "swedish": """
        alla allt att av bara blev bli blir de dem den denna deras dess dessa det detta dig din där då efter ej
        eller en er ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag
        ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på
        samma sedan sig sin sina sitta ska skulle som så till under upp ut utan vad var vara varför varje vart
        vem vi vid vilka vilken är än över""",
    "danish": """
        ad af alle alt at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter
        eller en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvis hvor hvorfor i
        ikke ind ingen jeg jer kan kunne man mange med meget men mig min mine mod ned noget nogle nu når og også
        om op os over på selv sig sin sine skal skulle som sådan thi til ud under var ved vi vil ville vor være
        været""",
    "norwegian": """
        alle at av bare begge ble bli blir da de deg dem den denne der dere deres det dette di din disse du
        eller en er et etter for fordi fra før ha hadde han hans har henne hennes her hun hva hvem hver hvilken
        hvis hvor hvordan hvorfor i ikke ingen inn ja jeg kan kom kun kunne man mange med meg meget mellom men
        mer min mitt mot mye ned noe noen nå når og også om opp oss over på samme seg selv si sin siden skal
        skulle slik som så til um under ut uten var ved vi vil ville være vært å""",
    "finnish": """
        ei eivät emme en että he heidän hän hänen ja jo joka jos jota joten jotka kaikki kanssa koska kuin
        kuinka kun me mihin mikä miksi minkä minun minä missä mitä mutta mukaan myös ne niiden niin nyt nämä ole
        olen olet oli olisi olivat olla on ovat se sen siellä sinä sitten sitä tai te tuo tämä tämän tässä tätä
        vain vai voi""",
    "romanian": """
        a acea aceasta aceste acest acesta acum ai al ale am ar are aș asta astfel ați au avea avem că când care
        ce cel cele cine cu cum da dacă dar de decât deci despre din după ea ei el ele este eu fi fie fost iar
        în îi își îl îmi între la lui mai mea meu mult ne nici noi nu o ori pe pentru prin sa sau să se sunt sub
        te tot toate toți tu un unde unei unui va vă voi vor""",
    "hungarian": """
        a abban ahhoz ahogy ahol aki akik amely amelyek ami amíg amikor az azért azok azt be csak de egy egyéb
        egyik el én ennek és ez ezek ezért ezt fel ha hanem hiszen hogy hogyan hol így ill is ki kell le lehet
        lesz ma maga majd már meg mely melyek mert mi mikor milyen mind minden mint mit most nagyon ne nekem nem
        nincs ő ők olyan össze pedig s se sem sok számára te tehát úgy után utolsó vagy vagyok van vannak volt
        voltak""",
    "turkish": """
        acaba ama artık aslında ay az bana bazı belki ben beni benim beri bile bir biri birkaç biz bizim bu buna
        bunda bundan bunlar bunu bunun burada çok çünkü da daha de defa değil diye en gibi hem hep hepsi her hiç
        için ile ise kadar karşı ki kim mı mi mu mü nasıl ne neden nerede niye o olan olarak oldu olduğu on ona
        ondan onlar onu onun sanki sen senin siz şey şu tüm var ve veya ya yani yok zaten""",
    "polish": """
        a aby albo ale ani bardzo bez bo być był była było byli będzie choć ci co czy czyli dla dlaczego do gdy
        gdzie go i ich ile im inne ja jak jako jakie je jednak jego jej jest jestem jeśli już każdy kiedy kto
        która które którego który których lub ma mają mi mnie mój może można my na nad nam nas nasz nawet nic
        nie nim o od on ona one oni ono oraz po pod ponieważ przed przez przy są sam się skąd swoje ta tak także
        tam te tego tej ten to tu tych tylko tym u w we wszystko więc z za ze że""",
    "czech": """
        a aby ale ani anebo až bez bude budou by byl byla byli bylo být co což či další do i jak jako je jeho
        jej její jejich jen ještě ji již jsem jsme jsou jste k kam kde kdo kdy když která které který kteří ku
        ma máte mezi mi mít mne mnou moje můj na nad nám naše ne nebo není než nic o od on ona oni pak po pod
        podle pokud pouze právě pro proč proto protože před při s se si své svých ta tak také tam tedy ten tento
        to toho tohle tom tomto tu ty u už v vám váš ve více však všechno vy z za zde že""",
    "catalan": """
        a això al als amb aquest aquesta aquests aquí així com de del dels des el ella ells els em en encara
        entre eren és es està estan et fins ha han hi ho i ja jo l la les li lo més meu molt na ni no nosaltres
        nostre o on per però perquè quan que què qui se seu sense ser seva si són també tan tenir teu tot tots
        tu un una uns va vam vosaltres""",
    "indonesian": """
        ada adalah agar akan aku anda apa apakah atau bagaimana bagi bahwa banyak belum bisa dalam dan dapat
        dari dengan di dia hanya harus hingga ia ini itu jadi jika juga kami kamu karena ke kepada ketika kita
        lagi lebih maka mana masih mengapa menjadi mereka namun oleh pada para pernah saat saja sangat saya
        sebagai sebuah secara sedang semua seperti serta setelah siapa sudah tapi telah tentang terhadap tetapi
        tidak untuk yaitu yang""",
    "russian": """
        а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее
        если есть еще же за здесь и из или им их к как какая какой когда которая которые который кто куда ли
        между меня мне много может можно мой мы на над надо нам нас не него нее нет ни них но ну о об однако он
        она они оно от очень по под после потом потому почему при про с сам себя сейчас со так также такой там
        тебя тем то тогда того тоже только том ты у уже хотя чего чем что чтобы чье эта эти это этого этой этом
        этот я""",
    "greek": """
        αλλά αν από αυτά αυτή αυτό αυτός αυτού για γιατί δε δεν εγώ εδώ είμαι είναι εκεί ένα έναν ένας εμείς
        επειδή εσύ έχει έχουν έχω η ή ήταν θα και κάθε κατά κι μα με μέσα μετά μη μην μια μία μου μόνο να ο οι
        όμως όπου όπως όταν ότι πια ποια ποιος ποιο πολύ πού που πριν προς πώς πως σαν σας σε στη στην στης στο
        στον στους στα στις τα τη την της τι τις το τον του τους των ως""",
    "arabic": """
        أن أو أي أين إذا إلا إلى إن التي الذي الذين اللذين الى ان او اي بعد بعض بها به بين تلك ثم حتى حيث ذلك عن
        عند على في فيه فيها قبل قد كان كانت كل كما كيف لا لكن لم لماذا لن له لها ليس ما ماذا متى مع من منذ منه
        منها نحن هذا هذه هل هم هنا هناك هو هي و وقد ولا وهو وهي يا""",
    "persian": """
        آن آنها از است اگر اما او این با باید بر برای بود به پس تا چرا چه چون چی خود در را شد شده شما کجا کرد
        کرده که کی ما من می نه نیست ها هر هم همه هنوز و ولی یا یک""",
    "hindi": """
        अपना अपनी अपने अब आप इन इस इसका इसके इसी उन उनका उनके उस उसका उसके एक और कब कर करता करते करना करने कहाँ
        का कि किया किस किसी की कुछ के को कोई कौन क्या क्यों कैसे गई गए गया जब जहाँ जा जैसे जो तक तब तो था थी थे
        दिया दो द्वारा नहीं ने पर बहुत बाद भी मुझे में मेरा मेरी मेरे मैं यदि यह यहाँ या ये रहा रही रहे लिए
        लेकिन वह वहाँ वे सब साथ से हम हमारा हमारे हर ही हुआ हुई हुए हूँ है हैं हो होता होती होते""",
    "korean": """
        것 관한 관해 그 그것 그래서 그러나 그런데 그리고 나 나는 내 너 너무 누가 누구 대한 대해 따라 따른 때 때문에
        또 또는 무슨 무엇 및 바로 수 아주 어느 어디 어디서 어떤 어떻게 언제 없는 왜 우리 위한 위해 이 이것 있는
        있다 있어 저 저는 정말 제 좀 즉 통해 하고 하는 하지만 한""",
    "japanese": """
        あの ある いい いう いつ いる か が から けど けれど ここ こと この これ しかし した して する そこ
        そして その それ た だ だけ だれ ため で です でも と どう どこ どの どれ な ない ないで なぜ なに など
        なら なる に について にて の ので のに は へ ほど ました まして ます ますか ません まで も もの や よ
        より られ られる れる ね を さん たち ですか でした ください""",
}  # fmt: skip
_AFTER_LATIN = "\u0370"

_QUESTION_WORD_LISTS = {
    "german": """
        bitte dürfen eigentlich gab gibt habt konnte konnten lang lange machen müssen musste oft sollen sollten
        überhaupt unserem unseren unserer unseres viele vielen warst welchem welchen welches wem wen wessen wieso
        wieviel wieviele wodurch wofür woher wohin womit worüber wozu""",
    "french": """
        ai-je quest-ce avait avez avons chaque combien devez devons doit doivent dois est-ce faire fallait font jamais
        laquelle lequel lesquelles lesquels peuvent peux pouvez pouvons quelque quelques toujours veut veux voulez""",
    "spanish": """
        cuáles cuánta cuántas cuánto cuántos debe deben debo había haces hacen hago has he hemos nuestras nuestros
        podemos puede pueden puedo quiero quienes tengo tenía tenemos""",
    "italian": """
        bisogna deve devi devo devono dobbiamo fanno fare nostra nostre nostri possiamo posso possono può puoi quanta
        quante quanti quali vogliamo voglio vuole""",
    "portuguese": """
        deve devem devo estamos estou faz fazer faço nossas nossos pode podem podemos posso quanta quantas quanto
        quantos quer quero temos tenho tinha""",
    "dutch": """
        bent doet gaan gaat hebt hoelang hoeveel jullie kun kunt lang mag mogen moest moeten onze wanneer welk wil
        willen""",
    "russian": """
        ваш ваша ваше ваши делать должен должна должно должны зачем которого которой которых моего моей моих мое мои
        моя наш наша наше наши нашего нашей нашем нашем наших нашу нужно откуда свое свои свой своя сделать сколько
        твой твоя""",
    "turkish": "hakkında ilgili kimdir nedir nelerdir",
    "arabic": "أولئك أي كم لنا لي يجب يمكن",
    "korean": """
        어디에 어디인가요 언제인가요 얼마나 왜요 무엇인가 무엇인가요 무엇인지 무엇이죠 뭐야 뭐예요 뭔가요
        인가요 있나요 있습니까 하나 하나요 합니까 되나요
        되었나요 안""",
}

# Words that introduce a query: they have a low weight, but not none, since a note may be about them.
_FILLERS = {
    "english": """
        another any anyone anything best better example examples get getting good help know like mean means need
        other possible proper properly recommended someone something thing things tutorial use used useful using want
        way ways correct right""",
    "german": """
        andere anderen anderer anderes beispiel beispiele beste besten bester bestes etwas gute guten guter gutes
        hilfe irgendein irgendwo jemand möglich richtig sache verwende verwenden weg weitere weiteren weiterer weiteres
        wissen benutzen nutzen""",
    "french": """
        aide autre autres besoin bon bonne bonnes bons chose exemple exemples façon manière meilleur meilleure
        possible savoir utiliser""",
    "spanish": """
        alguien algo ayuda bueno buena cosa ejemplo ejemplos forma manera mejor mejores otra otras otro otros
        posible saber usar utilizar""",
    "italian": """
        aiuto altra altre altri altro buon buona cosa esempio esempi migliore migliori modo possibile qualcosa
        qualcuno sapere usare""",
    "portuguese": """
        ajuda algo alguém bom boa coisa exemplo exemplos forma jeito maneira melhor melhores outra outras
        outro outros possível saber usar""",
    "korean": "방법 사용법 설명 설명해줘 설명해주세요 알려줘 알려주세요 예시 예제 추천 추천해줘 활용법",
    "dutch": """
        ander andere beste goed goede gebruik gebruiken hulp iemand iets manier mogelijk voorbeeld voorbeelden
        weten""",
    "russian": """
        другая другие другой другое использовать лучшая лучшее лучшие лучший можно пример примеры способ
        хороший""",
}
_ORDERS = {
    "english": """
        explain show tell give find describe teach help list compare remind suggest recommend define summarize summarise
        outline""",
    "german": """
        erkläre erklär erklären zeige zeig finde nenne gib beschreibe beschreib vergleiche vergleich empfiehl definiere
        sage""",
    "french": "explique expliquez montre montrez trouve donne décris décrivez compare comparez définis cherche résume",
    "spanish": "explica explícame muestra muéstrame encuentra dame describe compara define busca resume dime",
    "italian": "spiega spiegami mostra mostrami trova dammi descrivi confronta definisci cerca riassumi dimmi",
    "portuguese": "explica explique mostra mostre encontra encontre descreve descreva compare defina busque resuma",
    "dutch": "leg toon vind geef beschrijf vergelijk definieer zoek noem vertel",
    "russian": "объясни объясните покажи покажите найди опиши опишите сравни расскажи расскажите определи",
    "swedish": "förklara visa beskriv jämför hitta berätta",
    "danish": "forklar vis beskriv sammenlign find fortæl",
    "norwegian": "forklar vis beskriv sammenlign finn fortell",
    "polish": "wyjaśnij pokaż opisz porównaj znajdź opowiedz",
    "czech": "vysvětli ukaž popiš porovnej najdi",
    "turkish": "açıkla göster anlat karşılaştır",
}
"""Words that are fillers at the beginning of a query."""
_SURE_ORDER = 5
"""Minimum number of characters of a filler that alone shows a query's language: shorter ones are in several."""
_ASKS = {
    "english": (
        "how what",
        """work works worked working happen happens happened happening differ differs behave behaves behaved relate
        relates difference differences""",
    ),
    "german": (
        "wie was wozu wofür worin",
        """funktioniert funktionieren geht gehen läuft laufen macht bedeutet bedeuten heißt dient dienen ist sind
        unterscheidet unterscheiden unterschied unterschiede verhält verhalten passiert passierte geschieht geschah""",
    ),
    "french": ("comment quoi", "fonctionne fonctionnent marche marchent diffère diffèrent signifie sert différence"),
    "spanish": (
        "cómo como qué que",
        """funciona funcionan significa difiere difieren diferencia diferencias distingue sirve hace es son pasa pasó
        ocurrió""",
    ),
    "italian": ("come cosa", "funziona funzionano significa differisce differiscono differenza succede successo"),
    "portuguese": ("como", "funciona funcionam significa difere diferem diferença acontece aconteceu"),
    "dutch": (
        "hoe wat",
        "werkt werken functioneert betekent verschilt verschillen verschil doet is zijn gebeurt gebeurde gebeurd",
    ),
    "russian": (
        "как что зачем",
        """работает работают делает значит отличается отличаются разница такое случилось произошло
        нужен нужна нужно нужны""",
    ),
    "swedish": ("hur vad", "fungerar betyder skiljer gör är"),
    "danish": ("hvordan hvad", "fungerer virker betyder adskiller gør er"),
    "norwegian": ("hvordan hva", "fungerer virker betyr skiller gjør er"),
    "finnish": ("miten mikä mitä kuinka", "toimii tarkoittaa eroaa tekee on"),
    "polish": ("jak co czym", "działa działają znaczy różni różnią robi jest"),
    "czech": ("jak co", "funguje fungují znamená liší dělá je"),
    "romanian": ("cum ce", "funcționează înseamnă diferă face este"),
    "hungarian": ("hogyan mi", "működik működnek jelent különbözik"),
    "indonesian": ("bagaimana apa", "bekerja berfungsi artinya perbedaan itu adalah"),
    "korean": (
        "어떻게 왜",
        "동작해 동작하나요 동작하는지 동작합니까 작동해 작동하나요 작동하는지 작동합니까 되나요 되는지 필요해",
    ),
    "turkish": ("nasıl ne", "çalışır çalışıyor demek yapar fark"),
}
"""Words that ask, and the words that are fillers after one of them. Together they tell the language of a query."""

_RECALLS = {
    "english": ("where when what how", "i we", "write wrote written note noted mention mentioned"),
    "german": ("wo wann was wie", "ich wir", "schrieb geschrieben notiert notierte erwähnt erwähnte"),
    "french": ("où quand comment", "je j ai ai-je", "écrit écrivais noté mentionné parlé"),
    "spanish": ("dónde donde cuándo qué", "", "escribí anoté apunté mencioné"),
    "italian": ("dove quando cosa", "ho", "scritto annotato menzionato parlato"),
    "portuguese": ("onde quando", "", "escrevi anotei mencionei"),
    "dutch": ("waar wanneer wat", "", "schreef geschreven noteerde genoteerd vermeldde vermeld"),
    "russian": ("где когда что", "я", "писал писала написал написала записал записала упоминал упоминала"),
    "swedish": ("var när", "", "skrev skrivit antecknade nämnde"),
    "danish": ("hvor hvornår", "", "skrev skrevet noterede nævnte"),
    "turkish": ("ne nerede nereye", "", "yazdım yazmıştım"),
    "polish": ("gdzie kiedy", "", "pisałem pisałam napisałem napisałam zapisałem zapisałam"),
}
"""Words that ask, the subject, and verbs that aren't searched after both, as in "where did I write about it?". No
subject if the verb's form says it, or if it comes later."""

A_NOTE = frozenset(
    fold(word) for word in "note nota notiz notitie notatka notu notum заметка 노트 메모 メモ ノート 笔记 筆記".split()
)
"""Words that are fillers after a query's only other word, as in "pump note", and, except "note", also before it."""

KINDS_OF_TEXT = frozenset(
    fold(word)
    for word in """
    basics cheatsheet details explained guide howto ideas info information intro introduction meaning notes overview
    stuff summary tips definition
    anleitung bedeutung einführung erklärt erklärung grundlagen ideen infos informationen notizen tipps überblick
    übersicht zusammenfassung
    astuces conseils définition explication idées informations résumé signification
    apuntes básico consejos definición explicación guía información introducción resumen significado
    appunti consigli definizione guida informazioni introduzione riassunto significato spiegazione
    definição dicas explicação guia informações introdução resumo significado
    aantekeningen betekenis definitie gids informatie inleiding notities overzicht uitleg
    введение заметки информация обзор объяснение определение основы руководство советы
    """.split()
)
"""Words for a kind of text: fillers at the end of a short query, since "presentation tips" is about presentations."""

# Thai and Chinese put no spaces between words. The question words and connectives here occur inside few other
# word; some count only at the beginning or end of a query. The rest of a longer word is searched.
_THAI_ANYWHERE = (
    *("อยู่ที่ไหน", "อย่างไร", "เมื่อไหร่", "เมื่อไร", "เท่าไหร่", "เท่าไร", "หรือเปล่า", "เกี่ยวกับ", "เพราะว่า", "หรือไม่", "แค่ไหน"),
    *("ที่ไหน", "สำหรับ", "เพราะ", "ยังไง", "อะไร", "ทำไม", "หรือ", "และ", "ไหน", "ไม่", "คือ"),
    *("ของฉัน", "ของผม", "ของคุณ", "ของเรา", "ของเขา", "ของ"),
)
_THAI_FIRST = ("ดิฉัน", "ฉัน")
_THAI_LAST = ("ได้ไหม", "ครับ", "ไหม", "มั้ย", "บ้าง", "ค่ะ", "คะ", "นะ", "ล่ะ")
_CHINESE = tuple(
    """
    什么时候 什麼時候 为什么 為什麼 怎么样 怎麼樣 什么 什麼 怎么 怎麼 怎样 怎樣 如何 哪里 哪裡 哪儿 哪个 哪個 哪些
    多少 多久 几个 幾個 没有 沒有 可以 应该 應該 因为 因為 所以 但是 关于 關於 以及 或者 还是 還是 是否 请问 請問 自己
    我们 我們 你们 你們 他们 他們 她们 它们 这个 這個 那个 那個 这些 這些 那些""".split()
)
_KANA = "\u3041-\u30ff"
_THAI_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the function words of a language as folded tokens; empty for a language without a list.

    Besides Snowball's names, `korean` and `japanese` have lists.
    """
    return frozenset(fold(FUNCTION_WORD_LISTS.get(language, "")).split())


@cache
def languages_by_word() -> dict[str, tuple[str, ...]]:
    """Return the languages that have each function word in Latin letters, with and without accents, by word."""
    owners: dict[str, tuple[str, ...]] = {}
    for language, words in FUNCTION_WORD_LISTS.items():
        latin = [word for word in words.split() if word < _AFTER_LATIN]
        accented = " ".join(word for word in latin if not word.isascii())
        own = dict.fromkeys((*latin, *fold(accented).split()), (language,))
        owners |= own | {word: owners[word] + own[word] for word in owners.keys() & own.keys()}
    return owners


@cache
def unsearched_words(language: str) -> frozenset[str]:
    """Return the folded words that queries in this language don't search, function words included."""
    return stop_words(language) | frozenset(fold(_QUESTION_WORD_LISTS.get(language, "")).split())


@cache
def _folded(words: str) -> frozenset[str]:
    return frozenset(fold(words).split())


FUNCTION_CHARACTERS = frozenset("的了吗嗎呢吧啊们們这這那是在和与與我你您他她它把被就也很么麼着谁誰哪什")
"""Chinese characters that are function words, or a part of one."""


def is_filler(word: str, before: Collection[str], language: str, *, begins: bool) -> bool:
    """Whether a folded word only introduces the query.

    `before`: the query's words before this one, folded; `begins`: no search word precedes it.
    """
    asking, after = _ASKS.get(language, ("", ""))
    return (
        word in _folded(_FILLERS.get(language, ""))
        or (begins and word in _folded(_ORDERS.get(language, "")))
        or (word in _folded(after) and not _folded(asking).isdisjoint(before))
    )


def is_recall(word: str, before: Collection[str], language: str) -> bool:
    """Whether a folded word is the verb of a question for the user's notes: "where did I write".

    `before`: the query's words before this one, folded.
    """
    asking, asker, verbs = _RECALLS.get(language, ("", "", ""))
    asked = word in _folded(verbs) and not _folded(asking).isdisjoint(before)
    return asked and (not asker or not _folded(asker).isdisjoint(before))


@cache
def _question_words() -> frozenset[str]:
    """Return the folded words with which a question or an order begins, in all languages."""
    return _folded(" ".join((*_ORDERS.values(), *(asking for asking, _ in _ASKS.values()))))


def question_languages(words: Sequence[str]) -> list[str]:
    """Return the languages in which folded words are a question or an order; empty for English words."""
    if _question_words().isdisjoint(words[:2]):
        return []
    languages = []
    orders = {language: _folded(verbs) for language, verbs in _ORDERS.items()}
    for language, (asking, after) in _ASKS.items():
        verbs = orders.get(language, frozenset())
        ordered = bool(words) and words[0] in verbs and words[0] not in orders["english"]
        rest = words[1:] if ordered else words
        sure = ordered and len(words[0]) >= _SURE_ORDER
        if sure or (rest and rest[0] in _folded(asking) and not _folded(after).isdisjoint(rest[1:])):
            languages.append(language)
    return [] if "english" in languages else languages


def unspaced_stops(stretch: str) -> list[tuple[int, int]]:
    """Return the ranges of Thai or Chinese function words in an unspaced stretch."""
    return [match.span() for match in _unspaced().finditer(stretch)]


@cache
def _unspaced() -> re.Pattern[str]:
    anywhere, first, last, chinese = map("|".join, (_THAI_ANYWHERE, _THAI_FIRST, _THAI_LAST, _CHINESE))
    thai = rf"(?:^(?:{first})|{anywhere})(?![{_THAI_MARKS}])|(?:{last})+$"
    own_notes = "(?:的(?:笔记|筆記)|についてのメモ)$"
    return re.compile(rf"{thai}|{own_notes}|(?<![{_KANA}])(?:{chinese})(?![{_KANA}])")
