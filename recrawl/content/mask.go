package content

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// masked writes a text without its numbers, so that texts that differ in nothing else are equal.
func masked(s string) string {
	if strings.IndexFunc(s, unicode.IsDigit) < 0 {
		return s
	}
	var b strings.Builder
	in := false
	for _, r := range s {
		digit := unicode.IsDigit(r)
		if digit && !in {
			b.WriteByte('0')
		}
		if !digit && !(in && (r == ',' || r == '.' || r == '\u00a0')) {
			in = false
			b.WriteRune(r)
		}
		in = in || digit
	}
	return b.String()
}

// dateSigns are what else than names of months and days stands in dates and times of day alone.
const dateSigns = `pm utc gmt cet cest est edt pst pdt uhr 年 月 日 时 時 分 년 월 일 시 분 segunda terça quarta quinta sexta feira ที่ เวลา 上午 下午 午前 午後 오전 오후 μ π год года году роки року року`

// linkWords join the parts of a date, and much else.
var linkWords = wordSet(`st nd rd th of de a à at le la the on um am del den e di ב ב- г м ж թ gada m d`)

// clockWords stand beside a clock.
var clockWords = wordSet(`it is time now as updated refreshed refresh generated current server local clock last stand aktualisiert letzte aktualisierung
heure mis jour mise dernière actualizado última actualización aggiornato ultimo aggiornamento atualizado atualização bijgewerkt laatst
uppdaterad senast opdateret sidst oppdatert sist päivitetty viimeksi aktualizacja ostatnia zaktualizowano aktualizováno poslední aktualizace aktualizované
frissítve utolsó frissítés actualizat ultima actualizare обновлено последнее обновление время сейчас оновлено останнє оновлення ενημέρωση τελευταία
güncelleme güncellendi güncel تحديث آخر עודכן עדכון אחרון diperbarui terakhir cập nhật lần cuối อัปเดต ล่าสุด
更新 更新日時 最終更新 最終更新日時 現在 現在時刻 更新时间 更新於 更新于 更新時間 最后更新 最近更新 最後更新 当前时间 現在時間 업데이트 최종 갱신 현재 시각
alle ore às om pukul pada lúc στις ساعت الساعة في בשעה को बजे کو அன்று కి এ la u ob v o в во о г р ж թ në les als`).and(timeWords)

// timeWords stand before a time of day, which some languages write with a full stop then: kl. 14.05.
var timeWords = wordSet(`kl klo kello klokken kell pukul um ore alle om`)

// makeWords say when something was made, as programs sign what they make.
var makeWords = wordSet(`generated built build deployed rendered compiled generiert erzeugt erstellt généré générée generado generada generato generata
gerado gerada gegenereerd genererad genereret generert luotu wygenerowano vygenerováno generált generat сгенерировано создано собрано згенеровано създадено
oluşturuldu 生成 生成日時 生成时间 生成于 构建于 構建於 생성`)

// countWords stand beside numbers that count what visitors do.
var countWords = wordSet(`view views visit visits visited visitor visitors like likes liked comment comments shares downloads downloaded follower followers online
reply replies vote votes star stars fork forks following subscriber subscribers watching reads played plays vues visites visiteurs commentaires partages abonnés aufrufe besucher kommentare
comentarios comentários visitas visualizaciones visualizações descargas seguidores commenti visite condivisioni reacties weergaven kommentarer
kommenttia komentarze komentarzy wyświetleń wyświetlenia odsłon odsłony pobrań komentářů zobrazení stažení megtekintés hozzászólás
vizualizări comentarii просмотра просмотров комментарий комментария комментариев подписчик подписчика подписчиков скачиваний скачивания переглядів
коментар коментарі коментарів görüntülenme yorum beğeni takipçi مشاهدة مشاهدات تعليق تعليقات צפיות תגובות بازدید نظر dilihat komentar
閲覧数 再生回数 コメント いいね 件のコメント 阅读 阅读数 阅读量 浏览 浏览量 浏览次数 访问量 点击 点击量 评论 点赞 赞 收藏 粉丝 人阅读 次阅读 次浏览 条评论
閱讀 瀏覽 觀看 留言 讚 조회 조회수 댓글 좋아요 추천`).and(viewWords)

// spanWords say of what time a count is, or that it is one, between it and what is counted.
var spanWords = wordSet(`number no count counter total all time today yesterday this last week month year day overall heute gestern gesamt insgesamt anzahl hoy ayer
aujourd'hui hier oggi ieri totale vandaag totaal сегодня вчера всего 今日 昨日 合計 累計 今天 昨天 总计 오늘 어제 전체`)

// memberWords stand beside such numbers as well, and beside how many a tariff has, unless the line says who is there now; crowdWords, beside how many a
// room holds, count only there.
var (
	memberWords = wordSet(`user users member members share download membres mitglieder nutzer usuarios miembros utenti membri gebruikers leden
пользователей участников ユーザー メンバー 用户 用戶 会员 成员 사용자 회원`)
	crowdWords  = wordSet(`guest guests gäste гостей invités invitados ospiti gasten people persons personen personnes personas persone viewers`)
	onlineWords = wordSet(`online browsing watching viewing онлайн 在线 在線 온라인`)
)

