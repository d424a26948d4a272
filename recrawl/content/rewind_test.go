package content

import "testing"

func TestRewindHostBringsTimesBack(t *testing.T) {
	t.Parallel()
	const now, ahead = 1_000_000, 2_000_000
	h := &HostMemory{moves: []move{{token: 1, at: 10}, {token: 2, at: ahead}}, regions: []region{{key: 3, first: 20, last: ahead}},
		retracts: []retract{{page: 4, at: ahead}}, missing: []shape{{text: 5, at: ahead}},
		standIns: []standIn{{print: 6, first: 30, pages: []sighting{{page: 7, at: ahead}}}}}
	body := h.Encode()
	back := func(at int64) int64 { return min(at, now) }
	got := DecodeHost(RewindHost(body, back))
	if got.moves[0].at != 10 || got.moves[1].at != now || got.regions[0].first != 20 || got.regions[0].last != now ||
		got.retracts[0].at != now || got.missing[0].at != now || got.standIns[0].first != 30 ||
		got.standIns[0].pages[0].at != now {
		t.Errorf("brought back: %+v", got)
	}
	if same := RewindHost(got.Encode(), back); string(same) != string(got.Encode()) {
		t.Error("brought back once more it is another one")
	}
	if odd := []byte("odd"); string(RewindHost(odd, back)) != "odd" {
		t.Error("what cannot be read was changed")
	}
}
