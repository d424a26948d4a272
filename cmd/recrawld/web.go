package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"recrawld/models"
	"recrawld/report"
	"recrawld/web"
)

// shelf lends what a library knows to the daemon's own server.
type shelf struct {
	library func() library
	recent  *recentFeeds
}

func newShelf(of func() library) shelf { return shelf{of, newRecentFeeds(feedLooks)} }

// refusal is an error as the asker is told it.
func refusal(err error) error {
	switch exitCode(err) {
	case exitUsage:
		return web.Refusal{Status: http.StatusBadRequest, Err: err}
	case exitNotFound:
		return web.Refusal{Status: http.StatusNotFound, Err: err}
	}
	return err
}

// Changes implements web.Library.
func (s shelf) Changes(ctx context.Context, q web.ChangesQuery) (report.Document, error) {
	d, err := s.library().asked(ctx, q)
	switch {
	case errors.Is(err, models.ErrCursorLost):
		return d, web.Refusal{Status: http.StatusGone, Err: err}
	case exitCode(err) == exitNotFound: // what a word of the question names; the changes are there
		return d, web.Refusal{Status: http.StatusBadRequest, Err: err}
	}
	return d, refusal(err)
}

// asked reads the words of a query and lists the changes that it asks for.
func (b library) asked(ctx context.Context, q web.ChangesQuery) (report.Document, error) {
	kinds, err := eventKinds(q.Kinds)
	if err != nil {
		return report.Document{}, err
	}
	sites, err := b.sitesTold(ctx, q.Site)
	if err != nil {
		return report.Document{}, err
	}
	after, err := feedCursor(ctx, b.store, q.After)
	if err != nil {
		return report.Document{}, err
	}
	query := models.ChangesQuery{Sites: sites, Kinds: kinds, Requisites: q.Requisites, Limit: q.Limit, Weight: float32(q.Weight)}
	d, _, err := b.changesOf(ctx, q.Site, after, &query)
	return d, err
}

// Page implements web.Library.
func (s shelf) Page(ctx context.Context, q web.PageQuery) (any, error) {
	n, err := chunkLength(q.Chunks)
	if err != nil {
		return nil, web.Refusal{Status: http.StatusBadRequest, Err: err}
	}
	said, err := s.library().text(ctx, textQuery{url: q.URL, number: q.Version, chunks: n, have: q.Have})
	if errors.Is(err, errNoBasis) {
		return nil, web.Refusal{Status: http.StatusGone, Err: err}
	}
	return said, refusal(err)
}

// Visit implements web.Library.
func (s shelf) Visit(ctx context.Context, urls []string) (report.Document, error) {
	return s.library().visit(ctx, urls)
}

// visit gives pages their turn now, as the command does.
func (b library) visit(ctx context.Context, urls []string) (report.Document, error) {
	d := report.Document{Name: "visits", At: b.now, Columns: []report.Column{{Key: "asked"}, {Key: "url"}, {Key: "outcome"}, {Key: "why_not"}}}
	for _, asked := range urls {
		page, _, err := findPage(ctx, b.store, asked)
		if err == nil {
			err = b.store.VisitNow(ctx, b.now, page.Bucket, page.ID)
		}
		outcome, reason := "next", ""
		switch {
		case exitCode(err) == exitNotFound:
			outcome, reason = "unknown", "no page that was read links to it: ask for one that does, or for the sitemap"
		case exitCode(err) == exitUsage:
			outcome, reason = "wrong", err.Error()
		case err != nil:
			return d, err
		}
		d.Rows = append(d.Rows, report.Row{report.OnlyValue(asked), report.OnlyValue(page.URL), report.OnlyValue(outcome), report.OnlyValue(reason)})
	}
	return d, nil
}

// tokenFile is where in the data directory the token lies that opens what the daemon's own server knows of pages. Whoever may read it
// may read the database, too.
const tokenFile = "web.token"

// webToken is the token, which is made where there is none yet, and where it lies.
func webToken(dir string) (token, file string, err error) {
	file = filepath.Join(dir, tokenFile)
	stored, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeToken(file, os.Link); err == nil {
			stored, err = os.ReadFile(file) // perhaps that of another worker that began at the same time
		}
	}
	if err != nil {
		return "", file, fmt.Errorf("the token for the web: %w", err)
	}
	token = strings.TrimSpace(string(stored))
	if len(token) < leastToken || strings.ContainsFunc(token, notOfToken) {
		return "", file, fmt.Errorf("%s holds no token, which is %d letters and digits or more: remove it, and the next start makes one", file, leastToken)
	}
	return token, file, nil
}

// leastToken is how many characters a token has at least: those of 128 random bits.
const leastToken = 26

// notOfToken tells whether a character can not be in a header as a token (RFC 6750, section 2.1) and a cookie.
func notOfToken(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._~+/=", r)
}

// makeToken puts a token into a file, whole or not at all, also where the machine fails the next moment. One that is there stays.
func makeToken(file string, link func(from, to string) error) error {
	draft, err := os.CreateTemp(filepath.Dir(file), tokenFile+".*.tmp") // for nobody else to read
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err = link(draft.Name(), file); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.Rename(draft.Name(), file) // a file system without links
}

// openLink opens in a browser what the server at an address shows.
func openLink(at netip.AddrPort, token string) string {
	return fmt.Sprintf("http://%s/open?token=%s", at, url.QueryEscape(token))
}
