package content

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"recrawld/models"
)

// TestTimesInAllLanguages holds what differs between two times as they are written in 54 languages: how long ago something was and the time of day
// make no change, a date and a term do.
func TestTimesInAllLanguages(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("testdata/tongues.tsv")
	if err != nil {
		t.Fatal(err)
	}
	languages := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		if line[0] == '#' {
			continue
		}
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		kind, language := cells[0], cells[1]
		languages[language] = true
		want, shapes := Noise, []string{"%s"}
		switch kind {
		case "age":
			shapes = append(shapes, `<a href="/u/1">Jane Roe</a> %s`)
		case "term", "date":
			want = Change
		}
		for _, shape := range shapes {
			before := page("Manual", append(story(5), fmt.Sprintf(shape, cells[2]))...)
			v := judgePages(t, before, page("Manual", append(story(5), fmt.Sprintf(shape, cells[3]))...))
			if v.Kind != want || kind == "date" && v.Reasons != models.ReasonDateOnly {
				t.Errorf("%s: %s %q -> %q is %v for %v, want %v", language, kind, cells[2], cells[3], v.Kind, v.Reasons, want)
			}
		}
	}
	if len(languages) != 54 {
		t.Errorf("%d languages, want 54", len(languages))
	}
}

// TestSayingsOfTimes holds what stands around such times on pages, and what looks like them and is none.
func TestSayingsOfTimes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{"田中さんが3時間前に更新しました", "田中さんが5時間前に更新しました", Noise},
		{"更新：2026年11月27日 14:05", "更新：2026年11月28日 09:41", Noise},
		{"张三 发布于 3天前 · 北京", "张三 发布于 5天前 · 北京", Noise},
		{"约3小时前", "约2天前", Noise},
		{"최종 수정: 3시간전", "최종 수정: 2일전", Noise},
		{"Обновлено 5 мин. назад", "Обновлено 3 ч. назад", Noise},
		{"Обновлено 5мин назад", "Обновлено 3ч назад", Noise},
		{"Publicado há cerca de 3 horas", "Publicado há 2 dias", Noise},
		{"atualizado 3 horas atrás", "atualizado ontem", Noise},
		{"for ca. 3 timer siden", "for ca. 2 dage siden", Noise},
		{"قبل ٣ ساعات", "قبل ٥ ساعات", Noise},
		{"1 234 vues", "1 301 vues", Noise},
		{"1 view", "2 views", Noise},
		{"12 comments", "30 comments", Noise},
		{"1 комментарий", "5 комментариев", Noise},
		{"评论 12 · 赞 34", "评论 15 · 赞 40", Noise},
		{"1,204 users online", "1,180 users online", Noise},
		{"Members: 204", "Members: 206", Noise},
		{"Online now: 12 users, 34 guests", "Online now: 15 users, 40 guests", Noise},
		{"Downloaded 12,345 times", "Downloaded 12,401 times", Noise},
		{"Last seen 5 min ago", "Last seen 2 h ago", Noise},
		{"Page generated in 0.123 seconds", "Page generated in 0.456 seconds", Noise},
		{"Страница создано за 0,12 секунды", "Страница создано за 0,15 секунды", Noise},

		{"3日前までに予約してください", "5日前までに予約してください", Change},
		{"キャンセルは3日前に連絡してください。", "キャンセルは5日前に連絡してください。", Change},
		{"如需取消请于3天前通知我们。", "如需取消请于5天前通知我们。", Change},
		{"En az 3 gün önce haber verin.", "En az 5 gün önce haber verin.", Change},
		{"Vui lòng báo trước 3 ngày", "Vui lòng báo trước 5 ngày", Change},
		{"for 3 timer", "for 5 timer", Change},
		{"保证期30天", "保证期60天", Change},
		{"価格 1,234円", "価格 1,301円", Change},
		{"Цена 1234 руб", "Цена 1301 руб", Change},
		{"20:00 Jam", "21:00 Jam", Change},
		{"An hour 3", "An hour 4", Change},
		{"Download Marlin 1.14.1", "Download Marlin 1.14.2", Change},
		{"下载 Marlin 1.14.1", "下载 Marlin 1.14.2", Change},
		{"Members pay 12 a month", "Members pay 14 a month", Change},
		{"5 users included", "10 users included", Change},
		{"Up to 20 members", "Up to 10 members", Change},
		{"会员 30 天", "会员 60 天", Change},
		{"Stars: 5", "Stars: 4", Change},
		{"Hotel with 3 stars", "Hotel with 4 stars", Change},
		{"Maximum 5 visits", "Maximum 10 visits", Change},
		{"Limit: 100 views", "Limit: 500 views", Change},
		{"up to 5 comments per post", "up to 50 comments per post", Change},
		{"Response time 5 ms", "Response time 3 ms", Change},
		{"Reads 500 MB/s", "Reads 700 MB/s", Change},
		{"Made in 3 weeks", "Made in 5 weeks", Change},
	} {
		before, after := page("Manual", append(story(5), test.from)...), page("Manual", append(story(5), test.to)...)
		if v := judgePages(t, before, after); v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}

