package models

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestVisitsThatReachedTheirHost(t *testing.T) {
	t.Parallel()
	const took = time.Millisecond
	for _, test := range []struct {
		visit PastVisit
		want  bool
	}{
		{PastVisit{Kind: NotModified, Status: 304, Took: took}, true},
		{PastVisit{Kind: Noise, Status: 200}, true},
		{PastVisit{Kind: RobotsFetched, Status: 404}, true},
		{PastVisit{Kind: RobotsFetched, Took: took}, true},
		{PastVisit{Kind: Probed}, true},
		{PastVisit{Kind: Failed, Class: ConnTimeout, Took: took}, true},
		{PastVisit{Kind: Failed, Class: TooManyRequests, Status: 429, Took: took}, true},
		{PastVisit{Kind: Failed, Class: RobotsUnreachable}, false},
		{PastVisit{Kind: Failed, Class: DNSNotFound, Took: took}, false},
		{PastVisit{Kind: Failed, Class: BlockedAddress}, false},
		{PastVisit{Kind: Failed, Class: OwnLimit, Took: took}, false},
		{PastVisit{Kind: Failed, Class: OwnPanic}, false},
		{PastVisit{Kind: Excluded}, false},
		{PastVisit{Kind: Skipped}, false},
		{PastVisit{Kind: Interrupted}, false},
		{PastVisit{Kind: Interrupted, Took: took}, true},
	} {
		if got := test.visit.Reached(); got != test.want {
			t.Errorf("%+v reached its host: %t, want %t", test.visit, got, test.want)
		}
	}
}

// The history of a bucket is read by the primary keys, the pages first, and sorted by nobody.
func TestTheHistoryOfABucketIsReadByItsKeys(t *testing.T) {
	t.Parallel()
	s := planStore(t, liteFile(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	plan := sqlitePlan(t, s, bucketHistory)
	if len(plan) != 2 || !strings.Contains(plan[0], "SEARCH p USING INDEX") || !strings.Contains(plan[1], "SEARCH v USING PRIMARY KEY (bucket=? AND page_id=?") {
		t.Errorf("it is answered by\n%s", strings.Join(plan, "\n"))
	}
	if slices.ContainsFunc(plan, func(step string) bool { return strings.Contains(step, "TEMP B-TREE") }) {
		t.Errorf("it is sorted by\n%s", strings.Join(plan, "\n"))
	}
}
