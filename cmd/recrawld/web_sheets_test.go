package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"recrawld/web"
)

// anyTag is an element's beginning or end.
var anyTag = regexp.MustCompile(`<[^>]*>`)

// TestSheetsShowWhatTheCommandsPrint: to the letter, whatever the parameters.
func TestSheetsShowWhatTheCommandsPrint(t *testing.T) {
	t.Parallel()
	base, dir := sheetsOfFilled(t)
	page := func(raw string) string { return "?url=" + url.QueryEscape(raw) }
	lines := map[string]string{
		"status":                          "status",
		"changes":                         "changes",
		"changes?since=30d&kind=new,gone": "changes --since 30d --kind new,gone",
		"changes?kind=new&kind=gone&since=30d&limit=2&min-significance=0.2&site=docs": "changes --since 30d --kind new --kind gone --limit 2 --min-significance 0.2 --site docs",
		"due?site=&next=7d&limit=3":                                                              "due --next 7d --limit 3",
		"why" + page("https://docs.example.org/install"):                                         "why https://docs.example.org/install",
		"why" + page("docs.example.org/nowhere"):                                                 "why docs.example.org/nowhere",
		"show" + page("https://docs.example.org/install") + "&limit=1":                           "show https://docs.example.org/install --limit 1",
		"diff" + page("https://docs.example.org/install") + "&versions=2..4&lines=true&all=true": "diff https://docs.example.org/install 2..4 --lines --all",
		"report/change-rates?by=directory&depth=1":                                               "report change-rates --by directory --depth 1",
	}
	_, list := asks(t, base+"/report")
	for _, name := range reportNames() {
		lines["report/"+name] = "report " + name
		if part := `<a href="/report/` + name + `">`; !strings.Contains(list, part) {
			t.Errorf("the list of the reports has no %s:\n%s", part, list)
		}
	}
	for question, line := range lines {
		want, complaint, code := desk(t, dir, strings.Fields(line)...)
		status, body := asks(t, base+"/"+question)
		_, shown, _ := strings.Cut(body, "<pre>")
		shown, _, _ = strings.Cut(shown, "</pre>")
		got := strings.ReplaceAll(html.UnescapeString(anyTag.ReplaceAllString(shown, "")), dir, "DATA")
		if wanted := map[int]int{exitDone: http.StatusOK, exitNotFound: http.StatusNotFound}[code]; status != wanted || got != want {
			t.Errorf("%s = %d\n%s\n%s: exit code %d, %s\n%s", question, status, got, line, code, complaint, want)
		}
	}
}

// TestTheSheetOfASite: all that there is to know of a site, of that one alone, to which its name leads.
func TestTheSheetOfASite(t *testing.T) {
	t.Parallel()
	base, _ := sheetsOfFilled(t)
	if _, body := asks(t, base+"/status"); !strings.Contains(body, `<a href="/site?site=docs">docs</a>`) {
		t.Errorf("the name of a site leads nowhere:\n%s", body)
	}
	status, body := asks(t, base+"/site?site=docs")
	for _, part := range []string{"Cost by site", "Change rates by directory", "Changes of the last", "Due in the next", "Rhythm", "docs.example.org/", `<a href="/report/cost?site=docs">cost</a>`} {
		if status != http.StatusOK || !strings.Contains(body, part) {
			t.Errorf("the sheet of a site = %d, has no %q:\n%s", status, part, body)
		}
	}
	if strings.Contains(body, "blog.example.net") {
		t.Errorf("the sheet of a site tells of another one:\n%s", body)
	}
	for question, want := range map[string]string{"": "site is missing", "?site=nowhere": "no site &#34;nowhere&#34;", "?site=docs&limit=3": "there is no parameter"} {
		if status, body := asks(t, base+"/site"+question); status != http.StatusBadRequest && status != http.StatusNotFound || !strings.Contains(body, want) {
			t.Errorf("site%s = %d, want %q:\n%s", question, status, want, body)
		}
	}
}

// sheetsOfFilled serves what there is to look at of a directory that is filled.
func sheetsOfFilled(t *testing.T) (base, dir string) {
	t.Helper()
	dir = filledData(t)
	var g globals
	g.connect(strings.NewReader(""), io.Discard, io.Discard)
	g.Data = dir
	l, err := g.openLook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.close() })
	return serveAll(t, web.Options{Sheets: webSheets(func(out io.Writer) *look {
		own, streams := *l, *l.globals
		streams.Stdout = out
		own.globals, own.style.Links, own.style.Sites = &streams, true, true
		return &own
	})}), dir
}

