package content

import (
	"fmt"
	"strings"
	"testing"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// TestNoiseHidesNoChange holds that what changes beside a place that always changes is a change as it is without it.
func TestNoiseHidesNoChange(t *testing.T) {
	t.Parallel()
	build := func(clock, link, aside, open string) string {
		return page("Terms", append(story(5), "<p>"+clock+"</p>", `<a href="`+link+`">The paper</a> of that`,
			"<nav><p>"+aside+"</p></nav>")...) + "<div><p>" + open + "</p></div>"
	}
	held := []string{"12:30:01", "/a?x=1", "In this: one", "The price of the box"}
	for name, test := range map[string]struct {
		after []string
		want  models.Reasons
	}{
		"the query of a link":      {[]string{"12:31:02", "/a?x=2", "In this: one", "The price of the box"}, models.ReasonLinkTarget},
		"a list of contents":       {[]string{"12:31:02", "/a?x=1", "In this: one and two", "The price of the box"}, models.ReasonText},
		"text beside the content":  {[]string{"12:31:02", "/a?x=1", "In this: one", "The box is not for sale"}, models.ReasonText},
		"the clock and no more":    {[]string{"12:31:02", "/a?x=1", "In this: one", "The price of the box"}, 0},
		"the place of an emphasis": {[]string{"12:31:02", "/a?x=1", "In this: one", "The price of the box"}, 0},
	} {
		after := build(test.after[0], test.after[1], test.after[2], test.after[3])
		if strings.HasPrefix(name, "the place") {
			after, test.want = strings.Replace(after, "<p>Paragraph A", "<p><b>Paragraph</b> A", 1), models.ReasonMarkupOnly
		}
		v := judgePages(t, build(held[0], held[1], held[2], held[3]), after)
		kind := Change
		if test.want == 0 {
			kind = Noise
		}
		if v.Kind != kind || v.Reasons != test.want|models.ReasonDateOnly || len(v.Blocks) == 0 || (kind == Change) == v.Blocks[0].Noise {
			t.Errorf("%s: %v for %v, want %v for %v and a clock: %v", name, v.Kind, v.Reasons, kind, test.want, v.Blocks)
		}
	}
}

// TestAPlaceIsCountedOnceAVisit holds that a place in which two kinds of blocks change has not changed twice.
func TestAPlaceIsCountedOnceAVisit(t *testing.T) {
	t.Parallel()
	build := func(clock, text string) *View {
		return read(t, page("Terms", append(story(5), clock)...)+"<div><p>"+text+"</p><p>Imprint and so on</p></div>")
	}
	memory := &PageMemory{}
	Judge(Case{Before: build("12:30:01", "The first text here"), After: build("12:31:02", "Another one that is longer"), Page: memory,
		Threshold: threshold, Now: noon})
	for _, s := range memory.slots {
		if s.changes > 1 {
			t.Errorf("a place changed %d times in one visit", s.changes)
		}
	}
	if len(memory.slots) < 2 {
		t.Errorf("%d places are known to have changed, want those of both kinds", len(memory.slots))
	}
}

// TestWhatIsNotReadCountsByItsBytes holds that a change behind what is read of a long body is none the less a change, and
// that noise in what is read is noise still.
func TestWhatIsNotReadCountsByItsBytes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ media, head, rest, another string }{
		"bytes":  {"text/html", "<p>" + strings.Repeat(" ", MaxBytes), "<p>the end", "<p>another end"},
		"blocks": {"text/html", strings.Repeat("<p>a", maxBlocks), "<p>the end", "<p>another end"},
		"lines":  {"text/plain", strings.Repeat("a\n", maxBlocks), "the end", "another end"},
		"leaves": {"application/json", "[" + strings.Repeat("1,", maxBlocks), `"the end"]`, `"another"]`},
		"texts":  {"text/xml", "<a>" + strings.Repeat("<b>a</b>", maxBlocks), "<b>the end</b></a>", "<b>another end</b></a>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := func(body string) *View { return Read([]byte(body), test.media, canon.URL{}, nil) }
			held := of(test.head + test.rest)
			if !held.Cut {
				t.Error("all of it was read")
			}
			v := Judge(Case{Before: held, After: of(test.head + test.another), Threshold: threshold, Now: noon})
			if v.Kind != Change || v.Reasons&models.ReasonBytes == 0 {
				t.Errorf("another end is %v for %v", v.Kind, v.Reasons)
			}
			if test.media != "text/html" {
				return
			}
			same := strings.Replace(test.head, "<p>", "<p >", 1)
			if name == "bytes" { // the same bytes must be cut off
				same = strings.Replace(test.head, "<p>", "<P>", 1)
			}
			if v := Judge(Case{Before: held, After: of(same + test.rest), Threshold: threshold, Now: noon}); v.Kind != Noise {
				t.Errorf("other mark-up is %v for %v", v.Kind, v.Reasons)
			}
		})
	}
}

