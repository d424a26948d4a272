package scheduler

import (
	"testing"

	"recrawld/models"
)

// TestUsualVisits: a visit has the bytes that were received, and the length of the page where that was sent.
func TestUsualVisits(t *testing.T) {
	t.Parallel()
	page := models.Page{Bytes: 50_000}
	for _, test := range []struct {
		kind       models.OutcomeKind
		head, wire int64
		want       visited
	}{
		{models.SameBytes, 400, 10_000, visited{1, usual{10_400, 50_000}}},
		{models.NotModified, 400, 0, visited{1, usual{400, 0}}},
		{models.Missing, 400, 2_000, visited{1, usual{2_400, 2_000}}},
		{models.RobotsFetched, 400, 600, visited{}},
		{models.Probed, 400, 600, visited{}},
	} {
		var got visited
		got.sees(&page, &models.Outcome{Kind: test.kind, Sent: 1, HeadBytes: test.head, WireBytes: test.wire})
		if got != test.want {
			t.Errorf("%v: %+v, want %+v", test.kind, got, test.want)
		}
	}
}