// TestSheetsRefuse: parameters that are wrong, and flags that are not theirs.
func TestSheetsRefuse(t *testing.T) {
	t.Parallel()
	base, _ := sheetsOfFilled(t)
	page := func(raw string) string { return "?url=" + url.QueryEscape(raw) }
	for question, want := range map[string]struct {
		status int
		says   string
	}{
		"why":                               {400, "url is missing"},
		"why?url=":                          {400, "url is missing"},
		"why" + page("ftp://x/"):            {400, "scheme is not http or https"},
		"show" + page("--help"):             {404, "not found"},
		"show" + page("nowhere/"):           {404, "not found"},
		"show" + page("x") + "&version=1":   {400, "there is no parameter &#34;version&#34;"},
		"changes?limit=0":                   {400, "limit is a number from 1 to 2000"},
		"changes?limit=2001":                {400, "limit is a number from 1 to 2000"},
		"changes?limit=-1":                  {400, "limit is a number from 1 to 2000"},
		"changes?since=x":                   {400, "since"},
		"changes?kind=unheard":              {400, "there is new, changed"},
		"changes?site=nobody":               {404, "there is docs, blog"},
		"changes?follow=true":               {400, "there is no parameter"},
		"changes?after=start":               {400, "there is no parameter"},
		"changes?data=/etc":                 {400, "there is no parameter"},
		"changes?site=docs&--json":          {400, "there is no parameter"},
		"report/daily?by=hour":              {400, "there is day, site"},
		"report/daily?format=csv":           {400, "there is no parameter"},
		"report/change-rates?since=7d":      {400, "there is no parameter"},
		"report/cost?by=directory&since=7d": {400, "over time there is --by site, day"},
	} {
		if status, body := asks(t, base+"/"+question); status != want.status || !strings.Contains(body, want.says) {
			t.Errorf("%s = %d %s, want %d and %q", question, status, body[strings.Index(body, "<main>"):], want.status, want.says)
		}
	}
	if status, _ := asks(t, base+"/report/none"); status != http.StatusNotFound {
		t.Errorf("a report that there is not = %d", status)
	}
}

// TestFault_105_NoTokenCanBeGuessed: it has at least 128 random bits, is made once and for nobody else to read, also where several begin
// at a time; one that can be guessed is refused. Package web compares sums of it, in constant time.
func TestFault_105_NoTokenCanBeGuessed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var made sync.Map
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			token, file, err := webToken(dir)
			if err != nil || len(token) < 26 || file != filepath.Join(dir, "web.token") {
				t.Errorf("webToken = %q, %s, %v", token, file, err)
			}
			made.Store(token, true)
		})
	}
	all.Wait()
	n := 0
	made.Range(func(_, _ any) bool { n++; return true })
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n != 1 || len(files) != 1 {
		t.Errorf("%d tokens in %v, want one", n, files)
	}
	if info, err := os.Stat(filepath.Join(dir, "web.token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file is %v, %v", info.Mode(), err)
	}
	if other, _, err := webToken(t.TempDir()); err != nil {
		t.Error(err)
	} else if _, same := made.Load(other); same || len(other)*5 < 128 || !regexp.MustCompile("^[A-Z2-7]*$").MatchString(other) {
		t.Errorf("the next token is %q, want 128 random bits of five a letter", other)
	}
	for _, bad := range []string{"", "\n", "secret", "long enough, but no browser would keep it", `in"quotes"that"a"cookie"cannot"have`} {
		if err := os.WriteFile(filepath.Join(dir, "web.token"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := webToken(dir); err == nil || !strings.Contains(fmt.Sprint(err), "remove it") {
			t.Errorf("%q is taken for a token: %v", bad, err)
		}
	}
	if _, _, err := webToken(filepath.Join(dir, "none")); err == nil {
		t.Error("a token without a directory")
	}
}

// TestATokenWhereThereAreNoLinks: some file systems know none.
func TestATokenWhereThereAreNoLinks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "web.token")
	if err := makeToken(file, func(string, string) error { return unix.EPERM }); err != nil {
		t.Fatal(err)
	}
	if token, _, err := webToken(filepath.Dir(file)); err != nil || token == "" {
		t.Errorf("webToken = %q, %v", token, err)
	}
	if files, err := os.ReadDir(filepath.Dir(file)); err != nil || len(files) != 1 {
		t.Errorf("what is left is %v, %v", files, err)
	}
}

// TestTheLinkHoldsTheToken, whatever letters somebody chose for it.
func TestTheLinkHoldsTheToken(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdefghijklmno+/=="
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "web.token"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read, _, err := webToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(openLink(netip.MustParseAddrPort("127.0.0.1:1"), read))
	if err != nil || link.Host != "127.0.0.1:1" || link.Query().Get("token") != token {
		t.Errorf("the link of %s is %v, %v", token, link, err)
	}
}