// limitWords make a number one that somebody set: at most 5 visits.
var limitWords = wordSet(`max maximum min minimum limit limits limited up per most least include includes included allowed need needed required requires capacity quorum annual jusqu'à maximal höchstens
bis máximo hasta límite massimo fino limite máx até limiet tot макс максимум лимит до 上限 最大 最多 最高 限 최대 제한`)

// rateWords stand between how many and in what time.
var (
	rateWords = wordSet(`a an each every / pro im par al por`)
	rateUnits = wordSet(`second minute hour day week month year tag woche monat jahr jour semaine mois an día semana mes año giorno settimana mese anno dia mês ano`)
)

// moneyWords stand beside amounts of money.
var moneyWords = wordSet(`eur usd gbp chf jpy cny euro euros dollar dollars price prices fee fees cost costs preis preise prix
precio precios prezzo prezzi preço preços prijs prijzen pris priser hinta cena ceny cenă preț ár цена цены ціна τιμή fiyat السعر מחיר قیمت harga giá
руб рублей грн лв zł pln kč czk huf ft lei ron sek nok dkk kr inr rub tl brl krw twd 円 元 원 圓 価格 价格 價格 가격`)

// vocabulary is a set of words.
type vocabulary map[string]bool

func wordSet(list string) vocabulary {
	words := vocabulary{}
	for word := range strings.FieldsSeq(list) {
		words[word] = true
	}
	return words
}

// and is the words of both.
func (words vocabulary) and(others vocabulary) vocabulary {
	all := maps.Clone(words)
	maps.Copy(all, others)
	return all
}

// shapeOfText is what a text is made of.
type shapeOfText struct {
	words   int  // letters only
	dates   int  // of those, names of months and days
	links   int  // of those, words that join the parts of a date
	timely  int  // of those, words beside a clock
	ages    int  // of those, words of ages
	money   bool // an amount of money or a share: the price for members is no count of them
	numbers int  // runs of digits
	year    bool // one of them is a year
	clocks  int  // of those, times of day: 12:34
	seconds bool // one of them has seconds
	made    bool // a word says that something was made
	dated   bool // a name of a month or day stands beside a number: you may have 3 days
}

// look reads a text's words and numbers.
func look(s string) shapeOfText {
	r := shaper{}
	for len(s) > 0 {
		first, size := utf8.DecodeRuneInString(s)
		switch {
		case unicode.IsLetter(first):
			end := until(s, func(r rune) bool { return !isLetter(r) })
			r.letters(strings.ToLower(s[:end]))
			s = s[end:]
		case unicode.IsDigit(first):
			end := until(s, func(r rune) bool { return !unicode.IsDigit(r) && r != ':' })
			run := plainDigits(s[:end])
			if pointed := pointedClock(s); pointed > 0 && timeWords[r.last] {
				run, end = strings.ReplaceAll(s[:pointed], ".", ":"), pointed
			}
			r.digits(run)
			s = s[end:]
		default:
			r.behind = false
			r.money = r.money || first == '%' || unicode.Is(unicode.Sc, first)
			s = s[size:]
		}
	}
	return r.shapeOfText
}

// shaper reads the shape of a text.
type shaper struct {
	shapeOfText
	name, number bool   // what the last word was that joins nothing
	behind       bool   // a digit was read last
	last         string // word
}

// letters reads a run of letters: several words where it is joined to the number before it.
func (t *shaper) letters(run string) {
	words := []string{run}
	if first, _ := utf8.DecodeRuneInString(run); isJoined(first) {
		words = times.unjoin(nil, run, t.behind)
	}
	for _, word := range words {
		t.word(word)
	}
	t.behind = false
}

// digits reads a run of digits, or a time of day.
func (t *shaper) digits(run string) {
	t.numbers++
	if isClock(run) {
		t.clocks++
		t.seconds = t.seconds || strings.Count(run, ":") == 2
	}
	t.dated, t.name, t.number, t.behind = t.dated || t.name, false, true, true
	t.year = t.year || isYear(run)
}

// pointedClock is how long the time of day is that a text begins with, as 14.05; 0: it begins with none.
func pointedClock(s string) int {
	end := until(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if clock := strings.TrimRight(s[:end], "."); isClock(strings.ReplaceAll(clock, ".", ":")) {
		return len(clock)
	}
	return 0
}

func until(s string, f func(rune) bool) int {
	if end := strings.IndexFunc(s, f); end >= 0 {
		return end
	}
	return len(s)
}

// word counts a word. Such as join a date part nothing that stands before and behind them.
func (t *shaper) word(w string) {
	t.words++
	if clockWords[w] {
		t.timely++
	}
	t.made = t.made || makeWords[w]
	if times.dates[w] {
		t.dates++
	}
	if times.ages[w] {
		t.ages++
	}
	t.money = t.money || moneyWords[w]
	t.last = w
	if linkWords[w] {
		t.links++
		return
	}
	t.name = times.dates[w]
	t.dated, t.number = t.dated || t.name && t.number, false
}

// isClock tells 9:05 and 23:59:59 from 1:100.
func isClock(s string) bool {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for i, p := range parts {
		if len(p) != 2 && (i > 0 || len(p) != 1) || i == 0 && p > "24" && len(p) == 2 || i > 0 && p > "59" {
			return false
		}
	}
	return true
}
