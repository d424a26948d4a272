package main

import (
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// Ten visits are shown of a page, and of a short cycle they reach back for two hours. Since when it is as it is the page itself says.
func TestAPageSaysItselfSinceWhenItIsAsItIs(t *testing.T) {
	t.Parallel()
	l := &look{now: filledNow}
	at := func(hours time.Duration) models.Instant { return models.At(filledNow.Add(-hours * time.Hour)) }
	seen := models.ChangeStats{Records: 30, Changes: 1, FirstAt: at(60), ChangedAt: at(50), VisitedAt: at(3)}
	for want, p := range map[string]models.Page{
		"moved to https://a.test/ since Thu 19 Nov 10:00": {State: models.StateMoved, RedirectTo: "https://a.test/", Stats: seen, TriedAt: at(3)},
		"moved to https://b.test/ since Thu 19 Nov 00:00": {State: models.StateMoved, RedirectTo: "https://b.test/", Stats: models.ChangeStats{Records: 9, FirstAt: at(60), VisitedAt: at(3)}},
		"gone: not found since Fri 20 Nov 12:00 (4 visits), failing: server-error (2 failures in a row): 500 Internal Server Error": {
			State: models.StateGone, MissingSince: at(24), MissingVisits: 4, Failures: 2, Class: models.ServerError, Note: "500 Internal Server Error"},
		"40 turns, last asked 1 h ago (Sat 21 Nov 11:00); 30 visits saw the content, the last one 3 h ago (Sat 21 Nov 09:00)": {
			State: models.StateLive, Visits: 40, Failures: 9, Class: models.ServerError, TriedAt: at(1), Stats: seen},
	} {
		if got := l.stateWords(p) + "\n" + l.visitedWords(p); !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
