package content

import (
	"testing"
	"time"

	"recrawld/models"
)

// TestOlderCopy holds that what a cache or a server answers that is behind others is no news, each time that it answers, and that an earlier
// text is one where it has a new date, was not seen before, or stays.
func TestOlderCopy(t *testing.T) {
	t.Parallel()
	old, held := page("Terms", append(story(5), "The fee is 17 a month")...), page("Terms", append(story(5), "The fee is 19 a month")...)
	memory := &PageMemory{}
	judge := func(before, after string, hours int, good, earlier bool) Verdict {
		t.Helper()
		return Judge(Case{Before: read(t, before), After: read(t, after), Page: memory, Threshold: threshold, Earlier: earlier, Good: good,
			Now: noon.Add(time.Duration(hours) * time.Hour)})
	}
	if v := judge(old, held, 0, true, false); v.Kind != Change {
		t.Fatalf("a new text is %v", v.Kind)
	}
	for _, hours := range []int{6, 30} { // between these the newer one answered
		if v := judge(held, old, hours, true, true); v.Kind != Transient || v.Class != models.OlderCopy || v.Becomes != Change {
			t.Errorf("after %d hours the older copy is %v, %v", hours, v.Kind, v.Class)
		}
	}
	if v := judge(held, page("Terms", append(story(5), "The fee is 18 a month")...), 31, true, true); v.Kind != Change {
		t.Errorf("a text that was never seen is %v for its date", v.Kind)
	}
	judge(held, old, 40, true, true)
	judge(held, old, 47, false, true)
	if v := judge(held, old, 53, false, true); v.Kind != Change || v.Reasons&models.ReasonFlipBack == 0 {
		t.Errorf("an earlier text that stays for half a day is %v for %v", v.Kind, v.Reasons)
	}
	if v := judge(old, held, 60, true, false); v.Kind != Change {
		t.Errorf("an earlier text with a new date is %v", v.Kind)
	}
	if v := judge(held, old, 66, true, true); v.Kind == Transient {
		t.Error("a page that takes turns is doubted")
	}
}
