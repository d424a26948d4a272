package content

import (
	"fmt"
	"testing"

	"recrawld/recrawl/canon"
)

func parsed(t *testing.T, path string) canon.URL {
	t.Helper()
	return mustParse(t, "https://shop.example"+path)
}

func TestPlainParams(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, canonical, want string }{
		{"/i?page=3&path=1_2&product=7", "/i?product=7", "page&path"},
		{"/i?product=7&path=1_2&path=1", "/i?product=7", "path"},
		{"/i?variant=3", "/i", "variant"},
		{"/i?board=1.0;sort=views;desc", "/i?board=1.0", "desc&sort"},
		{"/i?a=1;b=2;c=3", "/i?a=1;c=3", "b"},
		{"/i?product=7", "/i?product=7", ""},
		{"/i?product=7&path=1", "/i?product=8", ""},                 // another one
		{"/i?product=7&path=1&lang=de", "/i?lang=en&product=7", ""}, // another language
		{"/i?path=1&product=7", "/j?product=7", ""},
		{"/i?product=7", "/i?product=7&path=1", ""},
		{"/i?a=1&b=2&c=3", "/i?b=2&a=1", ""}, // another address than what is left
		{"/i?" + fmt.Sprintf("%060d", 0) + "=1&b=2", "/i?b=2", ""},
	} {
		if got := PlainParams(parsed(t, c.at), parsed(t, c.canonical)); got != c.want {
			t.Errorf("%s leaves out %q where %s is canonical, want %q", c.at, got, c.canonical, c.want)
		}
	}
}

// TestWhatAllLeaveOut: of a family of which so many pages leave out the same, others are known without asking them, until one says otherwise.
func TestWhatAllLeaveOut(t *testing.T) {
	t.Parallel()
	at := func(n int) canon.URL { return parsed(t, fmt.Sprintf("/i?page=2&path=1&product=%d", n)) }
	family := PlainFamilyOf(at(0))
	for name, odd := range map[string]string{"none": "", "others": "page"} {
		h := &HostMemory{}
		for n := range EnoughAside {
			if _, known := h.Plainly(at(99)); known || !h.Undecided(family, "page&path") {
				t.Fatalf("known after %d pages", n)
			}
			if !h.Tells(family, int64(n), true, "page&path") || h.Tells(family, int64(n), true, "page&path") {
				t.Errorf("page %d is no news, or twice", n)
			}
			h = DecodeHost(h.Encode())
		}
		if got, known := h.Plainly(at(99)); !known || got != parsed(t, "/i?product=99") || h.Undecided(family, "page&path") {
			t.Errorf("it is %s, known %v", got, known)
		}
		if got, known := h.Plainly(parsed(t, "/i?product=99")); known {
			t.Errorf("what has no such parameters is %s", got)
		}
		if h.LeavesAside(FamilyOf(at(0))) {
			t.Error("it is left aside as a form is")
		}
		if got, known := h.Plainly(parsed(t, "/i?page=2&path=1&product=seven")); known {
			t.Errorf("what another part of the program may make is %s", got)
		}
		if got, known := h.Plainly(parsed(t, "/i?lang=de-DE&page=2&path=1&product=99")); known {
			t.Errorf("what has a parameter more is %s", got)
		}
		if !h.Leaves(family, 0) {
			t.Error("a page that spoke and is gone is no news")
		}
		if _, known := h.Plainly(at(99)); known {
			t.Error("it is known by a page that is gone")
		}
		h.Tells(family, 99, true, "page&path")
		h.Tells(family, 100, odd != "", odd)
		if _, known := h.Plainly(at(99)); known || h.Tells(family, 101, true, "page&path") {
			t.Errorf("one that leaves out %s is not heard", name)
		}
	}
}

func TestPlainFamilies(t *testing.T) {
	t.Parallel()
	const one = "/i?lang=en-gb&path=1_2&route=product/product"
	for other, same := range map[string]bool{
		"/i?lang=de-de&path=3&route=product/product":          true,
		"/i?path=3&route=product/product&lang=fr":             true,
		"/i?lang=en-gb&path=1_2&route=product/list":           false,
		"/i?lang=all&path=1_2&route=product/product":          false,
		"/i?lang=en-gb&path=1_2&route=product/product&page=2": false,
		"/j?lang=en-gb&path=1_2&route=product/product":        false,
		"/": false,
	} {
		if got := PlainFamilyOf(parsed(t, one)) == PlainFamilyOf(parsed(t, other)); got != same {
			t.Errorf("%s is of the family of %s: %v, want %v", other, one, got, same)
		}
	}
}

// TestOrdersAreOfOneFamily: by what a list is ordered is no part of a program.
func TestOrdersAreOfOneFamily(t *testing.T) {
	t.Parallel()
	of := func(path string) Family { return PlainFamilyOf(parsed(t, path)) }
	if of("/i?board=1.0;sort=views") != of("/i?board=2.20;sort=subject") || of("/i?board=1&route=views") == of("/i?board=1&route=subject") {
		t.Error("orders are of two families, or parts of a program of one")
	}
}
