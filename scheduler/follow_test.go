package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// Of the pages that are filed as duplicates of one that changed, or is not there any more, those that still are come as soon as it is a day since
// they were visited; what is filed there and is none, or is gone itself, is taken away: there is room for few.
func TestDuplicatesAreBroughtForward(t *testing.T) {
	t.Parallel()
	original := brought(t, "/a", "one", saying(1, 1))
	filedUnder := func(n int64, of string, ago time.Duration) models.Twin {
		return models.Twin{Bucket: 3, ID: n, URL: fmt.Sprint("http://two.test/", n), State: models.StateLive, DuplicateOf: of,
			VisitedAt: models.At(noon.Add(time.Hour - ago))}
	}
	twins := known(original)
	twins[followers(original.result.Page.URL)] = []models.Twin{filedUnder(1, original.result.Page.URL, 40*24*time.Hour),
		filedUnder(2, original.result.Page.URL, 5*time.Hour), filedUnder(3, "http://one.test/c", 9*time.Hour), {Bucket: 3, ID: 4}, filedUnder(5, original.result.Page.URL, 9*time.Hour)}
	twins[followers(original.result.Page.URL)][4].State = models.StateGone
	now := models.At(noon.Add(time.Hour))
	forward := []models.Duplicate{{Bucket: 3, PageID: 1, DueAt: now}, {Bucket: 3, PageID: 2, DueAt: models.At(noon.Add(20 * time.Hour))}}
	for what, test := range map[string]struct {
		change func(*finished)
		moves  bool
	}{
		"is as it was":       {func(*finished) {}, false},
		"changed":            {func(f *finished) { f.outcome.Kind = models.Changed }, true},
		"is gone":            {func(f *finished) { f.outcome.Kind, f.result.Page.State = models.Gone, models.StateGone }, true},
		"fails":              {func(f *finished) { f.outcome.Kind, f.result.Page.Failures = models.Failed, 1 }, false},
		"is missing a while": {func(f *finished) { f.outcome.Kind, f.result.Page.State = models.Gone, models.StateMissing }, false},
		"was gone before": {func(f *finished) {
			f.outcome.Kind, f.before.State, f.result.Page.State = models.Gone, models.StateGone, models.StateGone
		}, false},
	} {
		visit := again(t, original, models.SameBytes)
		test.change(&visit)
		got, _, _ := commitAll(t, &ledger{twins: twins}, &shelf{}, visit)
		want := forward
		if !test.moves {
			want = nil
		}
		if diff := cmp.Diff(want, got[0].Duplicates); diff != "" || (len(got[0].Unfiled) == 3) != test.moves {
			t.Errorf("the original %s: %d filings are taken away; duplicates that come forward (-want +got):\n%s", what, len(got[0].Unfiled), diff)
		}
	}
}

// A page that was missing for a while keeps its duplicates, and takes them along where it is a duplicate itself when it is back.
func TestDuplicatesOfAPageThatIsBack(t *testing.T) {
	t.Parallel()
	other, original := brought(t, "/older", "one", saying(1, 1)), brought(t, "/a", "one", saying(1, 1))
	other.result.Page.Stats.FirstAt -= 5
	original.result.Page.State, original.result.Page.Canonical = models.StateMissing, other.result.Page.URL
	twins := known(other)
	twins[followers(original.result.Page.URL)] = []models.Twin{{Bucket: 3, ID: 1, URL: "http://two.test/", State: models.StateLive,
		DuplicateOf: original.result.Page.URL}}
	got, _, _ := commitAll(t, &ledger{twins: twins}, &shelf{}, again(t, original, models.SameBytes))
	if p := got[0].Page; p.DuplicateOf != other.result.Page.URL || len(got[0].Duplicates) != 1 {
		t.Errorf("it is a duplicate of %q, and %d of its own come forward, want of %s, and 1", p.DuplicateOf, len(got[0].Duplicates), other.result.Page.URL)
	}
}
