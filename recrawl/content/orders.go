package content

import "time"

// Orders are what a person decided of a host's noise. The zero Orders say nothing.
type Orders struct{ all []Order }

// Order is one decision.
type Order struct {
	Key   uint64 // of the Region
	Noise bool   // pinned as noise; false: cleared, it counts as content until it is learned anew
	At    time.Time
}

const ordersForm = 1

// MaxOrders is how many decisions are kept of a host. None is forgotten for another one, nor because nothing shows what it is about.
const MaxOrders = 2000

// DecodeOrders reads what Encode wrote. Damaged orders read as none.
func DecodeOrders(b []byte) *Orders {
	p := newParser(b, ordersForm)
	o := &Orders{}
	for range min(p.count(), MaxOrders) {
		o.all = append(o.all, Order{Key: p.hash(), Noise: p.bool(), At: time.Unix(p.signed(), 0).UTC()})
	}
	if !p.whole() {
		return &Orders{}
	}
	return o
}

// Encode writes the orders; nil for none.
func (o *Orders) Encode() []byte {
	if len(o.all) == 0 {
		return nil
	}
	w := newWriter(ordersForm)
	w.number(uint64(len(o.all)))
	for _, one := range o.all {
		w.hash(one.Key)
		w.bool(one.Noise)
		w.signed(one.At.Unix())
	}
	return w.finish()
}

// List returns the orders in the order they were given.
func (o *Orders) List() []Order { return o.all }

// Set replaces what was decided of a region; false: there is no room for one more, and it is as it was.
func (o *Orders) Set(order Order) bool {
	if _, known := o.of(order.Key); !known && len(o.all) >= MaxOrders {
		return false
	}
	o.Drop(order.Key)
	o.all = append(o.all, order)
	return true
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

// of is what was decided of a region.
func (o *Orders) of(key uint64) (order Order, decided bool) {
	if o == nil {
		return Order{}, false
	}
	for _, one := range o.all {
		if one.Key == key {
			return one, true
		}
	}
	return Order{}, false
}
