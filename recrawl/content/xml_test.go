package content

import (
	"bytes"
	"strings"
	"testing"

	"recrawld/recrawl/canon"
)

// TestMistakesInFeedsHideNoEntry holds that new entries are found in feeds that are not well-formed.
func TestMistakesInFeedsHideNoEntry(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{"", "\x0b", "\x00", "a < b", "<3", "<!-- a -- b -->", "]]>", "&nosuch; & b", "&#11;", "<b x=1 y>",
		"one<br>two", "</b>", "\ufffe", "<?php echo ?>", "<=>", "<!-->", "<a <b>"} {
		of := func(items ...string) *View {
			body := "<rss><channel><title>News</title><description>All " + mistake + " news</description>"
			for _, item := range items {
				body += "<item><title>" + item + "</title><description>It says " + mistake + item + "</description></item>"
			}
			return Read([]byte(body+"</channel></rss>"), "application/rss+xml", canon.URL{}, nil)
		}
		v := Judge(Case{Before: of("one", "two"), After: of("three", "one", "two"), Threshold: threshold, Now: noon})
		if v.Kind != Change || len(v.Blocks) != 2 {
			t.Errorf("a new entry of a feed with %q is %v of %v", mistake, v.Kind, v.Blocks)
		}
		if of("one").Kind != Feed {
			t.Errorf("a feed with %q is %v", mistake, of("one").Kind)
		}
	}
}

// TestNamesOfElementsAreBounded holds that the path of a text is, whatever the names of the elements around it are.
func TestNamesOfElementsAreBounded(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 1<<19)
	body := "<" + name + "><" + name + ">" + strings.Repeat("<b c='d'>x</b>", 1<<17)
	v := Read([]byte(body), "text/xml", canon.URL{}, nil)
	for i := range v.Blocks() {
		if at := v.Path(&v.Blocks()[i]); len(at) > 3*maxElement {
			t.Fatalf("a path of %d bytes", len(at))
		}
	}
	if len(v.Blocks()) < 1<<18 && !v.Cut {
		t.Errorf("%d blocks", len(v.Blocks()))
	}
}

// TestManyMistakesAreText holds that a document of nothing but mistakes is read as text, in bounded time.
func TestManyMistakesAreText(t *testing.T) {
	t.Parallel()
	if v := Read(bytes.Repeat([]byte("< \n"), 1<<20), "text/xml", canon.URL{}, nil); v.Kind != Text {
		t.Errorf("it is read as %v", v.Kind)
	}
}

// TestAFeedWithoutEntries holds that a feed which has nothing to say, not even a title, is one: it was read as text, of which the time at
// which a tracker answers is a line.
func TestAFeedWithoutEntries(t *testing.T) {
	t.Parallel()
	of := func(updated, entries string) *View {
		return Read([]byte(`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title></title><link rel="self" href="/1.atom"/>`+
			`<id>/</id><updated>`+updated+`</updated><author><name>Tracker</name></author>`+entries+`</feed>`), "application/atom+xml", canon.URL{}, nil)
	}
	const entry = `<entry><title>Seen again</title><content>It is so with the lock as well.</content></entry>`
	for _, test := range []struct {
		before, after *View
		want          VerdictKind
	}{
		{of("2026-12-17T06:02:41Z", ""), of("2026-12-24T07:00:18Z", ""), Noise},
		{of("2026-12-17T06:02:41Z", ""), of("2026-12-24T07:00:18Z", entry), Change},
		{of("2026-12-17T06:02:41Z", entry), of("2026-12-24T07:00:18Z", ""), Transient}, // it is doubted first, as any page is
	} {
		if v := Judge(Case{Before: test.before, After: test.after, Threshold: threshold, Now: noon}); v.Kind != test.want {
			t.Errorf("from %d to %d blocks is %v for %v, want %v", len(test.before.blocks), len(test.after.blocks), v.Kind, v.Reasons, test.want)
		}
	}
}