// TestCountsInLanguages holds what sites say of how often something was looked at, and what looks like that and is what somebody set.
func TestCountsInLanguages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{"閲覧数 1,234", "閲覧数 1,301", Noise},
		{"1,234次阅读", "1,301次阅读", Noise},
		{"阅读(1234)", "阅读(1301)", Noise},
		{"조회수 1,234회", "조회수 1,301회", Noise},
		{"1 234 просмотра", "1 301 просмотр", Noise},
		{"Просмотров: 1234", "Просмотров: 1301", Noise},
		{"1.234 görüntülenme", "1.301 görüntülenme", Noise},
		{"1,2 тыс. просмотров · 15 часов назад", "1,3 тыс. просмотров · 17 часов назад", Noise},
		{"1.2万次观看", "1.3万次观看", Noise},
		{"9999 次观看", "1万 次观看", Noise},
		{"4.1万 回視聴・3 日前", "4.2万 回視聴・4 日前", Noise},
		{"조회수 3.4만회 · 3일 전", "조회수 3.5만회 · 4일 전", Noise},
		{"1,2 mil visualizações", "1,3 mil visualizações", Noise},
		{"1,2 Mio. Aufrufe", "1,3 Mio. Aufrufe", Noise},
		{"1,234 lượt xem", "1,301 lượt xem", Noise},
		{"ดู 1,234 ครั้ง", "ดู 1,301 ครั้ง", Noise},
		{"阅读次数: 123", "阅读次数: 130", Noise},
		{"您是第 12345 位访客", "您是第 12401 位访客", Noise},
		{"Прочитано 123 раза", "Прочитано 130 раз", Noise},
		{"Lido 123 vezes", "Lido 140 vezes", Noise},
		{"123 mal gelesen", "140 mal gelesen", Noise},
		{"123 kez okundu", "140 kez okundu", Noise},
		{"価格 1.2万円", "価格 1.3万円", Change},
		{"定員 1.2万人", "定員 1.3万人", Change},
		{"Xem 3 ảnh", "Xem 5 ảnh", Change},
		{"3 lượt chơi miễn phí", "5 lượt chơi miễn phí", Change},
		{"Просмотр 12 каналов", "Просмотр 24 каналов", Change},
		{"Täglich 3 mal lüften", "Täglich 5 mal lüften", Change},
	} {
		before, after := page("Manual", append(story(5), test.from)...), page("Manual", append(story(5), test.to)...)
		if v := judgePages(t, before, after); v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}