// TestMarkupThatHidNews holds that text is read behind elements that end at once, and in shadow trees.
func TestMarkupThatHidNews(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"<svg/><p>%s", "<svg class=x /><p>%s", "<svg><title/><style/><path d=x /></svg><p>%s", "<math/><p>%s",
		"<my-page><template shadowrootmode=open><main><p>%s</main></template></my-page>", "<p>Loading</p><div style='display:none'><p>%s</div>", "<template shadowRootMode=Closed><p>%s</template>",
		"<svg><foreignObject><p>x</p></foreignObject></svg><p>%s"} {
		v := judgePages(t, fmt.Sprintf(form, strings.Join(story(5), "<p>")), fmt.Sprintf(form, strings.Join(story(4), "<p>")))
		if v.Kind != Change {
			t.Errorf("a paragraph less in %q is %v for %v", form, v.Kind, v.Reasons)
		}
	}
	for _, form := range []string{"<template><p>%s</template><p>same", "<svg><text>%s</text></svg><p>same", "<template shadowrootmode=x>%s</template>"} {
		v := judgePages(t, fmt.Sprintf(form, strings.Join(story(5), "<p>")), fmt.Sprintf(form, strings.Join(story(4), "<p>")))
		if v.Kind != Noise {
			t.Errorf("a paragraph less in %q is %v for %v", form, v.Kind, v.Reasons)
		}
	}
}

// TestAnotherTitleIsNamed holds that noise says so where the title alone is another.
func TestAnotherTitleIsNamed(t *testing.T) {
	t.Parallel()
	if v := judgePages(t, page("Terms", story(5)...), page("(1) Terms", story(5)...)); v.Kind != Noise || v.Reasons != models.ReasonTitle {
		t.Errorf("another title is %v for %v", v.Kind, v.Reasons)
	}
}

// TestTheFirstOfTwoCounts holds that of an attribute and of an element base that come twice the first counts.
func TestTheFirstOfTwoCounts(t *testing.T) {
	t.Parallel()
	v := read(t, "<base href=/b/><base href=/c/><p><a href=x href=y>here</a>")
	if got, want := v.Blocks()[0].Links[0].Target, "example.org/b/x"; got != want {
		t.Errorf("the link leads to %q, want %q", got, want)
	}
}

// TestAPictureIsWhatAPageWithoutTextShows holds that another one is a change there, and none beside a story.
func TestAPictureIsWhatAPageWithoutTextShows(t *testing.T) {
	t.Parallel()
	picture := func(name string, paragraphs ...string) string {
		return page("Strip", append(paragraphs, "<h1>The strip</h1><img src=/s/"+name+".png?v=1 alt=x>")...)
	}
	for name, test := range map[string]struct {
		before, after string
		want          VerdictKind
	}{
		"another strip":       {picture("monday"), picture("tuesday"), Change},
		"another version":     {picture("monday"), strings.Replace(picture("monday"), "v=1", "v=2", 1), Noise},
		"beside a story":      {picture("monday", story(5)...), picture("tuesday", story(5)...), Noise},
		"another in the menu": {picture("monday"), strings.Replace(picture("monday"), "<nav>", "<nav><img src=/n.png>", 1), Noise},
	} {
		if v := judgePages(t, test.before, test.after); v.Kind != test.want || v.Kind == Change && len(v.Blocks) != 1 {
			t.Errorf("%s is %v for %v: %v, want %v", name, v.Kind, v.Reasons, v.Blocks, test.want)
		}
	}
	at := func(name string) string { return `<body><img src="/s/` + name + `.png">` }
	if v := judgePages(t, at("monday"), at("tuesday")); v.Kind != Change {
		t.Errorf("another picture and nothing else is %v for %v", v.Kind, v.Reasons)
	}
}

// TestSelectorsThatCountAreBounded holds that such a selector says nothing of lists that it would take minutes for, and that
// all others do.
func TestSelectorsThatCountAreBounded(t *testing.T) {
	t.Parallel()
	rules := func(selector string) *Rules {
		all, err := Compile([]string{selector}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, test := range []struct {
		selector string
		items    int
		watched  int
	}{
		{"li", 5_000, 5_000},
		{"li:nth-child(odd)", 100, 50},
		{"li:nth-child(odd)", 5_000, 0},
		{"li:nth-last-child(2n) b", 5_000, 0},
		{"i ~ li", 5_000, 0},
		{"[class~=x]", 5_000, 5_000},
		{"h1:only-of-type", 5_000, 1},
	} {
		body := "<h1>All</h1><ul>" + strings.Repeat("<li class=x>a<b>b</b>", test.items) + "</ul>"
		v := Read([]byte(body), "text/html", canon.URL{}, rules(test.selector))
		watched := 0
		for i := range v.Blocks() {
			if v.Blocks()[i].Flags&Watched != 0 {
				watched++
			}
		}
		if watched != test.watched {
			t.Errorf("%s of %d matches %d, want %d", test.selector, test.items, watched, test.watched)
		}
	}
}
