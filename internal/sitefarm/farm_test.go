package sitefarm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestPathsAndAddressesComeBack(t *testing.T) {
	t.Parallel()
	f, err := New(Config{Hosts: 70000, Pages: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []int{0, 1, 254, 255, 65535, 69999} {
		if got := f.hostOf(Addr(host)); got != host || !Addr(host).IsLoopback() {
			t.Errorf("the host at %s is %d, want %d on loopback", Addr(host), got, host)
		}
	}
	for page := range 3 {
		if got := f.pageOf(Path(page)); got != page {
			t.Errorf("the page of %s is %d, want %d", Path(page), got, page)
		}
	}
	for _, path := range []string{"/robots.txt", Path(3), "/section/0/page-1.html", "/page-x.html", "/section/1/page-1"} {
		if got := f.pageOf(path); got != -1 {
			t.Errorf("the page of %s is %d, want none", path, got)
		}
	}
	if got := f.hostOf(netip.MustParseAddr("127.0.0.1")); got != -1 {
		t.Errorf("the host at 127.0.0.1 is %d, want none", got)
	}
}

func TestEachPageIsLinked(t *testing.T) {
	t.Parallel()
	f, err := New(Config{Hosts: 1, Pages: 500, Size: 4000})
	if err != nil {
		t.Fatal(err)
	}
	linked := map[int]bool{0: true}
	for page := range 500 {
		text := string(f.AppendPage(nil, 0, page, 0))
		if len(text) < 4000 || len(text) > 4100 {
			t.Fatalf("page %d has %d bytes, want some 4000", page, len(text))
		}
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, `href="`)
			if !ok {
				break
			}
			path, tail, _ := strings.Cut(after, `"`)
			if linked[f.pageOf(path)] = true; f.pageOf(path) < 0 {
				t.Fatalf("page %d links to %s, which is none", page, path)
			}
			rest = tail
		}
	}
	if len(linked) != 500 {
		t.Errorf("%d of 500 pages are linked", len(linked))
	}
}

func TestChangesAreTheirShare(t *testing.T) {
	t.Parallel()
	f, err := New(Config{Hosts: 2, Pages: 50, Changes: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	changes := uint32(0)
	for n := range 10000 {
		host, page := n%2, n%50
		before := f.ask(host, page, false)
		changes += f.ask(host, page, true) - before
	}
	if changes < 490 || changes > 510 {
		t.Errorf("%d of 10000 conditional requests found a change, want some 500", changes)
	}
}

// The paragraphs may end anywhere beside the size that a page shall have.
func TestPagesOfAnySize(t *testing.T) {
	t.Parallel()
	for size := 3000; size < 4200; size++ {
		f, err := New(Config{Hosts: 1, Pages: 100, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.AppendPage(nil, 0, 7, 0)); got < size || got > size+1000 {
			t.Fatalf("a page of %d bytes has %d", size, got)
		}
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	f, err := New(Config{Hosts: 3, Pages: 10, Size: 3000})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(f)
	if err != nil {
		t.Skipf("no farm of sites here: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	get := func(host int, path string, head http.Header) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s:%d%s", Addr(host), s.Port(), path), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = head
		answer, err := new(http.Transport).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if status, body := get(2, Path(4), http.Header{}); status != 200 || !strings.Contains(body, "<h1>Page 4 of site 2, edition 0</h1>") {
		t.Errorf("page 4 of host 2 = %d, %.200q", status, body)
	}
	for _, head := range []http.Header{{"If-None-Match": {ETag(0)}}, {"If-Modified-Since": {Epoch.Format(http.TimeFormat)}}} {
		if status, body := get(0, "/", head); status != http.StatusNotModified || body != "" {
			t.Errorf("with %v = %d, %q, want 304", head, status, body)
		}
	}
	for _, path := range []string{"/robots.txt", Path(10)} {
		if status, _ := get(0, path, http.Header{}); status != http.StatusNotFound {
			t.Errorf("%s = %d, want 404", path, status)
		}
	}
	if status, _ := get(3, "/", http.Header{}); status != http.StatusNotFound {
		t.Errorf("a host beyond the last = %d, want 404", status)
	}
}