// TestTermsAreNoAges holds that until when something is possible, or from when on, is no age, though it is written as one in languages that say
// "before" for "ago", and that no date is one, though it is counted in days, months and years.
func TestTermsAreNoAges(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{
		"12月5日前报名":                                            "12月10日前报名",
		"请于5日前提交申请":                                           "请于8日前提交申请",
		"请在12月5日之前完成注册":                                       "请在12月8日之前完成注册",
		"5月前开放":                                               "9月前开放",
		"2026年前完成":                                            "2027年前完成",
		"入住3天前可免费取消":                                          "入住7天前可免费取消",
		"3日前から50%":                                            "7日前から50%",
		"出発の3日前以降":                                            "出発の7日前以降",
		"キャンセル料：3日前より50%":                                     "キャンセル料：7日前より50%",
		"12月5日前に更新":                                           "12月9日前に更新",
		"3일전까지 무료 취소":                                         "7일전까지 무료 취소",
		"체크인 3일 전 무료 취소":                                      "체크인 7일 전 무료 취소",
		"12월 5일 전 신청":                                         "12월 10일 전 신청",
		"3 วันก่อนเดินทาง":                                    "7 วันก่อนเดินทาง",
		"3 gün önce iptal":                                    "7 gün önce iptal",
		"Kalkıştan 3 saat önce":                               "Kalkıştan 2 saat önce",
		"3 ngày trước khi đi":                                 "7 ngày trước khi đi",
		"यात्रा से 3 दिन पहले":                                "यात्रा से 7 दिन पहले",
		"3 روز قبل از سفر":                                    "7 روز قبل از سفر",
		"قبل 3 أيام من السفر":                                 "قبل 7 أيام من السفر",
		"Há 3 horas de estacionamento grátis":                 "Há 5 horas de estacionamento grátis",
		"Tasu 3 päeva eest.":                                  "Tasu 5 päeva eest.",
		"주 3회 운영":                                             "주 5회 운영",
		"Paket uključuje 3 pregleda":                          "Paket uključuje 5 pregleda",
		"Plano com 5 acessos":                                 "Plano com 9 acessos",
		`<time datetime="2026-12-05">2026年12月5日</time>`:       `<time datetime="2026-12-09">2026年12月9日</time>`,
		`<time datetime="2026-12-05">12月5日</time>`:            `<time datetime="2026-12-09">12月9日</time>`,
		`<time datetime="2026-12-05">5日</time>`:               `<time datetime="2026-12-09">9日</time>`,
		`<time datetime="2026-12-05">12월 5일</time>`:           `<time datetime="2026-12-09">12월 9일</time>`,
		`<time datetime="2026-12-05">ngày 5 tháng 12</time>`:  `<time datetime="2026-12-09">ngày 9 tháng 12</time>`,
		`<time datetime="2026-12-05">5 tháng 12, 2026</time>`: `<time datetime="2026-12-09">9 tháng 12, 2026</time>`,
		`<time datetime="2026-12-05">05.12.2026 г.</time>`:    `<time datetime="2026-12-09">09.12.2026 г.</time>`,
		`<time datetime="2026-12-05">2026 год</time>`:         `<time datetime="2027-12-05">2027 год</time>`,
	} {
		v := judgePages(t, page("Manual", append(story(5), from)...), page("Manual", append(story(5), to)...))
		if v.Kind != Change {
			t.Errorf("%q -> %q is %v for %v, want a change", from, to, v.Kind, v.Reasons)
		}
	}
}

