"""The same short texts in languages that have an encoding of their own, for tests of the detection."""

JAPANESE = """会議は木曜日に移した。会議室が空いていなかったからだ。
温室の点滴灌漑のタイマーが火曜日を飛ばしたので、トマトが乾いていた。来週までに新しいバルブを注文する。
ライ麦パンの生地は一晩冷蔵庫で休ませて、それから一時間焼く。塩は12グラム、水は350ミリリットル。
リスボン行きの列車の切符を二枚買って、駅の隣のホテルを予約した。出発は朝七時四十五分です。
プログラムの設定ファイルはホームフォルダにあります。エラーが出たらログを確認してください。
"""
CHINESE = """会议改到了星期四，因为会议室没有空。
温室滴灌的定时器跳过了星期二，所以西红柿都干了。下个星期之前要订购一个新的阀门。
黑麦面包的面团要在冰箱里放一夜，然后烤一个小时。盐十二克，水三百五十毫升。
我们买了两张去里斯本的火车票，并在车站旁边订了一家酒店。早上七点四十五分出发。
程序的配置文件在主目录里。如果出现错误，请先查看日志，再联系管理员。
"""
TAIWANESE = """會議改到了星期四，因為會議室沒有空。
溫室滴灌的定時器跳過了星期二，所以番茄都乾了。下個星期之前要訂購一個新的閥門。
黑麥麵包的麵團要在冰箱裡放一夜，然後烤一個小時。鹽十二克，水三百五十毫升。
我們買了兩張去里斯本的火車票，並在車站旁邊訂了一家旅館。早上七點四十五分出發。
程式的設定檔在使用者的資料夾裡。如果出現錯誤，請先查看記錄，再聯絡管理員。
"""
KOREAN = """회의실이 비어 있지 않아서 회의를 목요일로 옮겼다.
온실 점적 관수 타이머가 화요일을 건너뛰어서 토마토가 말라 있었다. 다음 주까지 새 밸브를 주문해야 한다.
호밀빵 반죽은 냉장고에서 하룻밤 쉬게 한 다음 한 시간 동안 굽는다. 소금은 12그램, 물은 350밀리리터.
리스본으로 가는 기차표 두 장을 사고 역 옆에 있는 호텔을 예약했다. 아침 일곱 시 사십오 분에 출발한다.
프로그램의 설정 파일은 홈 폴더에 있다. 오류가 나면 먼저 로그를 확인하고 관리자에게 연락하세요.
"""
RUSSIAN = """Заседание правления перенесли на четверг, потому что комната была занята.
Таймер капельного полива в теплице пропустил вторник,
поэтому помидоры засохли. До следующей недели нужно заказать новый клапан.
Тесто для ржаного хлеба ночь стоит в холодильнике, потом его пекут один час.
Мы купили два билета на поезд до Лиссабона и забронировали гостиницу рядом с вокзалом.
"""
GERMAN = """Die Sitzung des Vorstands wurde auf Donnerstag verschoben, weil der Raum nicht frei war.
Die Zeitschaltuhr der Tröpfchenbewässerung im Gewächshaus übersprang den Dienstag; die Tomaten waren dürr.
Für das Roggenbrot ruht der Teig über Nacht im Kühlschrank, dann bäckt er eine Stunde bei größter Hitze.
Wir kauften zwei Fahrkarten nach Lissabon und buchten ein Hotel neben dem Bahnhof. Kosten: 84,50 €.
"""
FRENCH = """La réunion du comité a été déplacée à jeudi parce que la salle n'était pas libre.
Le minuteur de l'arrosage goutte à goutte de la serre a sauté le mardi ; les tomates étaient sèches.
Pour le pain de seigle, la pâte repose une nuit au réfrigérateur, puis elle cuit une heure.
Nous avons acheté deux billets de train pour Lisbonne et réservé un hôtel à côté de la gare.
"""
SPANISH = """La reunión del comité se trasladó al jueves porque la sala no estaba libre.
El temporizador del riego por goteo del invernadero se saltó el martes y los tomates estaban secos.
¿Cuándo llegará la válvula?
La masa del pan de centeno reposa una noche en el frigorífico y después se hornea una hora. ¡Más sal mañana!
Compramos dos billetes de tren a Lisboa y reservamos un hotel al lado de la estación, en la calle de España.
"""
ENGLISH_WITH_JAPANESE = """The menu entry テスト runs every check, and the entry データ opens the folder
with the results of the last run.
Press ツール to change the colours of the window.
"""
ENGLISH_WITH_CHINESE = """The button 设置 opens the settings of the program; the entry 帮助 has the
manual, with 12 chapters.
Press 退出 to close it.
"""
ENGLISH = """It doesn’t matter whether the “smart quotes” are right – the café’s menu isn’t long…
The price is 3 € more than last year’s.
"""
ITALIAN = """La riunione del consiglio è stata spostata a giovedì perché la sala non era libera.
Il timer dell'irrigazione a goccia della serra ha saltato il martedì; i pomodori erano già secchi. Più acqua lunedì!
"""
PORTUGUESE = """A reunião da direção foi adiada para quinta-feira porque a sala não estava livre.
O temporizador da rega gota a gota da estufa saltou a terça-feira; os tomates estavam secos.
"""
