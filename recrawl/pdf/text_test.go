package pdf

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// drawn is a file of pages, each drawn by some instructions with the fonts F1 (one byte a letter), F2 (two), F3 (which tells no widths) and F4 (by names
// of glyphs), and the form X.
func drawn(pages ...string) []byte {
	var kids, objects strings.Builder
	for i, page := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 20+2*i)
		fmt.Fprintf(&objects, "%d 0 obj<</Type/Page/Parent 2 0 R/Contents[%d 0 R]>>endobj\n", 20+2*i, 21+2*i)
		fmt.Fprintf(&objects, "%d 0 obj<</Length %d>>stream\n%s\nendstream endobj\n", 21+2*i, len(page), page)
	}
	return []byte("%PDF-1.4\n1 0 obj<</Pages 2 0 R>>endobj\n" +
		"2 0 obj<</Kids[" + kids.String() + "2 0 R]/Resources<</Font<</F1 3 0 R/F2 4 0 R/F3 5 0 R/F4 9 0 R>>/XObject<</X 8 0 R/P 10 0 R>>>>>>endobj\n" +
		"3 0 obj<</Subtype/TrueType/Encoding/WinAnsiEncoding/FirstChar 32/Widths[" + strings.Repeat("500 ", 224) + "]>>endobj\n" +
		"4 0 obj<</Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</DW 500/W[1[600 600] 3 9 700]>>]/ToUnicode 6 0 R>>endobj\n" +
		"5 0 obj<</Subtype/Type1/BaseFont/Helvetica>>endobj\n" +
		"6 0 obj<</Length 7 0 R>>stream\n1 beginbfchar <0001> <20AC> endbfchar 2 beginbfrange <0002> <0004> <0061> <0005> <0006> [<00660069> <D83DDE00>] endbfrange\nendstream endobj\n" +
		"7 0 obj 122 endobj\n" +
		"8 0 obj<</Subtype/Form/Matrix[1 0 0 1 0 -300]/Length 47>>stream\nBT /F1 10 Tf 10 100 Td (in a form) Tj ET /X Do  \nendstream endobj\n" +
		"9 0 obj<</Subtype/Type1/FirstChar 1/Widths[500]/Encoding<</Differences[1/fi/Euro/eacute/uni2192/alpha/a.sc 65/#42]>>>>endobj\n" +
		"10 0 obj<</Subtype/Image/Length 3>>stream\nxyz\nendstream endobj\n" +
		"11 0 obj<</Title<FEFF00500072006900630065>>>endobj\n" +
		objects.String() + "trailer<</Root 1 0 R/Info 11 0 R>>")
}

