package pagebench

import (
	"testing"
	"unicode/utf8"

	"recrawld/clock"
	"recrawld/internal/shared"
	"recrawld/recrawl/content"
)

// BenchmarkNewText says how much of the text of changed pages has to be embedded anew: chunks by their IDs beside windows of the same length, which
// is what receivers make of a text by themselves, and the whole page. It is no time that is measured.
func BenchmarkNewText(b *testing.B) {
	dir := shared.Path(b, "pages")
	for b.Loop() {
		for name, size := range map[string]int{"1000": 1000, "2000": 2000} {
			var all, chunks, windows, changes float64
			err := Run(b.Context(), dir, Options{Threshold: 0.5, Now: clock.System{}.Now, Judged: func(j *Judged) error {
				if j.Label != "1" || j.Verdict.Kind != content.Change {
					return nil
				}
				changes++
				all += float64(utf8.RuneCountInString(j.After.Text()))
				chunks += newText(texts(j.Before.Chunks(size)), texts(j.After.Chunks(size)))
				windows += newText(cutEvery(j.Before.Text(), size), cutEvery(j.After.Text(), size))
				return nil
			}})
			if err != nil || all == 0 {
				b.Fatalf("%v changes, %v", changes, err)
			}
			b.ReportMetric(100*chunks/all, name+"-chunks-%")
			b.ReportMetric(100*windows/all, name+"-windows-%")
			b.ReportMetric(changes, "changes")
		}
	}
}

// texts are chunks by ID.
func texts(chunks []content.Chunk) map[string]string {
	by := make(map[string]string, len(chunks))
	for _, c := range chunks {
		by[c.ID] = c.Text
	}
	return by
}

// cutEvery cuts a text into windows of so many runes, by what they say.
func cutEvery(text string, size int) map[string]string {
	by, runes := make(map[string]string), []rune(text)
	for i := 0; i < len(runes); i += size {
		window := string(runes[i:min(i+size, len(runes))])
		by[window] = window
	}
	return by
}

// newText is how many runes the second has that the first does not know.
func newText(before, after map[string]string) (n float64) {
	for id, text := range after {
		if _, known := before[id]; !known {
			n += float64(utf8.RuneCountInString(text))
		}
	}
	return n
}
