package scheduler

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/models"
)

// stocked is a store with some ready hosts in each of some buckets.
type stocked struct {
	Store
	hosts map[int16]int
	looks int
	asked [][]int16 // by each claim
}

func (s *stocked) Ready(context.Context) (ready []models.BucketReady, err error) {
	s.looks++
	for bucket, n := range s.hosts {
		if n > 0 {
			ready = append(ready, models.BucketReady{Bucket: bucket, At: noon.Add(time.Duration(bucket) * time.Millisecond)})
		}
	}
	slices.SortFunc(ready, func(a, b models.BucketReady) int { return a.At.Compare(b.At) })
	return ready, nil
}

func (s *stocked) Claim(_ context.Context, c models.ClaimRequest) (leases []models.Lease, err error) {
	s.asked = append(s.asked, slices.Clone(c.Buckets))
	for _, bucket := range c.Buckets {
		for ; s.hosts[bucket] > 0 && len(leases) < c.Hosts; s.hosts[bucket]-- {
			leases = append(leases, models.Lease{Host: models.Host{Bucket: bucket}})
		}
	}
	return leases, nil
}

// claimFrom looks and claims, and returns the buckets of what it leased and when to look again.
func claimFrom(t *testing.T, w *Worker, now time.Time, hosts int) (buckets []int16, next time.Time) {
	t.Helper()
	ready, _, err := w.look(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	leases, next, err := w.claimReady(t.Context(), models.ClaimRequest{Now: now, Hosts: hosts}, ready)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases {
		buckets = append(buckets, l.Host.Bucket)
	}
	return buckets, next
}

func TestALookServesTheClaimsBehindIt(t *testing.T) {
	t.Parallel()
	s := &stocked{hosts: map[int16]int{3: 2, 5: 1, 7: 3}}
	w := &Worker{Config: Config{Store: s, Clock: clock.NewVirtual(noon), Fetchers: 8}}
	now := noon.Add(time.Second)
	for _, want := range [][]int16{{3}, {3}, {5}, {7}} {
		if got, _ := claimFrom(t, w, now, 1); !slices.Equal(got, want) {
			t.Errorf("claimed from %v, want %v", got, want)
		}
	}
	// A bucket that has no more is asked once in vain.
	if diff := cmp.Diff([][]int16{{3}, {3}, {3}, {5}, {5}, {7}}, s.asked); diff != "" || s.looks != 1 {
		t.Errorf("%d looks, want 1; buckets asked (-want +got):\n%s", s.looks, diff)
	}
	s.hosts[3] = 1 // ready again; it is seen a moment later
	if got, _ := claimFrom(t, w, now.Add(seenFor-1), 1); !slices.Equal(got, []int16{7}) {
		t.Errorf("right behind the look claimed from %v, want 7", got)
	}
	if got, _ := claimFrom(t, w, now.Add(seenFor), 8); !slices.Equal(got, []int16{3, 7}) || s.looks != 2 {
		t.Errorf("later claimed from %v after %d looks, want 3 and 7 after 2", got, s.looks)
	}
}

func TestWhereALookIsWornOutThereIsAnotherAtOnce(t *testing.T) {
	t.Parallel()
	s := &stocked{hosts: map[int16]int{3: 2, 5: 1}}
	w := &Worker{Config: Config{Store: s, Clock: clock.NewVirtual(noon), Fetchers: 8}}
	now := noon.Add(time.Second)
	claimFrom(t, w, now, 1)
	s.hosts = map[int16]int{9: 1} // others took what was left
	if got, next := claimFrom(t, w, now, 1); len(got) > 0 || !next.Equal(now) {
		t.Errorf("claimed from %v, next look at %v, want from none and one at once", got, next)
	}
	if got, _ := claimFrom(t, w, now, 1); !slices.Equal(got, []int16{9}) {
		t.Errorf("then claimed from %v, want 9", got)
	}
	s.hosts = map[int16]int{}
	claimFrom(t, w, now, 1)
	w.left = nil
	if got, next := claimFrom(t, w, now, 1); len(got) > 0 || !next.IsZero() {
		t.Errorf("with nothing ready claimed from %v, next look at %v, want none at no time", got, next)
	}
}

func TestAWorkerWithoutFetchersLooksEachTime(t *testing.T) {
	t.Parallel()
	s := &stocked{hosts: map[int16]int{3: 2}}
	w := &Worker{Config: Config{Store: s, Clock: clock.NewVirtual(noon)}}
	claimFrom(t, w, noon.Add(time.Second), 1)
	if claimFrom(t, w, noon.Add(time.Second), 1); s.looks != 2 {
		t.Errorf("two claims looked %d times, want 2", s.looks)
	}
}
