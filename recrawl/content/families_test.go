package content

import (
	"testing"

	"recrawld/recrawl/canon"
)

// TestFamilyOf: pages that one part of a server makes are of one family, and what others it makes are of another.
func TestFamilyOf(t *testing.T) {
	t.Parallel()
	families := [][]string{
		{"/w/index.php?title=A&action=edit", "/w/index.php?action=edit&title=B_c"},
		{"/w/index.php?title=A&action=edit&section=1", "/w/index.php?title=B&action=edit&section=12"},
		{"/w/index.php?title=A&action=history"},
		{"/w/index.php?title=A&oldid=5", "/w/index.php?title=A&oldid=6"},
		{"/w/index.php?title=A", "/w/index.php?title=B"},
		{"/w/index.php?title=Special:UserLogin&returnto=A", "/w/index.php?title=Special%3AUserLogin&returnto=B"},
		{"/index.php?title=A", "/index.php?title=B"},
		{"/wiki/Special:WhatLinksHere/A", "/wiki/Special:RecentChanges", "/wiki/Special%3ALog"},
		{"/wiki/Talk:A"},
		{"/index.php?topic=7.0", "/index.php?topic=812.15"},
		{"/index.php?topic=7.msg99", "/index.php?topic=8.msg7"},
		{"/index.php?topic=7.new"},
		{"/index.php?topic=7.0;prev_next=next", "/index.php?topic=8.15;prev_next=prev"},
		{"/index.php?action=profile;u=7", "/index.php?action=profile;u=8"},
		{"/index.php?action=who;u=7"},
		{"/index.php?q=1&v=red;u=7", "/index.php?q=1&v=red;u=8"}, // no parameters of their own
		{"/doku.php?id=a&do=edit"}, {"/doku.php?id=a&do=show"}, {"/doku.php?id=a", "/doku.php?id=b"},
	}
	of := make(map[Family]int)
	for n, urls := range families {
		for _, url := range urls {
			key := familyOf(t, url)
			if other, known := of[key]; key == 0 || known && other != n {
				t.Errorf("%s is of family %x, that of %s", url, key, families[other])
			}
			of[key] = n
		}
	}
	if len(of) != len(families) {
		t.Errorf("%d families, want %d", len(of), len(families))
	}
	for _, none := range []string{"/", "/blog/a", "/wiki/A", "/:a", "/a/:b"} {
		if key := familyOf(t, none); key != 0 {
			t.Errorf("%s is of family %x, want none", none, key)
		}
	}
}

func familyOf(t *testing.T, path string) Family {
	t.Helper()
	u, err := canon.Parse("http://one.test" + path)
	if err != nil {
		t.Fatal(err)
	}
	return FamilyOf(u)
}

// TestFamiliesAreLeftAside once enough of their pages were seen, and are no more from the first on that asks for nothing.
func TestFamiliesAreLeftAside(t *testing.T) {
	t.Parallel()
	h := &HostMemory{}
	for page := range int64(EnoughAside) {
		if h.LeavesAside(1) {
			t.Fatalf("left aside after %d pages", page)
		}
		if !h.Tells(1, page, true, "") || h.Tells(1, page, true, "") {
			t.Fatalf("page %d is no news, or is twice", page)
		}
	}
	h.Tells(2, 50, false, "")
	h = DecodeHost(h.Encode())
	if !h.LeavesAside(1) || h.LeavesAside(2) || h.LeavesAside(3) || h.Tells(1, 99, true, "") || h.Tells(2, 51, false, "") {
		t.Errorf("of %+v the first is not left aside, another is, or what is known is news", h.families)
	}
	if !h.Tells(1, 3, false, "") || DecodeHost(h.Encode()).LeavesAside(1) || h.Tells(1, 4, true, "") || h.LeavesAside(1) {
		t.Error("a family is left aside of which a page is for readers")
	}
}
