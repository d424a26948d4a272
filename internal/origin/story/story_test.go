package story

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/internal/origin"
)

var from = time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)

const length = 60 * 24 * time.Hour

func TestTheSameSeedTellsTheSameStory(t *testing.T) {
	t.Parallel()
	a, b, other := digests(t, Tell(1, from, length)), digests(t, Tell(1, from, length)), digests(t, Tell(2, from, length))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two tellings differ (-first +second):\n%s", diff)
	}
	if cmp.Equal(a, other) {
		t.Error("another seed tells the same story")
	}
}

func digests(t *testing.T, w *origin.World) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, h := range w.Hosts {
		for _, p := range h.Pages() {
			digest, err := p.Digest(from.Add(length / 2))
			if err != nil {
				t.Fatal(err)
			}
			all[h.Label+p.Path] = digest
		}
	}
	return all
}

func TestVersionsComeInOrderAndDiffer(t *testing.T) {
	t.Parallel()
	for _, h := range Tell(1, from, length).Hosts {
		for _, p := range h.Pages() {
			before := ""
			for i, v := range p.Versions {
				if i > 0 && !v.At.After(p.Versions[i-1].At) {
					t.Errorf("%s%s: version %d of %v is not later than the one before", h.Label, p.Path, i, v.At)
				}
				if v.Status != 0 {
					continue
				}
				body, err := v.Body()
				if err != nil || string(body) == before {
					t.Errorf("%s%s: version %d repeats the one before, or %v", h.Label, p.Path, i, err)
				}
				before = string(body)
			}
		}
	}
}

var href = regexp.MustCompile(`href="([^"]+)"`)

// TestEverythingCanBeFound follows the links from the start pages at several times.
func TestEverythingCanBeFound(t *testing.T) {
	t.Parallel()
	pages := 0
	for _, h := range Tell(1, from, length).Hosts {
		found := map[string]bool{"/": true, origin.RobotsPath: true}
		for at := from; at.Before(from.Add(length)); at = at.Add(6 * time.Hour) {
			follow(t, h, "/", at, found)
		}
		for _, p := range h.Pages() {
			if !found[p.Path] && p.Path != "/help/questions" {
				t.Errorf("%s%s is never linked", h.Label, p.Path)
			}
			pages++
		}
	}
	if pages < 75 || pages > 110 {
		t.Errorf("the story has %d pages, want about 80", pages)
	}
}

func follow(t *testing.T, h *origin.Host, path string, at time.Time, found map[string]bool) {
	t.Helper()
	p := h.Page(path)
	if p == nil || !p.Alive(at) {
		return
	}
	body, err := p.Versions[p.Index(at)].Body()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range href.FindAllStringSubmatch(string(body), -1) {
		if !found[link[1]] {
			found[link[1]] = true
			follow(t, h, link[1], at, found)
		}
	}
}

func TestNewsKeepsOfficeHours(t *testing.T) {
	t.Parallel()
	for _, h := range Tell(1, from, length).Hosts {
		if h.Label != News {
			continue
		}
		for _, v := range h.Page("/").Versions[1:] {
			day := v.At.Weekday()
			if day == time.Saturday || day == time.Sunday || v.At.Hour() < 8 || v.At.Hour() > 20 {
				t.Errorf("an article came out on %s", v.At.Format("Monday 15:04"))
			}
		}
	}
}

func TestSomePagesLeave(t *testing.T) {
	t.Parallel()
	docs := Tell(1, from, length).Hosts[0]
	late := from.Add(20 * 24 * time.Hour)
	status := func(path string) int {
		p := docs.Page(path)
		return p.Versions[p.Index(late)].Status
	}
	if got := status("/faq"); got != http.StatusMovedPermanently {
		t.Errorf("status of /faq after twenty days = %d, want 301", got)
	}
	if got := status("/beta"); got != http.StatusGone {
		t.Errorf("status of /beta after twenty days = %d, want 410", got)
	}
	if body, err := docs.Page("/").Versions[0].Body(); err != nil || !strings.Contains(string(body), "/guide/sharding") {
		t.Errorf("the start page of the documentation has no dead link (%v)", err)
	}
}

// TestALongStoryMakesNoLongStatusPages: a page of every hour that named all incidents there ever were took a gigabyte and
// minutes to make up for a demo of forty minutes.
func TestALongStoryMakesNoLongStatusPages(t *testing.T) {
	t.Parallel()
	for _, h := range Tell(1, from, 3*365*24*time.Hour).Hosts {
		if h.Label != Status {
			continue
		}
		for _, path := range []string{"/", "/history"} {
			p := h.Page(path)
			body, err := p.Versions[len(p.Versions)-1].Body()
			if err != nil || len(body) > 4<<10 {
				t.Errorf("%s has %d bytes after three years (%v), at most 4 KiB are wanted", path, len(body), err)
			}
		}
	}
}
