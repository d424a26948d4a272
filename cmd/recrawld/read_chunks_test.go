package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/web"
)

// TestChunks: a receiver who has a version hears which chunks are new since and which are gone, and one whose version cannot be had any
// more is told to begin anew.
func TestChunks(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	const url = "https://docs.example.org/guide"
	f.page(1, url, []step{
		{ago: 3 * time.Hour, kind: models.First, body: `<main><h1>Guide</h1><p>About.<h2>Install</h2><p>With apt.<h2>Use</h2><p>Run it.</main>`, frMax: 4},
		{ago: time.Hour, kind: models.Changed, body: `<main><h1>Guide</h1><p>About.<h2>Install</h2><p>With dnf.<h2>Use</h2><p>Run it.<h2>End</h2><p>Stop.</main>`, frMax: 4},
	}, func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(day)) })
	old, err := b.text(t.Context(), textQuery{url: url, number: 1, chunks: usualChunk})
	if err != nil || old.Text != "" || len(old.Chunks) != 3 || len(old.Gone) != 0 || slices.ContainsFunc(old.Chunks, func(c shownChunk) bool { return !c.New }) {
		t.Fatalf("the first version is %+v, %v; want three chunks, all new, in place of the text", old, err)
	}
	now, err := b.text(t.Context(), textQuery{url: url, chunks: usualChunk, have: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range now.Chunks {
		mark := "="
		if c.New {
			mark = "+"
		}
		got = append(got, mark+strings.Join(c.Headings, ">")+": "+c.Text)
	}
	want := []string{"=Guide: About.", "+Guide>Install: With dnf.", "=Guide>Use: Run it.", "+Guide>End: Stop."}
	if !slices.Equal(got, want) || len(now.Gone) != 1 || now.Gone[0] != old.Chunks[1].ID || now.Version != 2 {
		t.Errorf("chunks %q, gone %q; want %q, gone %s", got, now.Gone, want, old.Chunks[1].ID)
	}
	if same, err := b.text(t.Context(), textQuery{url: url, chunks: usualChunk, have: 2}); err != nil || len(same.Gone) != 0 ||
		slices.ContainsFunc(same.Chunks, func(c shownChunk) bool { return c.New }) {
		t.Errorf("whoever has version 2 hears %+v, %v; want nothing new", same, err)
	}
	if _, err := b.text(t.Context(), textQuery{url: url, chunks: usualChunk, have: 9}); !errors.Is(err, errNoBasis) || !strings.Contains(err.Error(), "no version 9") {
		t.Errorf("a version that there never was: %v", err)
	}
	for q, want := range map[web.PageQuery]int{{URL: url, Chunks: "on", Have: 9}: http.StatusGone, {URL: url, Chunks: "few"}: http.StatusBadRequest} {
		_, err := newShelf(func() library { return b }).Page(t.Context(), q)
		if refused := (web.Refusal{}); !errors.As(err, &refused) || refused.Status != want {
			t.Errorf("%+v is answered %v, want status %d", q, err, want)
		}
	}
	read := b.read
	b.read = func(at models.Record) (archive.Answer, error) {
		answer, err := read(at)
		if strings.Contains(string(answer.Body), "apt") {
			return archive.Answer{}, fs.ErrNotExist
		}
		return answer, err
	}
	if _, err := b.text(t.Context(), textQuery{url: url, chunks: usualChunk, have: 1}); !errors.Is(err, errNoBasis) {
		t.Errorf("a version whose copy is lost: %v; want %v", err, errNoBasis)
	}
}

// TestNoChunks: who asks for chunks is given a list of them and one of those that are gone, also where there are none.
func TestNoChunks(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	const url = "https://docs.example.org/blank"
	f.page(1, url, []step{{ago: time.Hour, kind: models.First, body: `<title>Blank</title>`, frMax: 4}},
		func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(day)) })
	for chunks, want := range map[int]bool{0: false, usualChunk: true} {
		said, err := b.text(t.Context(), textQuery{url: url, chunks: chunks})
		if err != nil {
			t.Fatal(err)
		}
		form, err := json.Marshal(said)
		if got := strings.Contains(string(form), `"chunks":[],"gone":[]`); err != nil || got != want {
			t.Errorf("chunks of %d characters: %s, %v; want the empty lists: %t", chunks, form, err, want)
		}
	}
}

func TestChunkLength(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{"": 0, "on": usualChunk, "200": 200, "100000": 100_000, "199": -1, "100001": -1, "off": -1, "-5": -1, "2k": -1} {
		if n, err := chunkLength(word); n != want && (want >= 0 || err == nil) {
			t.Errorf("chunkLength(%q) = %d, %v; want %d", word, n, err, want)
		}
	}
}

// TestChunksInATerminal: the command prints chunks, and refuses what is no question.
func TestChunksInATerminal(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"/": `<title>Guide</title><main><h1>Guide</h1><p>About.<h2>Use</h2><p>Run it.</main>`}
	site := serve(t, pages)
	config, _ := configure(t, "")
	must(t, "run", "-c", config, site.URL+"/", "--for", "2s")
	out := must(t, "show", "-c", config, site.URL+"/", "--text", "--chunks", "on", "--have", "1")
	if !strings.Contains(out, "Guide > Use  as before\nRun it.\n") {
		t.Errorf("printed are\n%s", out)
	}
	for flags, want := range map[string]struct {
		code int
		says string
	}{
		"--chunks on": {exitUsage, "add --text"}, "--text --chunks 3": {exitUsage, "from 200 to 100000"}, "--text --have 1": {exitUsage, "--chunks"},
		"--text --chunks on --have 7": {exitNotFound, "take all chunks as new"},
	} {
		code, _, stderr := command(t, append([]string{"show", "-c", config, site.URL + "/"}, strings.Fields(flags)...)...)
		if code != want.code || !strings.Contains(stderr, want.says) {
			t.Errorf("show %s: exit code %d, %s; want %d and %q", flags, code, stderr, want.code, want.says)
		}
	}
}
