package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/models"
)

// ledger is a store that knows some contents and remembers what it was given.
type ledger struct {
	Store
	contents map[models.Digest]models.Content
	twins    map[int64][]models.Twin
	verdict  error
	got      []models.Result
}

func (l *ledger) Contents(context.Context, []models.Digest) (map[models.Digest]models.Content, error) {
	return l.contents, nil
}

func (l *ledger) Twins(context.Context, []int64) (map[int64][]models.Twin, error) {
	return l.twins, nil
}

func (l *ledger) Whereabouts(context.Context, []models.PageKey) (map[models.PageKey]models.Whereabouts, error) {
	return nil, nil
}

func (l *ledger) Commit(_ context.Context, _ time.Time, results []models.Result) ([]error, error) {
	l.got = append(l.got, results...)
	verdicts := make([]error, len(results))
	for i := range verdicts {
		verdicts[i] = l.verdict
	}
	return verdicts, nil
}

// shelf is an archive that remembers its captures, and refuses those of one URL.
type shelf struct {
	captures []models.Capture
	synced   int
	full     string
}

func (s *shelf) Append(c models.Capture) (models.Record, error) {
	if c.URL == s.full {
		return models.Record{}, errors.New("no space left on device")
	}
	s.captures = append(s.captures, c)
	return models.Record{File: "segment", Offset: int64(len(s.captures))}, nil
}

func (s *shelf) Sync() error { s.synced = len(s.captures); return nil }

// brought is a visit that brought a first body to a page of one.test.
func brought(t *testing.T, path, body string, change func(*models.Outcome)) finished {
	t.Helper()
	p := NewPage("http://one.test"+path, "one.test", 1, 1, 4)
	out := models.Outcome{Kind: models.First, Status: 200, Sent: 1, At: noon, Body: []byte(body),
		Digest: models.DigestOf([]byte(body)), LinksKnown: true, Links: []models.FoundLink{
			{URL: "http://one.test" + path + "/relative", Host: "one.test", Relative: true},
			{URL: "http://one.test/absolute", Host: "one.test"},
		}}
	if change != nil {
		change(&out)
	}
	f := finished{planner: testPlanner(t, testConfig()), lease: *testLease(p), before: p, outcome: out, held: heldBy(&out)}
	f.result = f.planner.Plan(&f.lease, p, &f.outcome, noon)
	return f
}

// commitAll commits a batch and gives what the store got, and how many bytes of bodies were let go of.
func commitAll(t *testing.T, l *ledger, s *shelf, batch ...finished) ([]models.Result, *metrics, int64) {
	t.Helper()
	if l.contents == nil {
		l.contents = make(map[models.Digest]models.Content)
	}
	freed := int64(0)
	c := &committer{store: l, archive: s, clock: clock.NewVirtual(noon), log: slog.New(slog.DiscardHandler),
		metrics: newMetrics(nil), done: func(f *finished) { freed += f.held }, wake: func() {}}
	pointers := make([]*finished, len(batch))
	for i := range batch {
		pointers[i] = &batch[i]
	}
	if err := c.commit(t.Context(), pointers); err != nil {
		t.Fatal(err)
	}
	if s.synced != len(s.captures) {
		t.Fatalf("%d of %d records were synced before the commit", s.synced, len(s.captures))
	}
	for _, f := range pointers {
		if f.outcome.Body != nil {
			t.Errorf("the body of %s is still held", f.result.Page.URL)
		}
	}
	return l.got, c.metrics, freed
}

func TestBodiesAreStoredBeforeTheyAreNamed(t *testing.T) {
	t.Parallel()
	got, _, freed := commitAll(t, &ledger{}, &shelf{}, brought(t, "/a", "one", nil), brought(t, "/b", "two!", nil))
	for i, want := range []models.Record{{File: "segment", Offset: 1}, {File: "segment", Offset: 2}} {
		r := got[i]
		if r.Version.Record != want || r.Events[0].Record != want || r.Content == nil || r.Content.Record != want ||
			r.Content.URL != r.Page.URL {
			t.Errorf("result %d: version at %v, event at %v, content %+v, want all at %v", i, r.Version.Record, r.Events[0].Record,
				r.Content, want)
		}
	}
	if freed != 7 {
		t.Errorf("%d bytes of bodies let go of, want 7", freed)
	}
}

