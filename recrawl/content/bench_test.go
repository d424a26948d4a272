package content

import (
	"fmt"
	"strings"
	"testing"
)

// longPage is a page of some 170 KB, of which a third is script, as pages are.
func longPage(edit string) []byte {
	paragraphs := make([]string, 0, 400)
	for i := range 380 {
		paragraphs = append(paragraphs, fmt.Sprintf(`<span class="c%d">%s</span> <a href="/dir/%d?x=1#part">Link</a> and <b>more</b> of it.`, i%7, prose, i))
	}
	body := page("A long page", append(paragraphs, edit)...)
	return []byte(strings.Replace(body, "</head>", "<script>"+strings.Repeat("var x = '<p>'; ", 4000)+"</script></head>", 1))
}

func BenchmarkView(b *testing.B) {
	body, at := longPage(""), mustParse(b, "https://example.org/dir/page")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Read(body, "text/html; charset=utf-8", at, nil)
	}
}

func BenchmarkJudge(b *testing.B) {
	at := mustParse(b, "https://example.org/dir/page")
	before, after := Read(longPage("one"), "text/html", at, nil), Read(longPage("two"), "text/html", at, nil)
	memory, host := &PageMemory{}, &HostMemory{}
	b.ReportAllocs()
	for b.Loop() {
		Judge(Case{Before: before, After: after, Page: memory, Host: host, Threshold: threshold, Now: noon})
	}
}

func BenchmarkMemory(b *testing.B) {
	host := &HostMemory{}
	for i := range uint64(maxMoves) {
		host.moves = append(host.moves, move{mix(i), int64(i), 1 << 30, mainPrint(i)})
	}
	encoded := host.Encode()
	b.SetBytes(int64(len(encoded)))
	for b.Loop() {
		DecodeHost(encoded)
	}
}

// BenchmarkSuspect is what the look at a page's first text costs, of one that says as much as is looked at.
func BenchmarkSuspect(b *testing.B) {
	text := []byte(strings.Repeat("The monthly fee is 12 pounds and is due on the first working day of each month. ", suspectBytes/81))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if Suspect("Terms of use – Example Services", text) {
			b.Fatal("it is suspect")
		}
	}
}
