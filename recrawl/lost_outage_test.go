package recrawl

import (
	"errors"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// TestFault_041_LostCopyInAnOutage: the archive has lost the copies of pages whose host answers 200 with what is clearly no page when they are
// asked for anew. None of them becomes a version, and each is there again afterwards.
func TestFault_041_LostCopyInAnOutage(t *testing.T) {
	t.Parallel()
	for name, damaged := range map[string]error{"its segment is gone": nil, "its segment is there": errors.New("damaged record")} {
		t.Run(name, func(t *testing.T) { t.Parallel(); lostInAnOutage(t, damaged) })
	}
}

func lostInAnOutage(t *testing.T, damaged error) {
	s := newSite(t, 2)
	s.past.damaged = damaged
	for _, url := range s.urls {
		p := s.pages[url]
		p.Lost = true
		s.pages[url] = p
		delete(s.past.bodies, p.ID)
	}
	s.absent(downForMaintenance, 0, 1)
	s.until(3*24*time.Hour, func(url string, out models.Outcome) {
		wantFailed(t, out, models.ErrorPage)
		if p := s.pages[url]; p.Version != 1 || !strings.Contains(out.Detail, "it is not taken for the page yet") {
			t.Errorf("%s has version %d, %q", url, p.Version, out.Detail)
		}
	})
	s.shows(0, 1)
	back := 0
	s.until(2*24*time.Hour, func(_ string, out models.Outcome) {
		if out.Kind == models.SameBytes && out.Body != nil {
			back++
		}
	})
	for _, url := range s.urls {
		s.wantKept(url)
	}
	if back < 2 {
		t.Errorf("%d copies are back, want 2", back)
	}
}
