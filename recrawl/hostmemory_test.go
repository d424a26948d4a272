package recrawl

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
)

// TestHostMemoryIsOfALease: all who visit a host in one lease share what is remembered of it, and the next lease reads it
// anew.
func TestHostMemoryIsOfALease(t *testing.T) {
	t.Parallel()
	all := newHostMemories()
	host := models.Host{Bucket: 1, ID: 2, LeaseToken: 3}
	first := all.of(&host)
	if all.of(&host) != first {
		t.Error("two visits of one lease do not share a memory")
	}
	host.LeaseToken++
	if all.of(&host) == first {
		t.Error("two leases share a memory")
	}
	if n := all.recent.Len(); n != 1 {
		t.Errorf("%d memories of one host are kept", n)
	}
	if !first.claimProbe() || first.claimProbe() || !first.claimAudit() || first.claimAudit() {
		t.Error("a lease has more than one probe or audit")
	}
}

// TestHostMemoryForgets holds that a memory in which nothing is left is written, so that the next lease does not read what
// was forgotten.
func TestHostMemoryForgets(t *testing.T) {
	t.Parallel()
	known := &content.HostMemory{}
	known.LearnMissing(content.Read([]byte("No such page"), "text/plain", canon.URL{}, nil), http.StatusOK, today)
	m := &hostMemory{loaded: true, body: known.Encode(), memory: known, orders: &content.Orders{}}
	honest := func(h *content.HostMemory, _ *content.Orders) { h.LearnMissing(nil, http.StatusNotFound, today) }
	body, turn := m.change(honest)
	if len(body) == 0 || turn == 0 || len(content.DecodeHost(body).Noise()) != 0 {
		t.Fatalf("what was forgotten is written as %x in turn %d", body, turn)
	}
	if body, _ := m.change(honest); body != nil {
		t.Errorf("it is written again, as %x", body)
	}
}

func TestHostMemoriesAreBounded(t *testing.T) {
	t.Parallel()
	all := newHostMemories()
	host := models.Host{ID: 1}
	used := all.of(&host)
	for i := range int64(10 * cachedHosts) {
		other := models.Host{ID: i + 2}
		all.of(&other)
		if all.of(&host) != used {
			t.Fatalf("the memory in use is gone after %d others", i)
		}
	}
	if n := len(all.byHost); n != cachedHosts || all.recent.Len() != n {
		t.Errorf("%d memories are kept, want %d", n, cachedHosts)
	}
}

// TestHostMemoryUnderManyVisits is for the race detector.
func TestHostMemoryUnderManyVisits(t *testing.T) {
	t.Parallel()
	all, past := newHostMemories(), newKept()
	var visits sync.WaitGroup
	for i := range 50 {
		visits.Go(func() {
			host := models.Host{ID: int64(i % 3), LeaseToken: 1}
			m := all.of(&host)
			if err := m.load(t.Context(), past); err != nil {
				t.Error(err)
			}
			m.change(func(h *content.HostMemory, o *content.Orders) {
				if h == nil || o == nil {
					t.Error("a memory was not loaded")
				}
				h.LearnMissing(nil, 404+i%7, today)
			})
			m.claimProbe()
		})
	}
	visits.Wait()
}

// TestHostMemoryThatCannotBeRead counts as nothing, and is not read again and again.
func TestHostMemoryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	past := newKept()
	past.fault = errors.New("no database")
	m := newHostMemories().of(&models.Host{ID: 1})
	if err := m.load(t.Context(), past); !errors.Is(err, past.fault) {
		t.Errorf("load = %v", err)
	}
	if err := m.load(t.Context(), past); err != nil {
		t.Errorf("load again = %v", err)
	}
}

// TestHostMemoryAfterAPanic is as it was before.
func TestHostMemoryAfterAPanic(t *testing.T) {
	t.Parallel()
	m := newHostMemories().of(&models.Host{ID: 1})
	if err := m.load(t.Context(), newKept()); err != nil {
		t.Fatal(err)
	}
	learn := func(h *content.HostMemory, _ *content.Orders) {
		h.LearnMissing(nil, 404, today)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		m.change(func(h *content.HostMemory, o *content.Orders) {
			learn(h, o)
			panic("a bug of ours")
		})
	}()
	if got := m.memory.Encode(); got != nil {
		t.Errorf("a memory that was half changed is still in use: %d bytes", len(got))
	}
	m.change(learn) // it is not locked
}

func TestHostMemoryThatCannotBeReadIsNotReplaced(t *testing.T) {
	t.Parallel()
	past := newKept()
	past.fault = errors.New("no database")
	m := newHostMemories().of(&models.Host{ID: 1})
	if err := m.load(t.Context(), past); !errors.Is(err, past.fault) {
		t.Errorf("load = %v", err)
	}
	body, turn := m.change(func(h *content.HostMemory, _ *content.Orders) { h.LearnMissing(nil, 404, today) })
	if body != nil || turn != 0 {
		t.Errorf("%d bytes, turn %d, are written over what could not be read", len(body), turn)
	}
}
