package content

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"recrawld/recrawl/canon"
)

var mediaTypes = []string{"text/html", "application/xhtml+xml", "text/plain", "application/json", "application/rss+xml",
	"text/xml", "application/pdf", "", "text/html; charset=utf-16"}

func FuzzView(f *testing.F) {
	for i, body := range []string{page("Terms", story(3)...), `{"a":[1,{"b":null}]}`, "<rss><item><title>x</title></item></rss>",
		"<p>a<td>b</table></p></div>", "<a href='#'><svg><p></a>", "%PDF", "\xff\xfe<\x00p\x00"} {
		f.Add([]byte(body), i)
	}
	rules, err := Compile([]string{"main", "p > b"}, []string{"[hidden]", "div:last-child"}, []string{`\d+`})
	if err != nil {
		f.Fatal(err)
	}
	at := mustParse(f, "https://example.org/a/")
	f.Fuzz(func(t *testing.T, body []byte, media int) {
		kind := mediaTypes[uint(media)%uint(len(mediaTypes))]
		for _, r := range []*Rules{nil, rules} {
			v := Read(body, kind, at, r)
			sound(t, v, len(body))
			cut(t, v, 1+int(uint(media)/uint(len(mediaTypes))%400))
		}
	})
}

// sound holds what is true of every View.
func sound(t *testing.T, v *View, size int) {
	t.Helper()
	runes := 0
	for i := range v.Blocks() {
		b := &v.Blocks()[i]
		runes += utf8.RuneCountInString(b.Text)
		if !utf8.ValidString(b.Text) || b.Text != fold(b.Text) || b.Level > 6 {
			t.Fatalf("block %d: %q of level %d", i, b.Text, b.Level)
		}
		if b.linkRunes < 0 || b.linkRunes > b.runes || int(b.node) >= len(v.nodes) {
			t.Fatalf("block %d: %d runes, %d of them in links, in node %d of %d", i, b.runes, b.linkRunes, b.node, len(v.nodes))
		}
		if strings.Count(v.Path(b), "/") >= maxPathNames+strings.Count(v.nodes[b.node].name, "/") {
			t.Fatalf("path %q", v.Path(b))
		}
	}
	for i := range v.nodes {
		if n := &v.nodes[i]; n.first > n.last || int(n.last) > len(v.blocks) || i > 0 && int(n.parent) >= i {
			t.Fatalf("node %d of %d: %+v", i, len(v.nodes), *n)
		}
	}
	if runes > 4*size+64 && v.Kind == HTML {
		t.Fatalf("%d runes of text in %d bytes", runes, size)
	}
}