// TestAgesThatGrewTooMuch holds that what says "before" for "ago" is a term where it names an earlier moment than the time before.
func TestAgesThatGrewTooMuch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{"3日前", "4日前", Noise},
		{"3日前", "1時間前", Noise},
		{"田中さんが3日前に更新", "田中さんが4日前に更新", Noise},
		{"3日前", "7日前", Change},
		{"3일 전", "7일 전", Change},
		{"3 days ago", "7 days ago", Noise}, // nothing else says so
	} {
		before, after := page("Manual", append(story(5), test.from)...), page("Manual", append(story(5), test.to)...)
		v := Judge(Case{Before: read(t, before), After: read(t, after), Threshold: threshold, Held: noon.Add(-day), Now: noon})
		if v.Kind != test.want {
			t.Errorf("a day later %q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}

// TestSpacesBetweenScripts holds that a space more where two scripts meet is how a text is set, and no time.
func TestSpacesBetweenScripts(t *testing.T) {
	t.Parallel()
	v := judgePages(t, page("Manual", append(story(5), "VIMリファレンス by Jane")...), page("Manual", append(story(5), "VIM リファレンス by Jane")...))
	if v.Reasons != models.ReasonMarkupOnly {
		t.Errorf("%v for %v, want markup-only", v.Kind, v.Reasons)
	}
}

// TestOtherDocumentsWithoutSpaces holds that what came in the place of a text is told from that text edited, in a script without spaces, where two
// letters that follow each other say little: です, ます, こと.
func TestOtherDocumentsWithoutSpaces(t *testing.T) {
	t.Parallel()
	library := "図書館の利用案内です。開館時間は午前九時から午後七時までです。貸出には利用者カードが必要です。本を借りることができるのは市内に住んでいる方です。" +
		"返却が遅れると次の貸出ができなくなることがあります。予約した本は一週間以内に受け取ってください。館内では静かにお過ごしください。"
	garden := "植物園の見学についてのお知らせです。園内は自由に歩くことができます。温室に入るには入場券が必要です。写真を撮ることはできますが、花を摘むことはできません。" +
		"団体で見学する方は前日までに電話で申し込んでください。雨の日は休園となることがあります。駐車場は正門の前にあります。"
	edited := strings.Replace(strings.Replace(library, "午後七時", "午後八時半", 1), "館内では静かに", "閲覧室では、ほかの方のために静かに", 1)
	view := func(text string) *View { return read(t, page("案内", text)) }
	if !other(view(library), view(garden)) || !other(view(garden), view(library)) {
		t.Error("a garden is a library")
	}
	if other(view(library), view(edited)) {
		t.Error("a library with other hours is no library any more")
	}
}

// TestDigits holds that the digits of all scripts write their numbers, also where those of several stand side by side in Unicode.
func TestDigits(t *testing.T) {
	t.Parallel()
	for r := range unicode.MaxRune {
		if !unicode.IsDigit(r) {
			continue
		}
		want := int(r-'0') % 10
		if r > unicode.MaxASCII {
			want = int(norm.NFKC.String(string(r))[0] - '0')
			if !isASCII(norm.NFKC.String(string(r))) {
				continue // one without a compatible form
			}
		}
		if got := digitOf(r); got != want {
			t.Errorf("%q is %d, want %d", r, got, want)
		}
	}
	if n, is := number("２０２６"); n != 2026 || !is {
		t.Errorf("２０２６ is %d, %v", n, is)
	}
	if got := plainDigits("١٤:٠٥"); got != "14:05" {
		t.Errorf("١٤:٠٥ is %q", got)
	}
}

// TestServicesAreNoErrors holds that titles of pages about upkeep, inspections and the like are no sayings of a site that is down.
func TestServicesAreNoErrors(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"网站维护服务", "系统维护与支持", "系統維護服務", "자동차 서비스 점검", "Специализирани в поддръжка на компютри", "Gespecialiseerd in onderhoud van tuinen",
		"Specializați în mentenanță industrială", "Stručnjaci u održavanju zgrada", "מומחים בתחזוקה של מבנים",
		"Expert en maintenance industrielle", "Expertos en mantenimiento", "Esperti in manutenzione", "Especialistas em manutenção"} {
		v := First(Case{Page: &PageMemory{}, Host: &HostMemory{}, After: read(t, page(title, "We do that for you.")), URL: mustParse(t, "https://example.org/a"), Now: noon, Threshold: threshold})
		if v.Kind == Transient {
			t.Errorf("%q is %v", title, v.Class)
		}
	}
}

// TestWordsOf holds where words are parted that no space stands between.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"updated 3h ago":       "updated 3h ago",
		"3時間前に更新":              "3 時間 前 に更新",
		"更新：3時間前。":             "更新： 3 時間 前。",
		"2026年11月27日金曜日":       "2026 年 11 月 27 日 金曜日",
		"日本の3年":                "日本の 3 年",
		"阅读(1,234)":            "阅读 (1,234)",
		"3시간전에":                "3 시간 전 에",
		"5мин назад":           "5 мин назад",
		"วันศุกร์ที่ 27":       "วันศุกร์ ที่ 27",
		"日本語":                  "日本語",
		"v1.2 α3":              "v1.2 α3",
		"Ausgabe\u00a03 ©2026": "Ausgabe 3 ©2026",
	} {
		if got := strings.Join(wordsOf(text), " "); got != want {
			t.Errorf("words of %q are %q, want %q", text, got, want)
		}
	}
	if got := slices.Collect(eachWord("犬 and 猫の木x")); !slices.Equal(got, []string{"犬", "and", "猫", "の", "木", "x"}) {
		t.Errorf("each word: %q", got)
	}
}

// TestPagesWithoutContentInAllLanguages holds that each saying of the list makes an error of a page of which there is no copy: one that is not
// written in lower case, or not in one piece, would be found nowhere.
func TestPagesWithoutContentInAllLanguages(t *testing.T) {
	t.Parallel()
	kinds := map[string]models.ErrorClass{"gone": models.ErrorPage, "broken": models.ErrorPage, "blocked": models.BlockPage, "login": models.LoginWall}
	for section, class := range kinds {
		if len(said[section]) < 30 {
			t.Errorf("%d sayings of %s", len(said[section]), section)
		}
		for _, saying := range said[section] {
			shown := strings.ToUpper(saying[:1]) + saying[1:]
			if r := []rune(saying); r[0] >= 0x80 {
				shown = strings.ToUpper(string(r[:1])) + string(r[1:])
			}
			form := ""
			if section == "login" {
				form = "<form><input type=password></form>"
			}
			v := First(Case{Page: &PageMemory{}, Host: &HostMemory{}, After: read(t, page(shown, "Sorry.")+form), URL: mustParse(t, "https://example.org/a"), Now: noon, Threshold: threshold})
			if v.Kind != Transient || v.Class != class {
				t.Errorf("%s: %q is %v, %v", section, shown, v.Kind, v.Class)
			}
		}
	}
	for section := range said {
		for _, one := range said[section] {
			if one != strings.ToLower(one) || strings.TrimSpace(one) != one || len(one) < 2 {
				t.Errorf("%s: %q", section, one)
			}
		}
	}
}
