package content

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// viewWords stand beside, or above, numbers that grow by being looked at: they say nothing of what a page is about, wherever on it they
// stand. What somebody wrote, as replies, is news, and so may be hits and visits, of a team and to a country.
var viewWords = wordSet(`view views viewed vues aufrufe zugriffe visualizaciones visualizzazioni visualizações weergaven bekeken
katselukertaa katselua wyświetleń wyświetlenia odsłon odsłony zobrazení zhlédnutí megtekintés vizualizări afișări преглеждания
просмотр просмотра просмотров прочтений перегляд перегляди переглядів προβολές görüntülenme görüntüleme okunma مشاهدة مشاهدات צפיות
dilihat просмотрено просмотры wyświetlono okundu izlendi 閲覧数 閲覧 回閲覧 再生回数 回視聴 回再生 アクセス数 阅读 阅读数 阅读量 浏览 浏览量 浏览次数 浏览数 阅读次数 点击次数 访问次数 观看次数 播放次数 总访问量 总浏览量 本站总访问量 位访客 访问量 点击量 点击数 人阅读 次阅读 次浏览 次观看 次播放 播放量
閱讀 瀏覽 瀏覽數 人氣 觀看 次觀看 조회 조회수`)

// readWords say the same with a word for how often, 123 mal gelesen, and much else without one: Windows Vista 7.
var readWords = wordSet(`read lu vu leído visto vista lido lida letto letta gelesen xem ดู прочитано przeczytano läst lest`)

// postWords stand with a colon before how much somebody has written by now, as forums say it of the author beside each post, and threadWords before how
// much of that began a topic: alone they are of what else has threads, and topics. Where something new stands in a list of boards or topics, more than
// that number changes.
var (
	postWords = wordSet(`posts beiträge messages mensajes messaggi mensagens berichten сообщений сообщения wpisy posty příspěvky inlägg indlæg innlegg viestit hozzászólások mesaje повідомлень повідомлення
gönderiler mesajlar 投稿数 投稿 帖子 发帖 發文 글`)
	threadWords = wordSet(`threads themen темы тем wątki temas subiecte 主题 主題 スレッド 주제`)
)

// fewPosts is by how much it grows from visit to visit at most, or a tenth of it: what grows faster is what a tariff has, rather.
const fewPosts = 3

// fewLost is how much somebody has written at least of whom some of it was deleted, rather than that a tariff has less.
const fewLost = 9

// table is a table that is open, as far as its columns have names.
type table struct {
	column  int    // of the cell under way; -1: the row has none yet
	counted uint64 // a bit for each of the first columns: how often something was looked at
	spans   bool   // a cell takes several columns: which is which is not known
}

// mostColumns is how many columns of a table are told apart.
const mostColumns = 64

// tabulate follows the cells of the innermost table.
func (r *reader) tabulate(name string, attrs *attributes) {
	switch name {
	case "table":
		r.tables = append(r.tables, table{column: -1})
		return
	case "tr", "td", "th":
	default:
		return
	}
	if len(r.tables) == 0 {
		return
	}
	t := &r.tables[len(r.tables)-1]
	if name == "tr" {
		t.column = -1
		return
	}
	t.column++
	t.spans = t.spans || attrs.spans
}

// untabulate ends a cell, a row or a table; what stands in a cell at the head of a column names it.
func (r *reader) untabulate(e *element) {
	if len(r.tables) == 0 {
		return
	}
	t := &r.tables[len(r.tables)-1]
	switch {
	case e.name == "table":
		r.tables = r.tables[:len(r.tables)-1]
	case e.name == "th" && t.column >= 0 && t.column < mostColumns && viewWords[bareWord(string(r.text[min(e.from, len(r.text)):]))]:
		t.counted |= 1 << t.column
	}
}

// counts tells whether what is read stands in a column of how often things were looked at.
func (r *reader) counts() bool {
	if len(r.tables) == 0 {
		return false
	}
	t := &r.tables[len(r.tables)-1]
	return !t.spans && t.column >= 0 && t.column < mostColumns && t.counted&(1<<t.column) != 0
}

