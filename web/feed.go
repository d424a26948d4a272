package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
)

// Feeds written at a time, while others wait: their bodies take memory, and the processor from the visits. One takes no longer than that,
// to find its events and then to read what its entries say.
const (
	feedsAtOnce = 2
	feedLook    = 20 * time.Second
	feedRead    = 10 * time.Second
)

// feeds answers /feed.
type feeds struct {
	library Library
	version string              // of the program
	writing *semaphore.Weighted // of as many as are written at a time
}

func newFeed(o Options, stopping context.Context) http.Handler {
	f := feeds{library: o.Library, version: o.Version, writing: semaphore.NewWeighted(feedsAtOnce)}
	return answerer{options: o, stopping: stopping, time: mostQueue + feedLook + feedRead, ask: f.ask}
}

func (f feeds) ask(ctx context.Context, r *http.Request) (func(http.ResponseWriter) error, error) {
	q, err := readFeed(r.URL.RawQuery)
	if err != nil {
		return nil, Refusal{http.StatusBadRequest, err}
	}
	waiting, stop := context.WithTimeout(ctx, mostQueue)
	defer stop()
	if f.writing.Acquire(waiting, 1) != nil {
		return nil, Refusal{http.StatusServiceUnavailable, errors.New("too many feeds are asked for at once")}
	}
	defer f.writing.Release(1)
	found, err := f.find(ctx, q)
	if err != nil {
		return nil, err
	}
	tag := f.tag(found, q)
	if matches(r.Header.Values("If-None-Match"), tag) {
		return func(w http.ResponseWriter) error { return unchanged(w, tag) }, nil
	}
	told, whole := tell(ctx, found.Entries)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	document, err := atom(found, q, told)
	if !whole {
		tag = "" // the next answer has more to say of the same events
	}
	return func(w http.ResponseWriter) error { return writeAtom(w, document, tag) }, err
}

// find lists the entries, in the time that there is for that.
func (f feeds) find(ctx context.Context, q ChangesQuery) (Feed, error) {
	inTime, cancel := context.WithTimeout(ctx, feedLook)
	defer cancel()
	found, err := f.library.Feed(inTime, q)
	if err != nil && errors.Is(inTime.Err(), context.DeadlineExceeded) {
		err = Refusal{http.StatusServiceUnavailable, errors.New("the newest events that this asks for are not found in time: ask again, and it goes on from there")}
	}
	return found, err
}

// tag is the entity tag of a feed: another one where other events are told, or in other words. It is a weak one, since what is said of
// an event may become less where copies are lost.
func (f feeds) tag(found Feed, q ChangesQuery) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %d\n", f.version, found.Log, parameters(q), found.Back.Unix())
	for _, e := range found.Entries {
		fmt.Fprintf(sum, "%q %d\n", e.ID, e.Pages)
	}
	return `W/"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
}

// matches tells whether a tag is among those of an If-None-Match (RFC 9110, section 13.1.2).
func matches(fields []string, tag string) bool {
	opaque := strings.TrimPrefix(tag, "W/")
	for _, one := range strings.Split(strings.Join(fields, ","), ",") { // no tag of ours has a comma in it
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == opaque {
			return true
		}
	}
	return false
}

// parameters ask for a feed, whatever its asker left out.
func parameters(q ChangesQuery) string {
	asked := url.Values{"kind": {strings.Join(q.Kinds, ",")}, "limit": {strconv.Itoa(q.Limit)}}
	if q.Site != "" {
		asked.Set("site", q.Site)
	}
	if q.Weight > 0 {
		asked.Set("min_significance", strconv.FormatFloat(q.Weight, 'g', -1, 64))
	}
	if q.Requisites {
		asked.Set("requisites", "on")
	}
	return asked.Encode()
}

// telling is what an entry says.
type telling struct{ title, said string }

// tell reads what entries say, one after another; false: the time for that was over before all were read. An entry of which nothing can be
// read says why.
func tell(ctx context.Context, entries []Entry) (told []telling, whole bool) {
	inTime, cancel := context.WithTimeout(ctx, feedRead)
	defer cancel()
	whole = true
	for _, e := range entries {
		if inTime.Err() != nil {
			told, whole = append(told, telling{said: late}), false
			continue
		}
		title, said, err := e.Read(inTime)
		one := telling{title, string(said)}
		switch {
		case err != nil && inTime.Err() != nil:
			one.said, whole = late, false
		case err != nil:
			one.said = "<p>What this says cannot be shown: " + html.EscapeString(err.Error()) + "</p>"
		}
		told = append(told, one)
	}
	return told, whole
}

// late is said of entries for which there was no time.
const late = "<p>What this says cannot be shown: there was no time left to read it. A smaller limit takes less.</p>"

// keptBy says who may keep a feed and for how long: the reader, who asks each time whether it still holds.
const keptBy = "private, no-cache"

func unchanged(w http.ResponseWriter, tag string) error {
	w.Header().Del("Content-Type")
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", keptBy)
	w.WriteHeader(http.StatusNotModified)
	return nil
}

// writeAtom answers with a document that has a tag; "": it has none.
func writeAtom(w http.ResponseWriter, document []byte, tag string) error {
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	if tag != "" {
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", keptBy)
	}
	_, err := w.Write(document)
	return err
}
