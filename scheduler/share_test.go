package scheduler

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"recrawld/clock"
	"recrawld/models"
)

// A worker sleeps until the earliest bucket that is its to take, and takes others' only when they are late.
func TestMineTakesOthersBucketsLate(t *testing.T) {
	t.Parallel()
	peers := []Peer{{Name: "a", Share: 1}, {Name: "b", Share: 1}}
	w := &Worker{Config: Config{Name: "a", Clock: clock.NewVirtual(noon), Live: func() []Peer { return peers }}}
	var own, other int16
	for bucket := range int16(models.Buckets) {
		if Prefer(peers, bucket) == "a" {
			own = bucket
		} else {
			other = bucket
		}
	}
	for _, test := range []struct {
		own, other time.Duration
		buckets    []int16
		next       time.Duration
	}{
		{0, 0, []int16{own}, othersLate},
		{-time.Millisecond, -othersLate, []int16{own, other}, 0},
		{-time.Second, -2 * time.Second, []int16{own, other}, 0},
		{-time.Second, -time.Minute, []int16{other, own}, 0},
		{time.Second, 0, nil, time.Second},
		{time.Minute, 0, nil, othersLate},
	} {
		ready := []models.BucketReady{{Bucket: own, At: noon.Add(test.own)}, {Bucket: other, At: noon.Add(test.other)}}
		if test.other < test.own {
			ready[0], ready[1] = ready[1], ready[0]
		}
		buckets, next := w.mine(ready, noon)
		want := time.Time{}
		if test.next > 0 {
			want = noon.Add(test.next)
		}
		if diff := cmp.Diff(test.buckets, buckets, cmpopts.EquateEmpty()); diff != "" || !next.Equal(want) {
			t.Errorf("mine, own due in %v, other's in %v: next %v, want %v; buckets (-want +got):\n%s", test.own, test.other, next, want, diff)
		}
	}
}

// drawPeers draws some workers.
func drawPeers(t *rapid.T) []Peer {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}`), 1, 8, rapid.ID[string]).Draw(t, "names")
	peers := make([]Peer, len(names))
	for i, name := range names {
		peers[i] = Peer{Name: name, Share: rapid.Float64Range(0, 1).Draw(t, "share")}
	}
	return peers
}

// A worker that leaves, or wants less, gives buckets up and moves no other.
func TestOnlyItsOwnBucketsMove(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawPeers(t)
		one := rapid.IntRange(0, len(before)-1).Draw(t, "one")
		less := append([]Peer(nil), before...)
		less[one].Share *= rapid.Float64Range(0, 1).Draw(t, "factor")
		gone := append(append([]Peer(nil), before[:one]...), before[one+1:]...)
		for bucket := range int16(models.Buckets) {
			had := Prefer(before, bucket)
			if got, want := preferred(before, one, bucket), had == before[one].Name; got != want {
				t.Fatalf("bucket %d is %q's: %t, want %t, as Prefer = %q", bucket, before[one].Name, got, want, had)
			}
			if now := Prefer(less, bucket); now != had && had != before[one].Name {
				t.Fatalf("bucket %d moved from %q to %q though only %q wants less", bucket, had, now, before[one].Name)
			}
			if now := Prefer(gone, bucket); now != had && had != before[one].Name {
				t.Fatalf("bucket %d moved from %q to %q though only %q left", bucket, had, now, before[one].Name)
			}
		}
	})
}

// Workers get as many buckets as their shares say.
func TestBucketsFollowTheShares(t *testing.T) {
	t.Parallel()
	peers := []Peer{{Name: "w1", Share: 1}, {Name: "w2", Share: 1}, {Name: "w3", Share: 0.5}, {Name: "w4", Share: math.NaN()}}
	got := map[string]float64{}
	const buckets = 20_000 // more than there are: a hash is seen to be even only over many
	for bucket := range buckets {
		got[Prefer(peers, int16(bucket))]++
	}
	for name, share := range map[string]float64{"w1": 1, "w2": 1, "w3": 0.5, "w4": leastShare} {
		want := share / (2.5 + leastShare)
		if part := got[name] / buckets; math.Abs(part-want) > 0.02 {
			t.Errorf("%s has %.3f of the buckets, want %.3f", name, part, want)
		}
	}
	if got := Prefer(nil, 7); got != "" {
		t.Errorf("Prefer of nobody = %q", got)
	}
}

// A worker that lags behind the others wants less until it does not; where all lag alike nobody gives anything up.
func TestBalance(t *testing.T) {
	t.Parallel()
	idle := []Peer{{Name: "b"}, {Name: "c", Lag: 100 * time.Millisecond}, {Name: "d", Lag: time.Minute}}
	busy := []Peer{{Name: "b", Lag: 4 * time.Second}, {Name: "c", Lag: 5 * time.Second}}
	for name, test := range map[string]struct {
		share  float64
		lag    time.Duration
		others []Peer
		want   float64
	}{
		"nobody else":         {0.25, time.Minute, nil, 1},
		"quick":               {0.5, 0, idle, 0.515625},
		"quick, all it wants": {1, 0, idle, 1},
		"lags":                {0.8, 3 * time.Second, idle, 0.6000000000000001},
		"lags, has little":    {leastShare, time.Minute, idle, leastShare},
		"a little late":       {0.8, 200 * time.Millisecond, idle, 0.8},
		"as late as all":      {1, 5 * time.Second, busy, 1},
		"less late than all":  {0.5, 3 * time.Second, busy, 0.515625},
	} {
		if got := Balance(test.share, test.lag, test.others); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: Balance(%v, %v) = %v, want %v", name, test.share, test.lag, got, test.want)
		}
	}
}