// cut holds what is true of the chunks of every View.
func cut(t *testing.T, v *View, size int) {
	t.Helper()
	all, said, told := 0, 0, 0
	for i := range v.Blocks() {
		all += utf8.RuneCountInString(v.Blocks()[i].Text) + 1
	}
	ids := make(map[string]bool)
	for _, c := range v.Chunks(size) {
		n := utf8.RuneCountInString(c.Text)
		said += n
		for _, h := range c.Headings {
			if told += len(h); !utf8.ValidString(h) || utf8.RuneCountInString(h) > longestHeading {
				t.Fatalf("heading %q", h)
			}
		}
		if ids[c.ID] || !utf8.ValidString(c.Text) || n > size+size/2 || n == 0 && len(c.Headings) == 0 {
			t.Fatalf("chunk %s of %d runes, want about %d: %q under %q", c.ID, n, size, c.Text, c.Headings)
		}
		ids[c.ID] = true
	}
	if said > all || told > mostHeadings {
		t.Fatalf("%d runes in chunks of a page of %d, under %d bytes of headings", said, all, told)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add([]byte(page("Terms", story(3)...)), []byte(page("Terms", story(4)...)), []byte(nil), []byte(nil))
	f.Add([]byte("<p>12:30"), []byte("<title>Error</title>"), (&PageMemory{seen: 1}).Encode(), (&HostMemory{missing: []shape{{}}}).Encode())
	f.Add([]byte(""), []byte("<p hidden>a"), []byte{1}, []byte{1})
	at := mustParse(f, "https://example.org/a/")
	f.Fuzz(func(t *testing.T, before, after, pageMemory, hostMemory []byte) {
		c := Case{Before: Read(before, "text/html", at, nil), After: Read(after, "text/html", at, nil), Page: DecodePage(pageMemory),
			Host: DecodeHost(hostMemory), Threshold: threshold, Now: noon, PageID: 7, URL: at}
		for range 3 {
			v := Judge(c)
			if v.Significance < 0 || v.Significance > 1 || len(v.Blocks) > maxChanges {
				t.Fatalf("significance %v, %d blocks", v.Significance, len(v.Blocks))
			}
			if same := bytes.Equal(before, after); same != (v.Kind == Same) {
				t.Fatalf("equal bytes %v, verdict %v", same, v.Kind)
			}
			if v.Kind == Change && v.Reasons == 0 {
				t.Fatal("a change for no reason")
			}
		}
		if a, b := c.Page.Encode(), DecodePage(c.Page.Encode()).Encode(); !bytes.Equal(a, b) || len(a) > MaxPageMemory {
			t.Fatalf("page memory of %d bytes, then %d", len(a), len(b))
		}
		if a, b := c.Host.Encode(), DecodeHost(c.Host.Encode()).Encode(); !bytes.Equal(a, b) || len(a) > MaxHostMemory {
			t.Fatalf("host memory of %d bytes, then %d", len(a), len(b))
		}
		Every(c.Before, c.After)
	})
}

// FuzzWords holds that no letter is lost where words are parted, whatever they are made of, and that ages, dates and moments take words that
// are there.
func FuzzWords(f *testing.F) {
	for _, text := range []string{"3時間前に更新", "12月5日前", "há 3 dias de", "3.5 일 전까지", "قبل ٣ ساعات", "\xff3日\x80前", "…。、", "", " 2026年 ", "kl. 14.05.", "5ч назад", "(5)天前"} {
		f.Add(text, "1 day ago")
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		words := wordsOf(one)
		if got, want := strings.Join(words, ""), strings.Join(strings.Fields(one), ""); got != want {
			t.Fatalf("%q is parted into %q", one, words)
		}
		for i := range words {
			for _, alone := range []bool{false, true} {
				if n, _ := (tells{one, alone}).ageAt(words, i); n < 0 || n > len(words)-i {
					t.Fatalf("%q: an age of %d words at %d", words, n, i)
				}
			}
			if _, n := dateAt(words[i:], noon); n < 0 || n > len(words)-i {
				t.Fatalf("%q: a date of %d words at %d", words, n, i)
			}
		}
		p := pair{before: &Block{Text: one}, after: &Block{Text: other}}
		p.kind()
		p.transientText(span{noon.Add(-day), noon})
		labelUnit(one)
		if plain := plainDigits(one); strings.ContainsFunc(plain, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) }) {
			t.Fatalf("%q has digits of another script left", plain)
		}
		for range eachWord(one) {
		}
	})
}

// FuzzRemade holds that whatever two files are, the one is made anew of the other as the other is of the one.
func FuzzRemade(f *testing.F) {
	file := func(text string) []byte {
		return []byte("%PDF-1.7\n1 0 obj <</Kids[2 0 R]/M(D:" + text + ")>> endobj 2 0 obj <</Length 3>>stream\n" + text + "\nendstream endobj\n" +
			"xref\n0 1\n0000000000 65535 f\ntrailer <</Root 1 0 R>> startxref 9 %%EOF")
	}
	f.Add(file("(nut)"), file("(nu\\)t"))
	f.Add(file("/ABCDEF+A"), file("<</A 1 0 R>>"))
	f.Add([]byte("PK\x03\x04"), []byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		if Remade(one, other) != Remade(other, one) {
			t.Fatal("of two files one alone is the other, made anew")
		}
	})
}

func FuzzMemory(f *testing.F) {
	memory := &PageMemory{}
	for i := range uint32(3) {
		memory.changed(uint64(i), i, i+1, i == 1)
	}
	memory.seen = 9
	f.Add(memory.Encode())
	host := &HostMemory{moves: []move{{token: 1, page: 2, at: 3, main: 4}}}
	host.learn(1, Template, "a/b", "sample", 7, 100)
	host.withdrawLater(7, 100)
	f.Add(host.Encode())
	host.shows(1, &View{Title: "Maintenance"}, true, sighting{2, 3, 100})
	f.Add(host.Encode())
	memory.absent.add(1, true, 100, 0)
	f.Add(memory.Encode())
	orders := &Orders{}
	orders.Set(Order{Key: 3, Noise: true, At: noon})
	f.Add(orders.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, again := range [][2][]byte{
			{DecodePage(b).Encode(), DecodePage(DecodePage(b).Encode()).Encode()},
			{DecodeHost(b).Encode(), DecodeHost(DecodeHost(b).Encode()).Encode()},
			{DecodeOrders(b).Encode(), DecodeOrders(DecodeOrders(b).Encode()).Encode()},
		} {
			if !bytes.Equal(again[0], again[1]) {
				t.Fatalf("%x, read and written again %x", again[0], again[1])
			}
		}
	})
}