// looked tells whether all that differs of a pair is how often something was looked at, which only grows: in a column of such numbers, or
// in a line where each stands beside a word that says so, whatever ages stand there too; or how much somebody has written, which is less where some
// of it was deleted.
func (p *pair) looked() bool {
	if !p.rewritten() || !slices.Equal(p.before.Links, p.after.Links) {
		return false
	}
	if p.before.counted && p.after.counted {
		return isCount(p.before.Text) && isCount(p.after.Text)
	}
	was, is, same := p.counted()
	if !same {
		return false
	}
	seen, posts, threads, began := false, false, false, p.before.began && p.after.began
	for i := range is {
		if was[i] == is[i] || viewWords.both(was[i], is[i]) || oftenWords.both(was[i], is[i]) { // 1 view, 2 views
			continue
		}
		from, to, label := countOf(was[i]), countOf(is[i]), ""
		if i > 0 && strings.HasSuffix(is[i-1], ":") {
			label = bareWord(is[i-1])
		}
		switch few, grows := isFew(from, to), to > from; {
		case from < 0 || to < 0 || to == from:
			return false
		case grows && (viewWords.beside(is, i) || isRead(is, i)):
			seen = true
		case !few || !grows && from <= fewLost && !began:
			return false
		case postWords[label], began:
			posts = true
		case threadWords[label]:
			threads = true
		default:
			return false
		}
	}
	return posts || seen && !threads
}

// counted is the words of both blocks of a pair, without their ages and with their numbers in one piece; false: they are not as many, or tell of
// money, of a limit, or of how many in what time.
func (p *pair) counted() (was, is []string, same bool) {
	was, is = wholeNumbers(wordsOf(ageless(p.before.Text))), wholeNumbers(wordsOf(ageless(p.after.Text)))
	return was, is, len(was) == len(is) && !look(p.after.Text).money && !limitWords.in(is) && !isRate(is)
}

// counts tells whether all that differs in a short line is how many visitors did something, each number beside a word for that. A version is
// no number of downloads.
func (p *pair) counts() bool {
	if !p.rewritten() || !slices.Equal(p.before.Links, p.after.Links) {
		return false
	}
	was, is, same := p.counted()
	if !same || look(strings.Join(is, " ")).words > maxCounterWords {
		return false
	}
	differs := false
	for i := range is {
		if was[i] == is[i] || countWords.both(was[i], is[i]) || oftenWords.both(was[i], is[i]) {
			continue
		}
		differs = true
		switch from, to := countOf(was[i]), countOf(is[i]); {
		case from < 0 || to < 0:
			return false
		case max(from, to) <= mostStars && starWords.beside(is, i):
			return false
		case countWords.beside(is, i), isRead(is, i), memberWords.beside(is, i) && (isFew(from, to) || isEnclosed(is[i])):
		case onlineWords.in(is) && (memberWords.beside(is, i) || crowdWords.beside(is, i)):
		default:
			return false
		}
	}
	return differs
}

// maxCounterWords is how many words stand beside a counter at most.
const maxCounterWords = 7

// A hotel has up to five stars, and so has what was judged.
var starWords = wordSet(`star stars`)

const mostStars = 5

// isFew tells whether a count differs by little.
func isFew(from, to float64) bool { return math.Abs(to-from) <= max(fewPosts, from/10) }

// in tells whether a text has one of some words.
func (words vocabulary) in(text []string) bool {
	return slices.ContainsFunc(text, func(w string) bool { return words[bareWord(w)] })
}

// both tells whether two words are among some, as one word is that stands beside 1 and beside 2.
func (words vocabulary) both(one, other string) bool {
	return words[bareWord(one)] && words[bareWord(other)]
}

// beside tells whether one of some words stands behind a number of a text, or before it where that counts nothing else: Likes 12, Reads 500 MB/s.
// What says of what time it is, or that it is a number, may stand between: Visits today 12 total 345.
func (words vocabulary) beside(text []string, at int) bool {
	next := ""
	if at+1 < len(text) {
		next = text[at+1]
	}
	if words[bareWord(next)] || oftenWords[bareWord(next)] && at+2 < len(text) && words[bareWord(text[at+2])] {
		return true
	}
	label := labelOf(text, at)
	if label < 0 || !words[bareWord(text[label])] {
		return false
	}
	first, _ := utf8.DecodeRuneInString(next)
	return !isLetter(first) || strings.HasSuffix(text[at-1], ":") ||
		countWords[bareWord(next)] || memberWords[bareWord(next)] || oftenWords[bareWord(next)] || spanWords[bareWord(next)]
}

