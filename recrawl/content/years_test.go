package content

import "testing"

// TestPlaceThatChangesForYears stays volatile, on a page that is visited each minute.
func TestPlaceThatChangesForYears(t *testing.T) {
	t.Parallel()
	m := &PageMemory{}
	before := &Block{Text: "one", Main: true}
	c := Case{Before: &View{nodes: []node{{}}}, After: &View{nodes: []node{{}}}, Page: m, Host: &HostMemory{}}
	p := &pair{before: before, after: before}
	for n := range uint32(300_000) {
		m.seen++
		if n > 100 && !c.isVolatile(7, p, 0, false) {
			t.Fatalf("after %d changes it counts as content: %+v", n, m.slots[0])
		}
		m.changed(7, n%3+1, (n+1)%3+1, false) // never what was there just before
	}
}

// TestPlaceThatFlipsForWeeks stays volatile where every second visit sees a change, to what was there before.
func TestPlaceThatFlipsForWeeks(t *testing.T) {
	t.Parallel()
	m := &PageMemory{}
	before := &Block{Text: "one", Main: true}
	c := Case{Before: &View{nodes: []node{{}}}, After: &View{nodes: []node{{}}}, Page: m, Host: &HostMemory{}}
	p := &pair{before: before, after: before}
	for n := range uint32(100_000) {
		m.seen++
		if n%3 == 2 {
			continue
		}
		if n > 100 && !c.isVolatile(7, p, 0, false) {
			t.Fatalf("after %d visits it counts as content: %+v", n, m.slots[0])
		}
		m.changed(7, n%2+1, (n+1)%2+1, false)
	}
}