// TestMemoriesAreBounded fills them with more than they hold.
func TestMemoriesAreBounded(t *testing.T) {
	t.Parallel()
	memory, host := &PageMemory{seen: 1 << 31, replaced: 1 << 63}, &HostMemory{}
	for i := range uint64(5000) {
		memory.changed(mix(i), uint32(mix(i)), uint32(mix(i+1)), false)
		memory.remember(mix(i))
		for p := range int64(10) {
			host.learn(mix(i), Template, strings.Repeat("path/", 50), strings.Repeat("é", 100), int64(mix(i)>>1)+p, 1<<40)
		}
		host.moves = append(host.moves, move{mix(i), int64(mix(i) >> 1), 1 << 40, mainPrint(mix(i))})
		host.withdrawLater(int64(mix(i)>>1), 1<<40)
		for p := range int64(10) {
			host.Tells(Family(mix(i)), int64(mix(i)>>1)+p, true, strings.Repeat("p", maxPlainParams))
			host.went(mix(i), 0, 1<<40)
			host.stays[len(host.stays)-1].add(printOf(int64(mix(i)>>1) + p))
		}
		for p := range uint32(maxShowing) {
			host.shows(mix(i%maxStandIns), &View{Title: strings.Repeat("é", 100)}, true, sighting{1<<31 + p, 1<<32 - 1, 1 << 40})
		}
	}
	memory.absent = row{look: 1, alike: maxRow, all: maxRow, large: true, since: 1 << 40, first: 1 << 40, last: 1 << 40, stood: 1 << 40, whole: 1 << 40}
	host.moves = host.moves[len(host.moves)-maxMoves:]
	if n := len(memory.Encode()); n > MaxPageMemory || n < MaxPageMemory/4 {
		t.Errorf("a page's memory takes %d bytes", n)
	}
	if n := len(host.Encode()); n > MaxHostMemory || n < MaxHostMemory/4 {
		t.Errorf("a host's memory takes %d bytes", n)
	}
	if got := DecodePage(memory.Encode()); len(got.slots) != maxSlots || got.slots[0].key != mix(4500) {
		t.Errorf("%d places are kept, the first of them %x", len(got.slots), got.slots[0].key)
	}
	if got := DecodeHost(host.Encode()); len(got.regions) != maxRegions || len(got.regions[0].pages) != maxPages {
		t.Errorf("%d regions are kept", len(got.regions))
	} else if len(got.families) != maxFamilies || !got.LeavesAside(Family(mix(maxFamilies-1))) {
		t.Errorf("%d families are kept", len(got.families))
	}
}

// TestDamagedMemoriesAreEmpty cuts and alters them everywhere.
func TestDamagedMemoriesAreEmpty(t *testing.T) {
	t.Parallel()
	memory := &PageMemory{seen: 5}
	memory.changed(1, 2, 3, false)
	whole := memory.Encode()
	for i := range whole {
		altered := slices.Clone(whole)
		altered[i] ^= 0x40
		if DecodePage(altered).seen != 0 || DecodePage(whole[:i]).seen != 0 {
			t.Errorf("damaged at byte %d it still says something", i)
		}
	}
}

// TestHostileBodiesAreBounded reads bodies that are made to take long.
func TestHostileBodiesAreBounded(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, body := range map[string]string{
		"nested":       repeat("<div>"),
		"nested lists": repeat("<ul><li>"),
		"formatting":   repeat("<b><i>"),
		"fonts": func() string {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				b.WriteString("<font size=" + string(rune('a'+i%26)) + ">x<p>y")
			}
			return b.String()
		}(),
		"end tags":   repeat("</p></div>"),
		"one line":   repeat("word "),
		"one word":   repeat("x"),
		"nothing":    repeat("\x00"),
		"links":      repeat("<a href=/a>x</a>"),
		"attributes": "<p " + repeat("a=b "),
		"class":      "<p class='" + repeat("nav ") + "'>x",
		"comment":    "<!--" + repeat("-"),
		"entities":   repeat("&amp"),
		"tables":     repeat("<table><tr><td>"),
		"less than":  repeat("<"),
		"script":     "<script>" + repeat("<!--<script"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Read([]byte(body), "text/html", canon.URL{}, nil)
			w := Read([]byte(body+"<p>x"), "text/html", canon.URL{}, nil)
			Judge(Case{Before: v, After: w, Threshold: threshold, Now: noon})
		})
	}
	for media, body := range map[string]string{"application/json": repeat("["), "text/json": `{"a":` + repeat("[1,"), "text/xml": repeat("<a>"),
		"application/rss+xml": "<rss>" + repeat("<item>"), "application/atom+xml": "<feed><entry>" + repeat("<content>x</content>"), "text/plain": repeat("x\n")} {
		t.Run(media, func(t *testing.T) {
			t.Parallel()
			Read([]byte(body), media, canon.URL{}, nil)
		})
	}
}