// labelOf is where the word is that a number of a text stands behind, but for those of spanWords, other numbers that are no years, and a colon; -1: none is.
func labelOf(text []string, at int) int {
	for at--; at >= 0; at-- {
		if word := bareWord(text[at]); word != "" && !spanWords[word] && (isYear(word) || !isCount(text[at])) {
			break
		}
	}
	return at
}

// isRead tells a number that says how often something was read: 123 mal gelesen, visto 123 veces, lượt xem: 123.
func isRead(text []string, at int) bool {
	word := func(by int) string {
		if at+by < 0 || at+by >= len(text) {
			return ""
		}
		return bareWord(text[at+by])
	}
	return oftenWords[word(1)] && (readWords[word(-1)] || readWords[word(2)]) || readWords[word(-1)] && oftenWords[word(-2)]
}

// isEnclosed tells the number behind what can be done, which is how often it was: Download (123).
func isEnclosed(word string) bool {
	return strings.HasPrefix(word, "(") && strings.HasSuffix(word, ")")
}

// isRate tells a text that says how many in what time, which somebody set: 30 downloads a month.
func isRate(text []string) bool {
	for i := 1; i < len(text); i++ {
		if rateWords[strings.ToLower(text[i-1])] && rateUnits[bareWord(text[i])] {
			return true
		}
	}
	return false
}

// oftenWords say how often: downloaded 12 times, 123 mal gelesen.
var oftenWords = wordSet(`times mal fois veces volte vezes keer gånger gange ganger kertaa razy раз раза разів kez lần lượt ครั้ง kali 回 次 번 회`)

// scales are what large numbers are cut short by, before or without a space: 1.2k, 1,2 mil visualizações, 1.2万次观看.
var scales = map[string]float64{"k": 1e3, "m": 1e6, "тыс": 1e3, "тис": 1e3, "млн": 1e6, "mil": 1e3, "mio": 1e6, "mln": 1e6, "tys": 1e3, "tis": 1e3, "bin": 1e3, "mn": 1e6,
	"tr": 1e6, "rb": 1e3, "jt": 1e6, "千": 1e3, "万": 1e4, "萬": 1e4, "億": 1e8, "亿": 1e8, "천": 1e3, "만": 1e4, "억": 1e8}

// cutScale parts a word behind a number into what cuts the number short and the rest; false: nothing does.
func cutScale(word string) (scale, rest string, is bool) {
	if first, size := utf8.DecodeRuneInString(word); isJoined(first) {
		return word[:size], word[size:], scales[word[:size]] > 0
	}
	scale = strings.ToLower(bareWord(word))
	return scale, "", scales[scale] > 0
}

// wholeNumbers puts numbers together that are written in groups of three digits with spaces between, 1 234 vues, and those that are cut short.
func wholeNumbers(words []string) []string {
	whole := words[:0:0]
	for i, word := range words {
		if last := len(whole) - 1; last >= 0 && len(bareWord(word)) == 3 && isDigits(bareWord(word)) && isDigits(strings.TrimLeft(words[i-1], "(")) && len(words[i-1]) <= 4 {
			whole[last] += word
			continue
		} else if scale, rest, is := cutScale(word); is && last >= 0 && isCount(whole[last]) {
			whole[last] += scale
			if rest == "" {
				continue
			}
			word = rest
		}
		whole = append(whole, word)
	}
	return whole
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isCount tells a text that is one count: 2,151 or 3.2k.
func isCount(s string) bool { return countOf(s) >= 0 }

// countOf is the number that a word writes; -1: it writes none.
func countOf(s string) float64 {
	s = strings.ToLower(strings.NewReplacer(",", "", "(", "", ")", "", ":", "", " ", "").Replace(s))
	times := 1.0
	if digits := strings.TrimRightFunc(s, unicode.IsLetter); digits != "" && scales[s[len(digits):]] > 0 {
		s, times = digits, scales[s[len(digits):]]
	}
	n, err := strconv.ParseFloat(strings.TrimRight(s, "."), 64)
	if err != nil || n < 0 {
		return -1
	}
	return n * times
}
