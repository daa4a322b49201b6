"""The same four notes in many languages, with queries for each that use other word forms than the note."""

from typing import NamedTuple

TOPICS = ("watering", "meeting", "bread", "train")


class Case(NamedTuple):
    notes: tuple[str, str, str, str]
    """Notes about `TOPICS`, in their order."""
    questions: tuple[tuple[str, str], ...]
    """Queries, each with the topic that answers it."""
    asked: tuple[str, ...]
    """The first query without its function words."""


NORTH_AND_EAST = {
    "swedish": Case(
        (
            "Timern till droppbevattningen i växthuset hoppade över tisdagen. Tomaterna var torra.",
            "Mötet med styrelsen flyttades till torsdag eftersom rummet inte var ledigt.",
            "Till rågbrödet vilar degen över natten i kylskåpet, sedan gräddas det en timme.",
            "Vi köpte två tågbiljetter till Lissabon och bokade ett hotell bredvid stationen.",
        ),
        (
            ("Varför fungerade inte droppbevattningen i växthuset?", "watering"),
            ("När är mötena med styrelsen?", "meeting"),
            ("hur länge ska degen vila", "bread"),
            ("var är tågbiljetterna till Lissabon", "train"),
        ),
        ("fungerade", "droppbevattningen", "växthuset"),
    ),
    "danish": Case(
        (
            "Timeren til drypvandingen i drivhuset sprang tirsdagen over. Tomaterne var tørre.",
            "Mødet med bestyrelsen blev flyttet til torsdag, fordi lokalet ikke var ledigt.",
            "Til rugbrødet hviler dejen natten over i køleskabet, så bager det en time.",
            "Vi købte to togbilletter til Lissabon og bestilte et hotel ved siden af stationen.",
        ),
        (
            ("Hvorfor virkede drypvandingen i drivhuset ikke?", "watering"),
            ("Hvornår er møderne med bestyrelsen?", "meeting"),
            ("hvor længe skal dejen hvile", "bread"),
            ("hvor er togbilletterne til Lissabon", "train"),
        ),
        ("virkede", "drypvandingen", "drivhuset"),
    ),
    "norwegian": Case(
        (
            "Tidsuret til dryppvanningen i veksthuset hoppet over tirsdagen. Tomatene var tørre.",
            "Styremøtene ble flyttet til torsdag fordi rommet ikke var ledig.",
            "Til rugbrødet hviler deigen natten over i kjøleskapet, så steker det en time.",
            "Vi kjøpte to togbilletter til Lisboa og bestilte et hotell ved siden av stasjonen.",
        ),
        (
            ("Hvorfor virket ikke dryppvanningen i veksthuset?", "watering"),
            ("Når er styremøtet?", "meeting"),
            ("hvor lenge skal deigen hvile", "bread"),
            ("hvor er togbillettene til Lisboa", "train"),
        ),
        ("virket", "dryppvanningen", "veksthuset"),
    ),
    "finnish": Case(
        (
            "Kasvihuoneen kasteluajastin jätti tiistain väliin. Tomaatit olivat kuivia.",
            "Kokous hallituksen kanssa siirrettiin torstaille, koska huone ei ollut vapaa.",
            "Ruisleivän taikina lepää yön yli jääkaapissa ja paistetaan sitten tunnin ajan.",
            "Ostimme kaksi junalippua Lissaboniin ja varasimme hotellin, joka on aseman vieressä.",
        ),
        (
            ("Miksi kasvihuoneen kasteluajastin ei toiminut?", "watering"),
            ("Mihin kokous hallituksen kanssa siirrettiin?", "meeting"),
            ("kuinka ruisleivän taikina lepää", "bread"),
            ("missä on hotelli aseman vieressä", "train"),
        ),
        ("kasvihuoneen", "kasteluajastin", "toiminut"),
    ),
    "hungarian": Case(
        (
            "Az üvegház öntözésének időzítője kihagyta a keddet. A paradicsomok szárazak voltak.",
            "Az elnökséggel tartott ülést csütörtökre tették át, mert a terem nem volt szabad.",
            "A rozskenyér tésztája egész éjjel pihen a hűtőben, aztán egy órát sül.",
            "Két vonatjegyet vettünk Lisszabonba, és szállodát foglaltunk az állomás mellett.",
        ),
        (
            ("Miért nem működött az öntözés az üvegházban?", "watering"),
            ("Mikor lesz az ülés az elnökséggel?", "meeting"),
            ("hogyan pihen a rozskenyér tésztája", "bread"),
            ("hol vannak a vonatjegyek Lisszabonba", "train"),
        ),
        ("Miért", "működött", "öntözés", "üvegházban"),
    ),
    "polish": Case(
        (
            "Zegar nawadniania w szklarni pominął wtorek. Pomidory były suche.",
            "Spotkanie z zarządem przeniesiono na czwartek, ponieważ sala nie była wolna.",
            "Ciasto na chleb żytni odpoczywa całą noc w lodówce, potem piecze się godzinę.",
            "Kupiliśmy dwa bilety na pociąg do Lizbony i zarezerwowaliśmy hotel przy dworcu.",
        ),
        (
            ("Dlaczego w naszej szklarni nie było nawadniania?", "watering"),
            ("Kiedy jest spotkanie z zarządem?", "meeting"),
            ("jak długo odpoczywa ciasto na chleb", "bread"),
            ("gdzie są bilety na pociąg", "train"),
        ),
        ("naszej", "szklarni", "nawadniania"),
    ),
    "czech": Case(
        (
            "Časovač zavlažování ve skleníku vynechal úterý. Rajčata byla suchá.",
            "Schůzka s vedením byla přesunuta na čtvrtek, protože sál nebyl volný.",
            "Těsto na žitný chléb odpočívá celou noc v lednici, potom se peče hodinu.",
            "Koupili jsme dvě jízdenky na vlak do Lisabonu a zamluvili hotel u nádraží.",
        ),
        (
            ("Proč nefungovalo zavlažování ve skleníku?", "watering"),
            ("Kdy je schůzka s vedením?", "meeting"),
            ("jak dlouho musí těsto na chléb odpočívat", "bread"),
            ("kde jsou jízdenky na vlak", "train"),
        ),
        ("nefungovalo", "zavlažování", "skleníku"),
    ),
    "serbian": Case(
        (
            "Тајмер за наводњавање у стакленику прескочио је уторак. Парадајз је био сув.",
            "Састанак са управом померен је за четвртак јер сала није била слободна.",
            "За ражани хлеб тесто одмара целу ноћ у фрижидеру, па се пече један сат.",
            "Купили смо две возне карте за Лисабон и резервисали хотел који је најближи станици.",
        ),
        (
            ("Зашто није радило наводњавање у стакленику?", "watering"),
            ("Када је састанак са управом?", "meeting"),
            ("колико дуго тесто за хлеб одмара у фрижидеру", "bread"),
            ("где су возне карте за Лисабон", "train"),
        ),
        ("Зашто", "није", "радило", "наводњавање", "у", "стакленику"),
    ),
}
SOUTH_AND_FAR = {
    "romanian": Case(
        (
            "Temporizatorul irigației din seră a sărit peste ziua de marți. Roșiile erau uscate.",
            "Ședința cu consiliul a fost mutată joi pentru că sala nu era liberă.",
            "Pentru pâinea de secară aluatul se odihnește toată noaptea în frigider, apoi se coace o oră.",
            "Am cumpărat două bilete de tren spre Lisabona și am rezervat un hotel lângă gară.",
        ),
        (
            ("De ce nu a funcționat irigația din seră?", "watering"),
            ("Când sunt ședințele cu consiliul?", "meeting"),
            ("cum se odihnește aluatul", "bread"),
            ("unde sunt biletele de tren spre Lisabona", "train"),
        ),
        ("funcționat", "irigația", "seră"),
    ),
    "catalan": Case(
        (
            "El temporitzador del reg de l'hivernacle es va saltar el dimarts. Els tomàquets estaven secs.",
            "La reunió amb la junta s'ha ajornat a dijous perquè la sala no estava lliure.",
            "Per al pa de sègol la massa reposa tota la nit a la nevera i després es cou una hora.",
            "Vam comprar dos bitllets de tren a Lisboa i vam reservar un hotel al costat de l'estació.",
        ),
        (
            ("Per què no va funcionar el reg de l'hivernacle?", "watering"),
            ("Quan s'ha ajornat la reunió amb la junta?", "meeting"),
            ("com reposa la massa del pa de sègol", "bread"),
            ("on són els bitllets de tren", "train"),
        ),
        ("funcionar", "reg", "l'hivernacle"),
    ),
    "turkish": Case(
        (
            "Seradaki sulama zamanlayıcısı salı gününü atladı. Domatesler kurumuştu.",
            "Yönetim kuruluyla toplantı perşembeye alındı, çünkü salon boş değildi.",
            "Çavdar ekmeği için hamur bütün gece buzdolabında dinlenir, sonra bir saat pişer.",
            "Lizbon'a iki tren bileti aldık ve istasyonun yanında bir otel ayırttık.",
        ),
        (
            ("Seradaki sulama neden çalışmadı?", "watering"),
            ("Yönetim kuruluyla toplantılar ne zaman?", "meeting"),
            ("ekmek için hamur nasıl dinlenir", "bread"),
            ("tren biletleri nerede", "train"),
        ),
        ("Seradaki", "sulama", "çalışmadı"),
    ),
    "greek": Case(
        (
            "Ο χρονοδιακόπτης του ποτίσματος στο θερμοκήπιο παρέλειψε την Τρίτη. Οι ντομάτες ήταν ξερές.",
            "Η συνάντηση με το συμβούλιο μεταφέρθηκε την Πέμπτη επειδή η αίθουσα δεν ήταν ελεύθερη.",
            "Για το ψωμί σίκαλης η ζύμη ξεκουράζεται όλη τη νύχτα στο ψυγείο και μετά ψήνεται μία ώρα.",
            "Αγοράσαμε δύο εισιτήρια τρένου για τη Λισαβόνα και κλείσαμε ξενοδοχείο δίπλα στον σταθμό.",
        ),
        (
            ("Γιατί δεν έγινε το πότισμα στο θερμοκήπιο;", "watering"),
            ("Πότε είναι η συνάντηση με το συμβούλιο;", "meeting"),
            ("πώς ξεκουράζεται η ζύμη", "bread"),
            ("πού είναι τα εισιτήρια του τρένου", "train"),
        ),
        ("έγινε", "πότισμα", "θερμοκήπιο"),
    ),
    "persian": Case(
        (
            "زمان‌سنج آبیاری گلخانه روز سه‌شنبه را رد کرد. گوجه‌ها خشک بودند.",
            "جلسه با هیئت مدیره به پنجشنبه منتقل شد چون اتاق خالی نبود.",
            "برای نان چاودار خمیر تمام شب در یخچال استراحت می‌کند و بعد یک ساعت می‌پزد.",
            "دو بلیط قطار به لیسبون خریدیم و هتلی کنار ایستگاه رزرو کردیم.",
        ),
        (
            ("چرا آبیاری گلخانه کار نکرد؟", "watering"),
            ("جلسه با هیئت مدیره کی است؟", "meeting"),
            ("چرا خمیر در یخچال استراحت می‌کند", "bread"),
            ("بلیط قطار کجا است", "train"),
        ),
        ("آبیاری", "گلخانه", "کار", "نکرد"),
    ),
    "hindi": Case(
        (
            "ग्रीनहाउस में सिंचाई का टाइमर मंगलवार को नहीं चला। टमाटर सूख गए थे।",
            "बोर्ड के साथ बैठक गुरुवार को रखी गई क्योंकि कमरा खाली नहीं था।",
            "राई की रोटी का आटा रात भर फ्रिज में रखा जाता है और फिर एक घंटे पकता है।",
            "हमने लिस्बन के लिए दो रेल टिकट खरीदे और स्टेशन के पास होटल बुक किया।",
        ),
        (
            ("हमारे ग्रीनहाउस में सिंचाई क्यों नहीं हुई?", "watering"),
            ("बोर्ड के साथ बैठकें कब हैं?", "meeting"),
            ("आटा फ्रिज में क्यों रखा जाता है", "bread"),
            ("रेल के टिकट कहाँ हैं", "train"),
        ),
        ("ग्रीनहाउस", "सिंचाई"),
    ),
    "tamil": Case(
        (
            "பசுமைக்குடிலின் நீர்ப்பாசன நேரங்காட்டி செவ்வாய்க்கிழமை இயங்கவில்லை. தக்காளிகள் காய்ந்துவிட்டன.",
            "அறை காலியாக இல்லாததால் நிர்வாகக் குழுவுடனான கூட்டம் வியாழக்கிழமைக்கு மாற்றப்பட்டது.",
            "கம்பு ரொட்டிக்கு மாவு இரவு முழுவதும் குளிர்சாதனப் பெட்டியில் இருக்க வேண்டும், பிறகு சுட வேண்டும்.",
            "லிஸ்பனுக்கு இரண்டு ரயில் டிக்கெட்டுகள் வாங்கி, நிலையத்தின் அருகில் விடுதியை முன்பதிவு செய்தோம்.",
        ),
        (
            ("பசுமைக்குடிலின் நேரங்காட்டி ஏன் இயங்கவில்லை?", "watering"),
            ("நிர்வாகக் கூட்டம் எப்போது?", "meeting"),
            ("ரொட்டி மாவு எவ்வளவு நேரம் இருக்க வேண்டும்", "bread"),
            ("ரயில் டிக்கெட்டுகள் எங்கே", "train"),
        ),
        ("பசுமைக்குடிலின்", "நேரங்காட்டி", "ஏன்", "இயங்கவில்லை"),
    ),
    "armenian": Case(
        (
            "Ջերմոցի ոռոգման ժամաչափը բաց թողեց երեքշաբթին։ Լոլիկները չորացել էին։",
            "Խորհրդի հետ հանդիպումը տեղափոխվեց հինգշաբթի, քանի որ սենյակն ազատ չէր։",
            "Տարեկանի հացի համար խմորը ամբողջ գիշեր հանգստանում է սառնարանում, հետո թխվում է մեկ ժամ։",
            "Մենք գնեցինք Լիսաբոնի գնացքի երկու տոմս և ամրագրեցինք հյուրանոց կայարանի կողքին։",
        ),
        (
            ("ջերմոցի ոռոգման ժամաչափը", "watering"),
            ("երբ է խորհրդի հանդիպումը", "meeting"),
            ("որտեղ է հանգստանում խմորը", "bread"),
            ("որտեղ է Լիսաբոնի գնացքի տոմսը", "train"),
        ),
        ("ջերմոցի", "ոռոգման", "ժամաչափը"),
    ),
    "indonesian": Case(
        (
            "Pengatur waktu penyiraman di rumah kaca melewatkan hari Selasa. Tomatnya kering.",
            "Rapat dengan pengurus dipindahkan ke hari Kamis karena ruangannya tidak kosong.",
            "Untuk roti gandum hitam, adonan didiamkan semalaman di kulkas lalu dipanggang satu jam.",
            "Kami membeli dua tiket kereta ke Lisbon dan memesan hotel di sebelah stasiun.",
        ),
        (
            ("Mengapa penyiraman di rumah kaca tidak berjalan?", "watering"),
            ("Kapan rapat dengan pengurus?", "meeting"),
            ("berapa lama adonan harus didiamkan", "bread"),
            ("di mana tiket keretanya", "train"),
        ),
        ("penyiraman", "rumah", "kaca", "berjalan"),
    ),
}
