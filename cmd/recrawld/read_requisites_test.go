package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/web"
)

const neededStyle = "https://cdn.example.com/main.css"

// requisite is a style that is kept because pages need it to be shown, and changed once.
func (f *filler) requisite() {
	f.needed = true
	f.page(1, neededStyle, []step{{ago: 9 * day, kind: models.First, body: "body{}", frMax: 4},
		{ago: 5 * time.Hour, kind: models.Changed, body: "body{color:red}", frMax: 3, weight: 1, reasons: models.ReasonBytes}},
		func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(day)) })
}

// withRequisite is filledData with a requisite, which its site keeps.
func withRequisite(t *testing.T) string {
	t.Helper()
	dir := filledData(t)
	keeps := strings.Replace(filledConfig, "    ignore: ", "    requisites: all\n    ignore: ", 1)
	if err := os.WriteFile(filepath.Join(dir, "recrawld.yaml"), []byte(keeps), 0o600); err != nil {
		t.Fatal(err)
	}
	fillMore(t, dir, (*filler).requisite)
	return dir
}

// requisiteRows are the rows of a table as JSON: how many there are, and how many of them say that they are of a requisite.
func requisiteRows(t *testing.T, text string) (all, requisites int) {
	t.Helper()
	var d struct {
		Rows []struct {
			URL       string
			Requisite *bool
		}
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, r := range d.Rows {
		if r.Requisite == nil || *r.Requisite != (r.URL == neededStyle) {
			t.Errorf("row of %s says %v, want whether it is of a requisite", r.URL, r.Requisite)
		}
		if r.URL == neededStyle {
			requisites++
		}
	}
	return len(d.Rows), requisites
}

// Who asks for changes hears of requisites only if he asks for these, wherever he begins.
func TestChangesOfRequisites(t *testing.T) {
	t.Parallel()
	dir := withRequisite(t)
	for _, flags := range []string{"--since 3650d", "--since 24h", "--after start", "--after all"} {
		want := map[string]int{"--since 24h": 1, "--after all": 1}[flags]
		if want == 0 {
			want = 2
		}
		line := append([]string{"changes", "--limit", "0"}, strings.Fields(flags)...)
		text, _, _ := desk(t, dir, line...)
		without, _, code := desk(t, dir, append(line, "--json")...)
		with, _, _ := desk(t, dir, append(line, "--json", "--requisites")...)
		all, needed := requisiteRows(t, without)
		more, told := requisiteRows(t, with)
		if code != exitDone || needed != 0 || told != want || more != all+want || all == 0 || strings.Contains(text, "main.css") {
			t.Errorf("changes %s has %d rows, %d of requisites, and with these %d and %d, want none and %d more: %s", flags, all, needed, more, told, want, text)
		}
	}
	without, _, _ := desk(t, dir, "changes", "--since", "3650d")
	with, _, _ := desk(t, dir, "changes", "--since", "3650d", "--requisites", "--limit", "0")
	var before, after [2]int
	for text, counts := range map[string]*[2]int{without: &before, with: &after} {
		_, words, _ := strings.Cut(text, "\n")
		if _, err := fmt.Sscanf(words, "%d new, %d changed", &counts[0], &counts[1]); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
	if after[0] != before[0]+1 || after[1] != before[1]+1 || !strings.Contains(with, neededStyle) {
		t.Errorf("%v are counted, and with requisites %v, want one more of either:\n%s", before, after, with)
	}
}

// Of a requisite the reading commands say what it is, and the status how many there are.
func TestPagesSayThatTheyAreRequisites(t *testing.T) {
	t.Parallel()
	dir := withRequisite(t)
	if text, _, _ := desk(t, dir, "why", neededStyle); !strings.Contains(text, "allowed: kept because pages need it to be shown, by requisites: all") {
		t.Errorf("why says\n%s", text)
	}
	for _, line := range []string{"why", "show", "show --text"} {
		for _, url := range []string{neededStyle, "https://docs.example.org/install"} {
			text, _, code := desk(t, dir, append(strings.Fields(line), "--json", url)...)
			if code != exitDone || strings.Contains(text, `"requisite": true`) != (url == neededStyle) {
				t.Errorf("%s %s: exit code %d, says\n%s", line, url, code, text)
			}
		}
	}
	due, _, _ := desk(t, dir, "due", "--json", "--next", "30d")
	if all, needed := requisiteRows(t, due); needed != 1 || all < 3 {
		t.Errorf("%d rows are due, %d of requisites, want one of some: %s", all, needed, due)
	}
	var s struct {
		Sites []struct {
			Site       string
			Pages      int
			Requisites *int
			Changes    int `json:"changes_24h"`
		}
	}
	text, _, _ := desk(t, dir, "status", "--json")
	plain, _, _ := desk(t, filledData(t), "status")
	shown, _, _ := desk(t, dir, "status")
	if err := json.Unmarshal([]byte(text), &s); err != nil || len(s.Sites) != 2 || s.Sites[0].Requisites == nil || *s.Sites[0].Requisites != 1 ||
		s.Sites[1].Requisites != nil || !strings.Contains(shown, "requisites") || strings.Contains(plain, "requisites") {
		t.Errorf("status says, %v:\n%s\n%s", err, text, shown)
	}
}

// The answers of /v1/changes, a feed, whoever follows and a receiver leave requisites out unless they are asked for; /v1/pages says what one is.
func TestRequisitesAreToldOnRequest(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dsn string) {
		f, b := filling(t, dsn)
		f.appears("before")
		f.requisite()
		f.appears("after")
		for _, asked := range []bool{false, true} {
			word, want := map[bool]string{false: "off", true: "on"}[asked], map[bool]int{true: 2}[asked]
			var got []int
			for _, after := range []string{"start", "all"} {
				d, err := b.asked(t.Context(), web.ChangesQuery{After: after, Requisites: asked, Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, rowsOf(d, neededStyle), len(d.Rows))
			}
			if want := []int{want, want + 2, min(want, 1), min(want, 1) + 2}; !slices.Equal(got, want) {
				t.Errorf("requisites %s: after start and after all are rows of it and all rows %v, want %v", word, got, want)
			}
			var entries int
			feed := readFeed(t, b, "?requisites="+word)
			for _, e := range feed.Entries {
				if strings.Contains(fmt.Sprint(e.Link), neededStyle) {
					entries++
				}
			}
			if entries != want || len(feed.Entries) != want+2 {
				t.Errorf("requisites %s: the feed has %d entries, %d of it, want %d", word, len(feed.Entries), entries, want)
			}
			if told, all := f.hookTold(asked); told != want || all != 4 {
				t.Errorf("requisites %s: a receiver is told %d of %d events of it, want %d of 4", word, told, all, want)
			}
		}
		lines := strings.Join(followed(t, b, "start", 1), "")
		if strings.Contains(lines, neededStyle) || strings.Count(lines, `"url"`) != 2 {
			t.Errorf("who follows is told\n%s", lines)
		}
		if said, err := b.text(t.Context(), textQuery{url: neededStyle}); err != nil || !said.Requisite || said.Version != 2 {
			t.Errorf("the page is %+v, %v, want the second version of a requisite", said, err)
		}
	})
}

// rowsOf is how many rows of a table are of a URL.
func rowsOf(d report.Document, url string) (n int) {
	at := slices.IndexFunc(d.Columns, func(c report.Column) bool { return c.Key == "url" })
	for _, r := range d.Rows {
		if r[at].Value == url {
			n++
		}
	}
	return n
}

// hookTold is how many events of the requisite a receiver is told of, with them or without, and how many events of any page there are.
func (f *filler) hookTold(requisites bool) (told, all int) {
	f.t.Helper()
	var events []models.Event
	for bucket := range int16(models.Buckets) {
		some, err := f.store.Events(f.t.Context(), bucket, 0, 100)
		f.must(err)
		events = append(events, some...)
	}
	h := hookTeller{hook: &config.Webhook{Kinds: config.IndexKinds(), Requisites: requisites}, parts: sinkParts{store: f.store, clock: clock.NewVirtual(filledNow)}}
	_, objects, err := h.describe(context.WithoutCancel(f.t.Context()), events)
	f.must(err)
	for i, e := range events {
		if e.URL == neededStyle && objects[i] != nil {
			told++
		}
		if e.URL != neededStyle && objects[i] == nil {
			f.t.Errorf("a receiver is not told of %s", e.URL)
		}
	}
	return told, len(events)
}
