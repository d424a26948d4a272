package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/sync/semaphore"

	"recrawld/config"
	"recrawld/report"
)

// The bounds of an announcement: IndexNow's own, and what that many addresses of usual length come to.
const (
	mostAnnounced     = 10_000
	mostAnnouncedBody = 8 << 20
	announcedAtOnce   = 4 // announcements that are read and written; others wait
)

// Announcement is what whoever publishes pages says came, changed or went, as IndexNow has it (indexnow.org/documentation).
type Announcement struct {
	Host string // of all pages, with its port where that is not the scheme's own; "": that of the first
	Key  string // shows who he is; of the form of one
	URLs []string
}

// Announced is what becomes of an announcement: numbers of pages, each counted once.
type Announced struct {
	Added   int `json:"added"`    // not known so far
	Next    int `json:"next"`     // are visited next
	Noted   int `json:"noted"`    // wait for their time: what is announced was wrong too often, or they wait for something else
	LeftOut int `json:"left_out"` // outside the site, its filter or its bounds, or of no interest
}

// indexNow answers GET and POST /indexnow, where search engines have it: publishers have programs that announce there whatever they
// change. They show a key of theirs, not our token.
type indexNow struct {
	library Library
	reading *semaphore.Weighted
}

func newIndexNow(o Options, stopping context.Context) http.Handler {
	n := indexNow{library: o.Library, reading: semaphore.NewWeighted(announcedAtOnce)}
	return answerer{options: o, stopping: stopping, time: mostQueue, ask: n.ask}
}

func (n indexNow) ask(ctx context.Context, r *http.Request) (func(http.ResponseWriter) error, error) {
	inTime, cancel := context.WithTimeout(ctx, mostQueue)
	defer cancel()
	if n.reading.Acquire(inTime, 1) != nil {
		return nil, Refusal{http.StatusServiceUnavailable, errors.New("too many announce at once")}
	}
	defer n.reading.Release(1)
	a, err := readAnnouncement(r)
	if err != nil {
		return nil, err
	}
	done, err := n.library.Announce(ctx, a)
	return func(w http.ResponseWriter) error { return report.WriteValue(w, done) }, err
}

// readAnnouncement reads one address of a GET, or those of a POST. The statuses of refusals are those of the protocol. What it does not
// name is left out: there are many programs that ask.
func readAnnouncement(r *http.Request) (Announcement, error) {
	var a Announcement
	if looks(r) {
		query := r.URL.Query()
		a.Key, a.URLs = query.Get("key"), query["url"]
	} else {
		var body struct {
			Host, Key string
			URLList   addresses
		}
		if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, mostAnnouncedBody)).Decode(&body); err != nil {
			status := http.StatusBadRequest
			if errors.As(err, new(*http.MaxBytesError)) {
				status = http.StatusRequestEntityTooLarge
			}
			return a, Refusal{status, fmt.Errorf(`the body is not {"host": …, "key": …, "urlList": […]} in at most %d bytes: %w`, mostAnnouncedBody, err)}
		}
		a = Announcement{body.Host, body.Key, body.URLList}
	}
	switch {
	case len(a.URLs) == 0:
		return a, Refusal{http.StatusBadRequest, errors.New("there is no page: url in the address, urlList in a body")}
	case len(a.URLs) > mostAnnounced:
		return a, Refusal{http.StatusUnprocessableEntity, fmt.Errorf("there are more than %d pages: send them in parts", mostAnnounced)}
	case !config.IsKey(a.Key):
		return a, Refusal{http.StatusUnprocessableEntity, errors.New(`the key is missing, or is not 8 to 128 letters (a to z), digits or "-"`)}
	}
	return a, nil
}

// addresses are a list of texts that is read no further than shows that it is too long: anybody can send millions, before his key is
// looked at.
type addresses []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *addresses) UnmarshalJSON(list []byte) error {
	*a = nil
	d := json.NewDecoder(bytes.NewReader(list))
	switch begin, err := d.Token(); {
	case err != nil:
		return err
	case begin == nil: // null
		return nil
	case begin != json.Delim('['):
		return errors.New("urlList is no list")
	}
	for d.More() && len(*a) <= mostAnnounced {
		var one string
		if err := d.Decode(&one); err != nil {
			return err
		}
		*a = append(*a, one)
	}
	return nil
}
