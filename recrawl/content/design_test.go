package content

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestANewDesignOfShortPages holds that a new design is the host's also where it draws its menu into what is found to be the content of
// short pages, or their text out of that: each of them counted as a change, by the list that the menu is, by its length, by the words of
// it that were there before, and pages without running text were taken for one document. What a page says anew with it is a change.
func TestANewDesignOfShortPages(t *testing.T) {
	t.Parallel()
	pages := []string{"<p>We write of the sea and of what is left of it, page one.", "<p>Write to us.", "<ul><li>A poem<li>A song", "<ul><li>A boat<li>A tune",
		"<p>" + strings.Join(story(6), "<p>"), "<p>Nothing is here yet on this page"}
	for _, items := range []int{8, 60} {
		for name, word := range map[string]string{"words of its own": "All about subject %d", "the words that it had": "Subject %d"} {
			host := &HostMemory{}
			for i, text := range pages {
				at, title := noon.Add(time.Duration(i)*time.Minute), fmt.Sprintf("Page %c", 'A'+i)
				judge := func(after *View) Verdict {
					return Judge(Case{Before: plainDesign(t, items, title, text), After: after, Page: &PageMemory{}, Host: host, Threshold: threshold, Now: at, PageID: int64(i)})
				}
				kept := host.Encode()
				if v := judge(newDesign(t, items, word, title, text+"<p>The board has met again and found that all is well")); v.Kind != Change {
					t.Errorf("%d items in %s: with a sentence more page %d is %v for %v", items, name, i, v.Kind, v.Reasons)
				}
				host = DecodeHost(kept)
				if v := judge(newDesign(t, items, word, title, text)); i > 0 && v.Kind != Noise {
					t.Errorf("%d items in %s: page %d is %v for %v", items, name, i, v.Kind, v.Reasons)
				}
			}
		}
	}
}

// plainDesign is a page whose regions have names.
func plainDesign(t *testing.T, items int, title, text string) *View {
	var menu strings.Builder
	for i := range items {
		fmt.Fprintf(&menu, "<li><a href=/%d>Subject %d</a>", i, i)
	}
	return read(t, "<title>"+title+"</title><header><a href=/>Us</a><nav><ul>"+menu.String()+"</ul></nav></header><main><h1>"+title+"</h1>"+text+
		"</main><footer><a href=/imprint>Imprint</a> © 2026 Us</footer>")
}

// newDesign is the same page in regions whose names say nothing, with a menu of which every second item is as it was.
func newDesign(t *testing.T, items int, word, title, text string) *View {
	var menu strings.Builder
	for i := range items {
		fmt.Fprintf(&menu, "<div><a href=/%d>", i)
		fmt.Fprintf(&menu, []string{word, "Subject %d"}[i%2], i)
		menu.WriteString("</a></div>")
	}
	return read(t, "<title>"+title+"</title>"+
		"<div><div><div><div><a href=/>We are here</a></div><div>"+menu.String()+"</div></div><div class=text><h1>"+title+"</h1>"+text+
		"</div><div class=bottom><p>Subscribe to our letter, once a week, about all that is new</p><p>© 2026 Us</p></div></div></div>")
}
