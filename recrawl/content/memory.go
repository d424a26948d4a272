package content

import "time"

// MaxPageMemory and MaxHostMemory are the lengths in bytes that the encoded memories never exceed.
const (
	MaxPageMemory = 16 << 10
	MaxHostMemory = 64 << 10
)

// PageMemory is what is remembered of one page's differences. The zero PageMemory remembers nothing.
type PageMemory struct{}

// DecodePage reads what Encode wrote. A damaged memory reads as an empty one.
func DecodePage(b []byte) *PageMemory { return &PageMemory{} }

// Encode writes the memory, in at most MaxPageMemory bytes; nil where there is nothing to remember.
func (m *PageMemory) Encode() []byte { return nil }

// HostMemory is what is remembered of the noise that a host's pages share. The zero HostMemory remembers nothing.
type HostMemory struct{}

// DecodeHost reads what Encode wrote. A damaged memory reads as an empty one.
func DecodeHost(b []byte) *HostMemory { return &HostMemory{} }

// Encode writes the memory, in at most MaxHostMemory bytes; nil where there is nothing to remember.
func (h *HostMemory) Encode() []byte { return nil }

// Noise lists the regions of the host that were learned to be noise, the latest seen first.
func (h *HostMemory) Noise() []Region { return nil }

// LearnMissing keeps the shape of the host's answer to a name that does not exist.
func (h *HostMemory) LearnMissing(answer *View, status int, at time.Time) {}

// RegionKind says how a region was learned to be noise.
type RegionKind uint8

// The kinds of region.
const (
	Template RegionKind = iota + 1 // it changed on several pages of the host at once
	Volatile                       // it keeps changing
	Missing                        // the host's answer for pages that do not exist
)

// String is the kind's word.
func (k RegionKind) String() string { return [...]string{"", "template", "volatile", "missing"}[k] }

// Region is a part of a host's pages that is noise.
type Region struct {
	Key    uint64 // names it in Orders
	Kind   RegionKind
	Path   string // where it stands
	Sample string // text that was seen there
	Pages  int    // on how many pages
	Times  int    // how often it changed
	First  time.Time
	Last   time.Time
	Pinned bool // a person said that it stays noise
}

// Orders are what a person decided of a host's noise. The zero Orders say nothing.
type Orders struct{ all []Order }

// Order is one decision.
type Order struct {
	Key   uint64 // of the Region
	Noise bool   // pinned as noise; false: cleared, it counts as content until it is learned anew
	At    time.Time
}

// DecodeOrders reads what Encode wrote. Damaged orders read as none.
func DecodeOrders(b []byte) *Orders { return &Orders{} }

// Encode writes the orders; nil for none.
func (o *Orders) Encode() []byte { return nil }

// List returns the orders in the order they were given.
func (o *Orders) List() []Order { return o.all }

// Set replaces what was decided of a region.
func (o *Orders) Set(order Order) {
	o.Drop(order.Key)
	o.all = append(o.all, order)
}

// Drop forgets what was decided of a region.
func (o *Orders) Drop(key uint64) {
	kept := o.all[:0]
	for _, one := range o.all {
		if one.Key != key {
			kept = append(kept, one)
		}
	}
	o.all = kept
}
