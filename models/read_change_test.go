package models

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTrialedHosts(t *testing.T) {
	t.Parallel()
	tried := Trials{AuditedAt: ago(time.Hour), Visits: 12, ProbedAt: ago(2 * time.Hour)}
	tried.By[HintETag] = Trial{Hits: 900, Misses: 1, Since: ago(9 * time.Hour), DistrustedAt: ago(time.Minute)}
	s := openFilled(t, func(ctx context.Context, x *tx) error {
		if err := fillPages(9, 3)(ctx, x); err != nil {
			return err
		}
		h := Host{Bucket: BucketOf("h1.example"), ID: HostID("h1.example"), Name: "h1.example", Trials: tried}
		answers := Host{Bucket: BucketOf("h2.example"), ID: HostID("h2.example"), Name: "h2.example", Trials: Trials{Load: Load{Response: time.Second}}}
		return hostTable.upsert(ctx, x, []Host{h, answers})
	})
	for site, want := range map[int32]int{0: 1, 1: 1, 99: 0} {
		var got []Host
		for h, err := range s.TrialedHosts(t.Context(), site) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, h)
		}
		if len(got) != want {
			t.Errorf("%d hosts on trial at site %d, want %d", len(got), site, want)
			continue
		}
		if want == 1 {
			if diff := cmp.Diff(tried, got[0].Trials); diff != "" || got[0].Name != "h1.example" {
				t.Errorf("trials of %s (-want +got):\n%s", got[0].Name, diff)
			}
		}
	}
}

func TestSiteHosts(t *testing.T) {
	t.Parallel()
	s := openFilled(t, fillPages(9, 3))
	for site, want := range map[int32]int{1: 3, 99: 0} {
		n := 0
		for _, err := range s.SiteHosts(t.Context(), site) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want {
			t.Errorf("%d hosts of site %d, want %d", n, site, want)
		}
	}
}

func TestChangesByWeight(t *testing.T) {
	t.Parallel()
	event := func(seq int64, kind EventKind, significance float32, reasons Reasons) Event {
		return Event{Bucket: 7, Seq: seq, At: ago(time.Minute), Kind: kind, Significance: significance, Reasons: reasons, URL: "https://a.example/"}
	}
	events := []Event{event(1, EventChanged, 0.9, ReasonText), event(2, EventChanged, 0.55, ReasonDateOnly), event(3, EventChanged, 0, 0),
		event(4, EventRefreshed, 0.2, ReasonCounter), event(5, EventRefreshed, 0, 0), event(6, EventGone, 0, 0)}
	s := openFilled(t, func(ctx context.Context, x *tx) error { return eventTable.insert(ctx, x, events) })
	for weight, want := range map[float32][]int64{0: {6, 5, 4, 3, 2, 1}, 0.2: {6, 4, 3, 2, 1}, 0.8: {6, 3, 1}, 1: {6, 3}} {
		found, err := s.Changes(t.Context(), ChangesQuery{Since: 1, Limit: 9, Weight: weight})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, e := range found {
			got = append(got, e.Seq)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events of weight %v (-want +got):\n%s", weight, diff)
		}
	}
}
