package origin

import (
	"bytes"
	"testing"
	"time"

	"recrawld/internal/shared"
	"recrawld/internal/solo"
)

// TestLabelled: a world shows every body with a label, stand-ins for those left out, or what is meaningful alone.
func TestLabelled(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	corpus, err := LoadCorpus(shared.Path(t, "pages"), t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer corpus.Close()
	const day = 24 * time.Hour
	for show, want := range map[Showing]int{AsItWas: 38 + 2673, BytesAlone: 38 + 2673, Told: 3} {
		w, err := corpus.Labelled(show, start, start.Add(100*day), 10*day, day)
		if err != nil {
			t.Fatal(err)
		}
		page, clock := w.Hosts[0].Page("/legal/privacy-policy.html"), w.Hosts[0].Page(ClockPath)
		meaningful := 0
		for i, v := range page.Versions {
			if v.Label == Meaningful {
				meaningful++
			}
			if i > 0 && !v.At.After(page.Versions[i-1].At) {
				t.Fatalf("showing %d: version %d is not later than the one before", show, i)
			}
		}
		if len(page.Versions) != want || meaningful != 3 || !page.Versions[0].At.Equal(start) {
			t.Errorf("showing %d: %d versions, %d meaningful, from %v; want %d, 3, %v", show, len(page.Versions), meaningful,
				page.Versions[0].At, want, start)
		}
		if typed := page.Traits.ContentType != ""; typed != (show != AsItWas) {
			t.Errorf("showing %d: content type %q", show, page.Traits.ContentType)
		}
		if ticks := len(clock.Versions); ticks != map[bool]int{false: 100, true: 1}[show == Told] {
			t.Errorf("showing %d: the clock ticks %d times", show, ticks)
		}
	}
}

// TestStandInsDifferInAComment: they are the body before them with something that nobody sees.
func TestStandInsDifferInAComment(t *testing.T) {
	t.Parallel()
	before := Version{At: start, Body: constant("<p>one</p>")}
	list := standIns(before, Version{At: start.Add(3 * time.Hour), Skipped: 2})
	if len(list) != 2 || !list[0].At.Equal(start.Add(time.Hour)) || !list[1].At.Equal(start.Add(2*time.Hour)) {
		t.Fatalf("standIns() = %v, want one after each hour", list)
	}
	one, _ := list[0].Body()
	two, _ := list[1].Body()
	if bytes.Equal(one, two) || VisibleText(one) != VisibleText(two) {
		t.Errorf("stand-ins %q and %q, want other bytes and the same text", one, two)
	}
}