func TestTextOfPages(t *testing.T) {
	t.Parallel()
	wide := "(" + strings.Repeat("x", 50) + " well-) Tj"
	for name, test := range map[string]struct {
		page string
		want []string
	}{
		"a line":                            {"BT /F1 10 Tf 10 700 Td (Nut 0.08) Tj ET", []string{"Nut 0.08"}},
		"escapes":                           {`BT /F1 10 Tf (\(a\) \101\53\\ b\` + "\nc (d)) Tj ET", []string{`(a) A+\ bc (d)`}},
		"in hexadecimal":                    {"BT /F1 10 Tf <4e7 57420> Tj ET", []string{"Nut"}},
		"what Windows has":                  {"BT /F1 10 Tf (\x80 5 \x96 \x84ja\x93) Tj ET", []string{"€ 5 – „ja“"}},
		"codes of two bytes":                {"BT /F2 10 Tf <00010002000300040005000600ff> Tj ET", []string{"€abcfi😀"}},
		"glyphs by name":                    {"BT /F4 10 Tf (\x01\x02\x03\x04\x05\x06A'-) Tj ET", []string{"fi€é→αaB’-"}},
		"letters are set closer":            {"BT /F1 10 Tf [(N) 80 (ut)] TJ ET", []string{"Nut"}},
		"a gap is a space":                  {"BT /F1 10 Tf [(Nut) -300 (0.08)] TJ ET", []string{"Nut 0.08"}},
		"a gap without widths":              {"BT /F3 10 Tf [(N) -20 (ut) -300 (0.08)] TJ ET", []string{"Nut 0.08"}},
		"letter by letter":                  {"BT /F1 10 Tf 10 700 Td (N) Tj 5 0 Td (u) Tj 5 0 Td (t) Tj 10 0 Td (8) Tj ET", []string{"Nut 8"}},
		"cells of a row":                    {"BT /F1 10 Tf 1 0 0 1 10 700 Tm (Nut) Tj 1 0 0 1 200 700 Tm (0.08) Tj ET", []string{"Nut 0.08"}},
		"rows":                              {"BT /F1 10 Tf 12 TL 10 700 Td (Nut) Tj T* (Screw) Tj (Bolt) ' 1 0 (Pin) \" ET", []string{"Nut", "Screw", "Bolt", "Pin"}},
		"a paragraph":                       {"BT /F1 10 Tf 12 TL 10 700 Td " + wide + " T* (known nuts) Tj 0 -30 TD (end) Tj ET", []string{strings.Repeat("x", 50) + " wellknown nuts", "end"}},
		"columns":                           {"BT /F1 10 Tf 300 700 Td (right) Tj -290 0 Td (left) Tj ET", []string{"right", "left"}},
		"the page is scaled":                {"q .1 0 0 .1 0 0 cm BT /F1 100 Tf 100 7000 Td (Nu) Tj 100 0 Td (t) Tj ET Q BT /F1 10 Tf 20 690 Td (8) Tj ET", []string{"Nut", "8"}},
		"a form, once":                      {"BT /F1 10 Tf 10 700 Td (Nut) Tj ET /X Do", []string{"Nut", "in a form"}},
		"a picture among the instructions":  {"BI /W 1 ID (EIx EI BT /F1 10 Tf (Nut) Tj ET", []string{"Nut"}},
		"no font":                           {"BT (Nut) Tj /F9 1 Tf (Nut) Tj ET Q Q", nil},
		"what makes no sense":               {"BT /F1 10 Tf Tj [1 2 TJ (Nut", nil},
		"letters that are not to be looked": {"BT /F1 0 Tf (Nut) Tj ET", nil},
	} {
		got, ok := Read(drawn(test.page))
		if !ok || got.Title != "Price" || got.Cut {
			t.Errorf("%s: read %v, title %q, cut %v", name, ok, got.Title, got.Cut)
		}
		if name == "a form, once" { // it lies in itself
			got.Paragraphs = slices.Compact(got.Paragraphs)
		}
		if !slices.Equal(got.Paragraphs, test.want) {
			t.Errorf("%s: %q, want %q", name, got.Paragraphs, test.want)
		}
	}
	if got, _ := Read(drawn("BT /F1 9 Tf (one) Tj ET", "BT /F1 9 Tf (two) Tj ET")); !slices.Equal(got.Paragraphs, []string{"one", "two"}) {
		t.Errorf("two pages: %q", got.Paragraphs)
	}
}

// TestWhatIsDrawn holds that pictures and lines are told from each other, and that text is none.
func TestWhatIsDrawn(t *testing.T) {
	t.Parallel()
	print := func(page string) uint64 {
		d, _ := Read(drawn(page))
		return d.Rest
	}
	const text = "BT /F1 10 Tf (Nut) Tj ET "
	if print(text) != print("BT /F1 10 Tf (Screw) Tj ET ") {
		t.Error("another text is another picture")
	}
	other, _ := Read([]byte(strings.Replace(string(drawn(text)), "/FirstChar 32/Widths[500 ", "/FirstChar 32/Widths[501 ", 1)))
	if print(text) != other.Rest {
		t.Error("a font of other letters is another picture")
	}
	const unknown = " BT /F2 9 Tf <0077> Tj ET"
	for name, pair := range map[string][2]string{
		"picture":                          {"/P Do", ""},
		"place of a picture":               {"1 0 0 1 5 5 cm /P Do", "/P Do"},
		"picture among the instructions":   {"BI /W 1 ID a EI", "BI /W 1 ID b EI"},
		"line":                             {"1 2 m 3 4 l S", "1 2 m 3 5 l S"},
		"color":                            {"1 0 0 rg 1 2 3 4 re f", "0 1 0 rg 1 2 3 4 re f"},
		"letter of which nothing is known": {unknown, strings.Replace(unknown, "77", "78", 1)},
		"text without a font":              {"q BT /F9 9 Tf (a) Tj ET", "q BT /F9 9 Tf (b) Tj ET"},
		"text behind what makes no sense":  {">> [ BT (a) Tj ET", ">> [ BT (b) Tj ET"},
	} {
		if print(text+pair[0]) == print(text+pair[1]) {
			t.Errorf("another %s makes no difference", name)
		}
	}
}

// TestReadsNoMoreThanThereIs holds that files which lead in circles, or name the same thing again and again, take little.
func TestReadsNoMoreThanThereIs(t *testing.T) {
	t.Parallel()
	again := strings.Repeat("/X Do ", 40)
	forms := strings.Replace(string(drawn("/X Do")), "/X Do  \nendstream", again+"\nendstream", 1)
	if d, _ := Read([]byte(forms)); !d.Cut {
		t.Error("a form that lies in itself forty times over was drawn to its end")
	}
	if d, ok := Read(drawn(strings.Repeat("BT /F1 9 Tf ("+strings.Repeat("x", 1000)+") Tj ET ", 1000*10))); !ok || !d.Cut {
		t.Error("10 MB of text were read to their end")
	}
}

// TestSmallFilesTakeLittle holds that what refers to one thing again and again, or speaks of many codes, does not take more time or memory than its bytes.
func TestSmallFilesTakeLittle(t *testing.T) {
	t.Parallel()
	again := func(s string) string { return strings.Repeat(s, 50_000) }
	object := func(number int, entries, data string) string {
		return fmt.Sprintf("%d 0 obj<<%s/Length %d>>stream\n%s\nendstream endobj\n", number, entries, len(data), data)
	}
	file := func(resources, contents, rest string) []byte {
		return []byte("%PDF-1.7\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Resources<<" + resources + ">>/Contents[" + contents + "]>>endobj\n" + rest + "trailer<</Root 1 0 R>>")
	}
	for name, body := range map[string][]byte{
		"one stream":   file("", again("5 0 R "), object(5, "", again("0 g "))),
		"one picture":  file("/XObject<</P 6 0 R>>", "5 0 R", object(5, "", again("/P Do "))+object(6, "/Subtype/Image", again("pixels"))),
		"widths":       file("/Font<</F<</Subtype/Type0/DescendantFonts[<</W["+strings.Repeat("0 65535 1 ", 10_000)+"]>>]>>>>", "5 0 R", object(5, "", again("/F 1 Tf "))),
		"codes":        file("/Font<</F<</ToUnicode 6 0 R>>>>", "5 0 R", object(5, "", again("/F 1 Tf "))+object(6, "", "1 beginbfrange "+again("<0000> <fffe> <0041> "))),
		"escapes":      file("/Font<</F<</Encoding<</Differences[1/"+again("#41#42#43")+"]>>>>>>", "5 0 R", object(5, "", "/F 1 Tf")),
		"many numbers": file("", "5 0 R", object(5, "", again("0 g "))+"6 0 obj["+strings.Repeat("10 ", mostValues)+"]endobj "),
		"lines":        file("/Font<</F<<>>>>", "5 0 R", object(5, "", "BT /F 9 Tf 20 TL "+strings.Repeat("(a)'", mostLines+9))),
	} {
		d, ok := Read(body)
		if wantRead, wantCut := name != "many numbers", name == "one stream" || name == "lines"; ok != wantRead || d.Cut != wantCut {
			t.Errorf("%s: read %v, cut %v, want %v, %v", name, ok, d.Cut, wantRead, wantCut)
		}
	}
	fonts := "6 0 obj<</F<<>>/Other(" + strings.Repeat("x", 10_000) + ")>>endobj "
	if d, _ := Read(file("/Font 6 0 R", "5 0 R", object(5, "", "BT "+again("/F 9 Tf ")+"(end) Tj ET")+fonts)); d.Cut || !slices.Equal(d.Paragraphs, []string{"end"}) {
		t.Errorf("a page that often selects a font: %q, cut %v", d.Paragraphs, d.Cut)
	}
}

func TestTextStrings(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"feff00e90021": "é!", "efbbbfc3a9": "é", "e921": "é!", "feff00": "", "": ""} {
		s, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := textString(s); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

// FuzzRead holds that nothing of any file panics or runs on, and that what is read of it is bounded.
func FuzzRead(f *testing.F) {
	f.Add(drawn("BT /F1 10 Tf 10 700 Td (Nut) Tj ET /X Do /P Do", "BT /F2 10 Tf <00010002> Tj ET"))
	f.Add([]byte("%PDF-1.7\n1 0 obj<</Type/ObjStm/First 4>>stream\n2 0 <</Pages 2 0 R>>\nendstream endobj trailer<</Root 2 0 R>>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, ok := Read(body)
		if said := len(strings.Join(d.Paragraphs, "")); !ok && said > 0 || said > mostText+1<<16 {
			t.Fatalf("%d bytes of text, read %v", said, ok)
		}
	})
}
