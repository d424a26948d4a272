package pagebench

import (
	"fmt"
	"testing"

	"recrawld/recrawl/content"
)

// services are n services with two pages each, whose words of the main content are changes and whose footers are none, but
// for those of the first three.
func services(n int) Evidence {
	var e Evidence
	words, footer := content.Difference{Zone: content.Main}, content.Difference{Zone: content.Footer}
	for i := range n {
		for page := range 2 {
			at := evidenceRow{service: fmt.Sprint(i), page: fmt.Sprint(i, "/", page)}
			changed, same, both := at, at, at
			changed.changed, changed.shows = true, []content.Difference{words}
			same.changed, same.shows = i < 3, []content.Difference{footer}
			both.changed, both.shows = true, []content.Difference{words, footer}
			e.rows = append(e.rows, changed, same, both)
		}
	}
	return e
}

func TestEvidenceLearn(t *testing.T) {
	t.Parallel()
	e := services(10)
	all := e.Learn()
	if len(all) != 2 || all[0].Kind != "main words" || all[1].Kind != "footer words" {
		t.Fatalf("Learn() = %+v, want main words, footer words", all)
	}
	if w := all[0]; w.Same != 0 || w.Changed != 40 || w.Services != 10 || w.Share < 0.9 || w.Alarms != 0 {
		t.Errorf("Learn() of main words = %+v, want 40 changes of 10 services", w)
	}
	if f := all[1]; f.Same != 14 || f.Changed != 6 || f.Share > 0.4 || f.Alarms != 1 || f.Misses != 0 {
		t.Errorf("Learn() of footer words = %+v, want 14 rows without a change and 6 with one", f)
	}
}

func TestEvidenceCross(t *testing.T) {
	t.Parallel()
	e := services(10)
	if alarms, misses := e.Cross(5, 0.02); alarms != 0 || misses != 6.0/46 {
		t.Errorf("Cross() = %v, %v, want no alarms and the footers of three services missed", alarms, misses)
	}
	if alarms, misses := e.Cross(5, 1); alarms < 0.9 || misses > 0.1 {
		t.Errorf("Cross() with all alarms allowed = %v, %v, want nearly all and hardly a miss", alarms, misses)
	}
}