// A revisit record refers to the first record by its date, which is that of the request and not of the version.
func TestContentsNameTheDateOfTheirRecord(t *testing.T) {
	t.Parallel()
	f := brought(t, "/a", "one", func(out *models.Outcome) { out.At = noon.Add(-3 * time.Second) })
	got, _, _ := commitAll(t, &ledger{}, &shelf{}, f)
	if want := models.At(noon.Add(-3 * time.Second)); got[0].Content.At != want {
		t.Errorf("content is of %s, want %s", got[0].Content.At, want)
	}
}

// A body seen before is stored as a reference: also where it was first seen in the same batch.
func TestBodySeenBefore(t *testing.T) {
	t.Parallel()
	known := models.Content{Digest: models.DigestOf([]byte("one")), URL: "http://one.test/first", Record: models.Record{File: "old"}}
	s := &shelf{}
	got, _, _ := commitAll(t, &ledger{contents: map[models.Digest]models.Content{known.Digest: known}}, s,
		brought(t, "/a", "one", nil), brought(t, "/first", "one", nil), brought(t, "/b", "two", nil), brought(t, "/c", "two", nil))
	var references, contents []bool
	for i, r := range got {
		references, contents = append(references, s.captures[i].Seen != nil), append(contents, r.Content != nil)
	}
	want := [][]bool{{true, true, false, true}, {false, false, true, false}}
	if diff := cmp.Diff(want, [][]bool{references, contents}); diff != "" {
		t.Errorf("references, new contents (-want +got):\n%s", diff)
	}
}

// The body of a page that asks not to be archived is followed and not kept.
func TestNoArchiveIsNotStored(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	got, _, _ := commitAll(t, &ledger{}, s, brought(t, "/a", "one", func(out *models.Outcome) { out.NoArchive = true }))
	if r := got[0]; len(s.captures) != 0 || r.Content != nil || r.Version == nil || r.Version.Record != (models.Record{}) || !r.Page.NoArchive {
		t.Errorf("%d records, content %v, version %+v, want a version without a record", len(s.captures), r.Content, r.Version)
	}
}

// A body that cannot be stored is a failure of ours: the page is as it was, its lease ends, its host waits as long as
// after any visit, and its bytes are let go of.
func TestBodyThatCannotBeStored(t *testing.T) {
	t.Parallel()
	f := brought(t, "/a", "one", func(out *models.Outcome) {
		out.Delay, out.Memory, out.HostMemory = time.Minute, []byte("page"), []byte("host")
	})
	f.result.Release = true
	got, _, freed := commitAll(t, &ledger{}, &shelf{full: f.result.Page.URL}, f, brought(t, "/b", "one", nil))
	r := got[0]
	if r.Version != nil || len(r.Events) > 0 || len(r.Discovered) > 0 || r.Page.Version != 0 || r.Visit.Class != models.OwnDisk {
		t.Errorf("result %+v, want a failure that wrote nothing", r)
	}
	if want := models.At(noon.Add(time.Minute)); !r.Release || r.Host.OpenAt != want {
		t.Errorf("release %v, host opens %v, want true and %v", r.Release, r.Host.OpenAt, want)
	}
	if r.Memory != nil || string(r.HostMemory) != "host" {
		t.Errorf("memories %q and %q, want none of the page, whose copy is another, and that of the host", r.Memory, r.HostMemory)
	}
	if got[1].Content == nil || got[1].Page.DuplicateOf != "" || freed != 6 {
		t.Errorf("the other page: content %v, duplicate of %q; %d bytes let go of, want its own content and 6", got[1].Content,
			got[1].Page.DuplicateOf, freed)
	}
}
