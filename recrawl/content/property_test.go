package content

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// document is a made-up page of regions and paragraphs, drawn at random.
type document struct {
	title      string
	paragraphs []string
	wrap       string // the element around the content
}

func drawDocument(t *rapid.T) document {
	word := rapid.StringMatching(`[a-zé]{2,9}`)
	sentence := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 8, 40).Draw(t, "words"), " ") + "."
	})
	return document{
		title:      word.Draw(t, "title"),
		paragraphs: rapid.SliceOfN(sentence, 3, 30).Draw(t, "paragraphs"),
		wrap:       rapid.SampledFrom([]string{"main", "article", "div", "div class=content", "section id=text", "td"}).Draw(t, "wrap"),
	}
}

func (d document) html(paragraphs []string) string {
	var b strings.Builder
	name, _, _ := strings.Cut(d.wrap, " ")
	fmt.Fprintf(&b, "<title>%s</title><nav><a href=/>Home</a> <a href=/b>B</a></nav><%s>", d.title, d.wrap)
	for _, p := range paragraphs {
		fmt.Fprintf(&b, "<p>%s</p>", p)
	}
	fmt.Fprintf(&b, "</%s><footer>© us</footer>", name)
	return b.String()
}

func TestTheSamePageIsNeverChanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		markup := rapid.OneOf(rapid.Custom(func(t *rapid.T) string { d := drawDocument(t); return d.html(d.paragraphs) }),
			rapid.StringMatching(`(<[a-z/!"= ]{0,9}>?|[a-z &;\x00]{0,5}){0,40}`)).Draw(rt, "markup")
		memory, host := &PageMemory{}, &HostMemory{}
		c := Case{Before: read(t, markup), After: read(t, markup), Page: memory, Host: host, Now: noon}
		if v := Judge(c); v.Kind != Same {
			rt.Fatalf("the same page is %v for %v", v.Kind, v.Reasons)
		}
		c.After = read(t, "<!-- made in 17 ms -->"+markup) // behind it the last tag may not be closed
		if v := Judge(c); v.Kind != Noise {
			rt.Fatalf("the same page with a comment is %v for %v", v.Kind, v.Reasons)
		}
	})
}

func TestInsertingAClockIsNeverSignificant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawDocument(rt)
		at := rapid.IntRange(0, len(d.paragraphs)).Draw(rt, "at")
		form := rapid.SampledFrom([]string{"%02d:%02d", "%02d:%02d:59", "It is %02d:%02d now", "Monday, 3 June 2024, %02d:%02d Uhr"}).Draw(rt, "form")
		clock := func() string {
			return fmt.Sprintf(form, rapid.IntRange(0, 23).Draw(rt, "hour"), rapid.IntRange(0, 59).Draw(rt, "minute"))
		}
		with := func(clock string) []string {
			return append(append(append([]string{}, d.paragraphs[:at]...), clock), d.paragraphs[at:]...)
		}
		memory := &PageMemory{}
		plain, one, two := read(t, d.html(d.paragraphs)), read(t, d.html(with(clock()))), read(t, d.html(with(clock())))
		for _, step := range [][2]*View{{plain, one}, {one, two}, {two, plain}} {
			if v := Judge(Case{Before: step[0], After: step[1], Page: memory, Threshold: threshold, Now: noon}); v.Kind == Change {
				rt.Fatalf("a clock is a change for %v: %v", v.Reasons, v.Blocks)
			}
		}
	})
}

func TestAChangedSentenceIsAlwaysSignificant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawDocument(rt)
		at := rapid.IntRange(0, len(d.paragraphs)-1).Draw(rt, "at")
		words := strings.Fields(d.paragraphs[at])
		w := rapid.IntRange(0, len(words)-1).Draw(rt, "word")
		words[w] = "otherwise" + words[w]
		edited := append([]string{}, d.paragraphs...)
		edited[at] = strings.Join(words, " ")
		v := Judge(Case{Before: read(t, d.html(d.paragraphs)), After: read(t, d.html(edited)), Threshold: threshold, Now: noon})
		if v.Kind != Change || v.Significance < worthText {
			rt.Fatalf("%q is %v (%v) for %v", edited[at], v.Kind, v.Significance, v.Reasons)
		}
	})
}

func TestTheOrderOfAttributesDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		attributes := []string{`class="a1 nav"`, `id=x7`, `role=main`, `href="/a?b=1"`, `hidden`, `style="display:none"`, `aria-level=2`, `src=/i.png`, `data-x=1`}
		some := rapid.SliceOfDistinct(rapid.SampledFrom(attributes), func(s string) string { return s }).Draw(rt, "attributes")
		other := rapid.Permutation(some).Draw(rt, "other")
		tag := rapid.SampledFrom([]string{"p", "div", "a", "span", "img", "h2", "section"}).Draw(rt, "tag")
		build := func(attributes []string) *View {
			return read(t, page("Terms", append(story(3), "<"+tag+" "+strings.Join(attributes, " ")+">"+prose)...))
		}
		v := Judge(Case{Before: build(some), After: build(other), Now: noon})
		if v.Kind != Same && (v.Kind != Noise || v.Reasons.String() != "markup-only") {
			rt.Fatalf("%v as %v is %v for %v: %v", some, other, v.Kind, v.Reasons, v.Blocks)
		}
	})
}
