package content

import (
	"fmt"
	"testing"

	"recrawld/recrawl/canon"
)

// TestFamiliesOfOnePageMakeRoom: a shop's /product/17?variant=1, or articles with a colon in their titles, are families of one page each, and leave
// room for those of many.
func TestFamiliesOfOnePageMakeRoom(t *testing.T) {
	t.Parallel()
	family := func(path string) Family {
		u, err := canon.Parse("https://a.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		return FamilyOf(u)
	}
	var h HostMemory
	for n := range 10 * maxFamilies {
		h.Tells(family(fmt.Sprintf("/wiki/Film_%d:_The_End", n)), int64(n), false, "")
	}
	for n := range maxFamilies { // addresses that lead to another one, each of a family of its own
		h.Tells(family(fmt.Sprintf("/product/%d?variant=1", n)), int64(n), true, "")
		h.TellsLed(parsed(t, fmt.Sprintf("/a?name%d=1", n)), parsed(t, "/a"))
	}
	form := family("/w/index.php?title=A&action=edit")
	for n := range EnoughAside {
		h.Tells(form, int64(5000+n), true, "")
	}
	if !h.LeavesAside(form) {
		t.Errorf("forms are not left aside, after %d pages of families of their own; %d are kept", 10*maxFamilies, len(h.families))
	}
}

func BenchmarkFamilyOf(b *testing.B) {
	var h HostMemory
	for n := range maxFamilies {
		h.Tells(Family(n+1), int64(n), false, "")
	}
	for _, path := range []string{"/blog/2024/a-title-of-some-length/", "/w/index.php?title=A_title&action=edit&section=1"} {
		u, _ := canon.Parse("https://a.example" + path)
		b.Run(path[:3], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if k := FamilyOf(u); k != 0 {
					h.LeavesAside(k)
				}
			}
		})
	}
}
