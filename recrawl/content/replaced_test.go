package content

import (
	"fmt"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// TestAFileIsNotReplacedByAnErrorEither holds that what can be read where a PDF or an image was is held against what other pages of the
// host show, and against the words of errors: a file has no text whose loss could tell.
func TestAFileIsNotReplacedByAnErrorEither(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after  string
		others int // other pages of the host that show the same
		alive  bool
		want   VerdictKind // Transient: for ever
		days   float64
	}{
		"maintenance of the host":   {maintenance, 2, false, Transient, 0},
		"maintenance":               {maintenance, 0, true, Change, 7},
		"an empty page":             {"<html><body></body></html>", 0, true, Change, 7},
		"not found":                 {notFound, 0, true, SoftMissing, 1},
		"a log-in form":             {logIn, 0, true, Change, 30},
		"a short text":              {plainShort, 0, true, Change, 4},
		"a document":                {large("Our new hall"), 0, true, Change, 0},
		"a document, nothing known": {large("Our new hall"), 0, false, Change, 1},
		"a document, on some pages": {large("Our new hall"), 2, true, Change, 7},
		"a document, on all pages":  {large("Our new hall"), 2, false, Change, 30},
	} {
		host, after := &HostMemory{}, read(t, test.after)
		for id := range test.others {
			newStay(t, host, int64(id)).sees(after, noon.Add(-time.Minute), time.Time{})
		}
		s, accepted := newStay(t, host, 9), -1.0
		s.held = Read([]byte("%PDF-1.4 tide tables"), "application/pdf", canon.URL{}, nil)
		for _, at := range tries(40) {
			now, shown := noon.Add(at), time.Time{}
			if test.alive {
				shown = now.Add(-time.Minute)
			}
			v := s.sees(after, now, shown)
			if v.Kind == Transient {
				continue
			}
			accepted = at.Hours() / 24
			if v.Kind != test.want || at == 0 || accepted < test.days || accepted > test.days+1 {
				t.Errorf("%s is %v after %.1f days, want %v after %v", name, v.Kind, accepted, test.want, test.days)
			}
			break
		}
		if (accepted < 0) != (test.want == Transient) {
			t.Errorf("%s is accepted after %v days, want %v", name, accepted, test.want)
		}
	}
}

// TestBytesDecideOfAFile holds that a file that is another one is a change at once, and so is what is no page in its place.
func TestBytesDecideOfAFile(t *testing.T) {
	t.Parallel()
	for media, body := range map[string]string{"application/pdf": "%PDF-1.4 next year", "image/png": "\x89PNG", "application/json": `{"tide": 3}`} {
		s := newStay(t, &HostMemory{}, 9)
		s.held = Read([]byte("%PDF-1.4 tide tables"), "application/pdf", canon.URL{}, nil)
		v := s.sees(Read([]byte(body), media, canon.URL{}, nil), noon, time.Time{})
		if v.Kind != Change || v.Reasons != models.ReasonBytes {
			t.Errorf("%s is %v (%v), want a change of bytes", media, v.Kind, v.Reasons)
		}
	}
}

// TestFilesAreWitnessesForEachOther holds that of a host that has nothing but files an outage is known as such.
func TestFilesAreWitnessesForEachOther(t *testing.T) {
	t.Parallel()
	host, after := &HostMemory{}, read(t, maintenance)
	for id := range int64(3) {
		s := newStay(t, host, id)
		s.held = Read(fmt.Appendf(nil, "%%PDF-1.4 of %s", growWords[id]), "application/pdf", canon.URL{}, nil)
		if v := s.sees(after, noon, time.Time{}); v.Kind != Transient || v.Others != int(id) {
			t.Errorf("file %d is %v, as %d others, want %v, as %d", id, v.Kind, v.Others, Transient, id)
		}
	}
}
