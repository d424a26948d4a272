package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// TestAVisitToAHostThatRestsSaysWhatHoldsItBack: who asks for a page of a host that fails is told for which failures it rests, until when, and
// what can be done, and waits for nothing.
func TestAVisitToAHostThatRestsSaysWhatHoldsItBack(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	url := ""
	dump := dumpOf(t, dir)
	for _, h := range dump.Hosts {
		for _, p := range dump.Pages {
			if h.BackoffUntil.Time().After(filledNow) && p.HostID == h.ID {
				url = p.URL
			}
		}
	}
	answer, says, code := desk(t, dir, "visit", url)
	for _, want := range []string{url + " is next", "until Sat 21 Nov 15:00, for 3 h more: 5 failures in a row", "visited then by itself", "recrawld report hosts"} {
		if code != exitDone || !strings.Contains(answer, want) {
			t.Errorf("exit code %d, %s%q: want %q in it", code, says, answer, want)
		}
	}
	answer, _, _ = desk(t, dir, "visit", url, "--json")
	var got visitAnswer
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.RestsUntil == nil || !got.RestsUntil.Equal(filledNow.Add(3*time.Hour)) || got.Failures != 5 {
		t.Errorf("%v: %s", err, answer)
	}
	if answer, _, _ = desk(t, dir, "visit", docsSite+"install"); strings.Contains(answer, "rests") {
		t.Errorf("of a host that is well: %q", answer)
	}
}

// The failure that the page itself showed last is named; a host that failed at nothing has asked to be left alone.
func TestWhatHoldsAHostBackInWords(t *testing.T) {
	t.Parallel()
	r := hostRest{host: "a.test", until: filledNow.Add(time.Hour), failures: 2, last: models.ServerError, lastAt: models.At(filledNow.Add(-time.Minute))}
	if got := r.words(filledNow); !strings.Contains(got, "for 1 h more: 2 failures in a row, the last one here server-error, 1 min ago. ") {
		t.Errorf("after a failure: %q", got)
	}
	if got := (hostRest{host: "a.test", until: filledNow.Add(time.Hour)}).words(filledNow); !strings.Contains(got, ": it asked to be left alone. ") {
		t.Errorf("after none: %q", got)
	}
	if got := (hostRest{}).words(filledNow); got != "" {
		t.Errorf("of a host that is well: %q", got)
	}
}
