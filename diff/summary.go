package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"recrawld/report"
)

// summarize says in a line what differs.
func (d *Difference) summarize(a, b Version) {
	switch {
	case d.Equal && len(d.Unseen) == 0:
		d.Summary = "the two versions are the same"
	case d.Equal:
		d.Summary = "the two versions have the same body; " + factWords(d.Unseen) + " differ"
	case d.Of == Content:
		d.Summary = lineWords(d.Lines) + " in the content"
	case d.Of == Beside:
		d.Summary = "the content is the same; " + lineWords(d.Beside) + " beside it"
	case d.Of == Unseen:
		d.Summary = "what a reader sees is the same; what differs: " + factWords(d.Unseen)
	case d.Of == Source && sameLook(a, b):
		d.Summary = "what a reader sees is the same; source: " + lineWords(d.Lines)
	case d.Of == Source:
		d.Summary = "source: " + lineWords(d.Lines)
	case isText(a.Body) && isText(b.Body):
		d.Summary = "they differ in nothing that shows, such as the end of the last line"
	default:
		words := "not text"
		if sameLook(a, b) {
			words = "the text is the same"
		}
		d.Summary = fmt.Sprintf("%s: %s of %s → %s of %s", words, report.Bytes(int64(len(a.Body))), typeWords(a), report.Bytes(int64(len(b.Body))), typeWords(b))
	}
}

// sameLook tells whether both versions have content to see, and the same.
func sameLook(a, b Version) bool {
	return a.View != nil && b.View != nil && a.View.Text() != "" && a.View.Text() == b.View.Text() && a.View.Title == b.View.Title
}

func typeWords(v Version) string {
	media, _, _ := strings.Cut(v.ContentType, ";")
	if media == "" {
		return "no stated type"
	}
	return media
}

// lineWords counts lines by what became of them: "2 lines changed, 1 added, 1 moved".
func lineWords(lines []Line) string {
	var changed, added, removed, moved int
	for _, l := range lines {
		switch {
		case l.Moved && l.Op == Added:
			moved++
		case l.Moved:
		case l.Op == Changed:
			changed++
		case l.Op == Added:
			added++
		case l.Op == Removed:
			removed++
		}
	}
	var words []string
	for _, count := range []struct {
		n    int
		word string
	}{{changed, "changed"}, {removed, "removed"}, {added, "added"}, {moved, "moved"}} {
		switch {
		case count.n > 0 && len(words) == 0:
			words = append(words, report.Plural(count.n, "line")+" "+count.word)
		case count.n > 0:
			words = append(words, report.Count(count.n)+" "+count.word)
		}
	}
	return strings.Join(words, ", ")
}

// factNames are the kinds of fact that go by other names in a count.
var factNames = map[string]string{"markup": "tag", "meta": "meta value",
	"text": "piece of hidden text or white space", "style": "piece of style", "noscript": "noscript text", "bytes": "run of bytes"}

// factWords counts facts by kind, the most frequent first: "3 attributes, 1 script".
func factWords(facts []Fact) string {
	counts := map[string]int{}
	var kinds []string
	for _, f := range facts {
		if counts[f.What]++; counts[f.What] == 1 {
			kinds = append(kinds, f.What)
		}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return counts[b] - counts[a] })
	var words []string
	for _, kind := range kinds {
		words = append(words, counted(counts[kind], cmp.Or(factNames[kind], kind)))
	}
	return strings.Join(words, ", ")
}

// counted is a count with its noun, of which the first word takes the s.
func counted(n int, noun string) string {
	first, rest, more := strings.Cut(noun, " of ")
	if !more {
		return report.Plural(n, noun)
	}
	return report.Plural(n, first) + " of " + rest
}
