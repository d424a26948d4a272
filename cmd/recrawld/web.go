package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"recrawld/models"
	"recrawld/report"
	"recrawld/web"
)

// shelf lends what a library knows to the daemon's own server.
type shelf struct{ library func() library }

// Changes implements web.Library.
func (s shelf) Changes(ctx context.Context, q web.ChangesQuery) (report.Document, error) {
	b := s.library()
	d, err := b.asked(ctx, q)
	switch {
	case errors.Is(err, models.ErrCursorLost):
		err = web.Refusal{Status: http.StatusGone, Err: err}
	case err != nil && exitCode(err) != exitFailed: // a word in it is wrong
		err = web.Refusal{Status: http.StatusBadRequest, Err: err}
	}
	return d, err
}

// asked reads the words of a query and lists the changes that it asks for.
func (b library) asked(ctx context.Context, q web.ChangesQuery) (report.Document, error) {
	kinds, err := eventKinds(q.Kinds)
	if err != nil {
		return report.Document{}, err
	}
	site, err := siteID(b.force.rows, q.Site)
	if err != nil {
		return report.Document{}, err
	}
	after, err := feedCursor(ctx, b.store, q.After)
	if err != nil {
		return report.Document{}, err
	}
	d, _, err := b.changes(ctx, after, models.ChangesQuery{Site: site, Kinds: kinds, Limit: q.Limit, Weight: float32(q.Weight)})
	return d, err
}

// Page implements web.Library.
func (s shelf) Page(ctx context.Context, q web.PageQuery) (any, error) {
	said, err := s.library().text(ctx, q.URL, q.Version)
	switch exitCode(err) {
	case exitNotFound:
		err = web.Refusal{Status: http.StatusNotFound, Err: err}
	case exitUsage:
		err = web.Refusal{Status: http.StatusBadRequest, Err: err}
	}
	return said, err
}

// tokenFile is where in the data directory the token lies that opens what the daemon's own server knows of pages. Whoever may read it
// may read the database, too.
const tokenFile = "web.token"

// webToken is the token, which is made where there is none yet, and where it lies.
func webToken(dir string) (token, file string, err error) {
	file = filepath.Join(dir, tokenFile)
	stored, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeToken(file); err == nil {
			stored, err = os.ReadFile(file) // perhaps that of another worker that began at the same time
		}
	}
	if err != nil {
		return "", file, fmt.Errorf("the token for the web: %w", err)
	}
	token = strings.TrimSpace(string(stored))
	if len(token) < leastToken {
		return "", file, fmt.Errorf("%s holds no token, or one that can be guessed: remove it, and the next start makes one", file)
	}
	return token, file, nil
}

// leastToken is how many characters a token has at least: those of 128 random bits.
const leastToken = 26

// makeToken puts a token into a file, whole or not at all. One that is there stays.
func makeToken(file string) error {
	draft, err := os.CreateTemp(filepath.Dir(file), tokenFile+".*.tmp") // for nobody else to read
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, draft.Close()); err != nil {
		return err
	}
	if err = os.Link(draft.Name(), file); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
