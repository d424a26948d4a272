package content

import (
	"fmt"
	"testing"

	"recrawld/recrawl/canon"
)

// led lets so many pages, each asked for with so many values of a parameter, lead to themselves without it.
func led(t *testing.T, h *HostMemory, pages, values int) {
	t.Helper()
	for page := range pages {
		for value := range values {
			plain := fmt.Sprintf("/p%d?tab=1", page)
			from, to := parsed(t, fmt.Sprintf("%s&lang=l%d", plain, value)), parsed(t, plain)
			h.TellsLed(from, to)
			if h.TellsLed(from, to) {
				t.Fatal("the same is news again")
			}
			*h = *DecodeHost(h.Encode())
		}
	}
}

// TestIdleParams: what leads to the address without it, by enough values from enough pages, is left out of any address, until one shows something by it.
func TestIdleParams(t *testing.T) {
	t.Parallel()
	at, plain := parsed(t, "/new?lang=fr&q=1"), parsed(t, "/new?q=1")
	for _, c := range []struct {
		pages, values int
		then          func(h *HostMemory)
		idle          bool
	}{
		{enoughIdle, EnoughAside, nil, true},
		{enoughIdle - 1, 2 * EnoughAside, nil, false},
		{2 * EnoughAside, EnoughAside - 1, nil, false}, // as the first page of a list has one number
		{enoughIdle, EnoughAside, func(h *HostMemory) { h.TellsShown(at) }, false},
		{enoughIdle, EnoughAside, func(h *HostMemory) { h.TellsShown(plain) }, true},
		{enoughIdle, EnoughAside, func(h *HostMemory) { h.TellsLed(at, parsed(t, "/fr/new")) }, false},
		{enoughIdle, EnoughAside, func(h *HostMemory) { h.TellsLed(at, parsed(t, "/other?lang=fr")) }, true}, // it is as idle there, or not
		{enoughIdle, EnoughAside, func(h *HostMemory) { h.TellsLed(parsed(t, "/new?lang=fr&page=1"), parsed(t, "/new")) }, false},
	} {
		h := &HostMemory{}
		led(t, h, c.pages, c.values)
		if c.then != nil {
			c.then(h)
		}
		want := map[bool]canon.URL{true: plain, false: at}[c.idle]
		if got, other := h.Plainly(at); got != want || other != c.idle {
			t.Errorf("after %d pages by %d values each, and more: %s stands for %s, want %s", c.pages, c.values, got, at, want)
		}
	}
}

// TestIdleBesideWhatFamiliesLeaveOut: an address without what is idle is that of a family that leaves out more.
func TestIdleBesideWhatFamiliesLeaveOut(t *testing.T) {
	t.Parallel()
	h := &HostMemory{}
	led(t, h, enoughIdle, EnoughAside)
	for n := range EnoughAside {
		h.Tells(PlainFamilyOf(parsed(t, "/i?path=1&product=7")), int64(n), true, "path")
	}
	if got, _ := h.Plainly(parsed(t, "/i?path=1&product=7&lang=de")); got != parsed(t, "/i?product=7") {
		t.Errorf("%s stands for it", got)
	}
}
