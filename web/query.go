package web

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawld/config"
)

// The rows of an answer, and the entries of a feed.
const (
	usualRows = 1000
	mostRows  = 10_000

	usualEntries = 30
	mostEntries  = 100
)

// usualKinds are what a person is told of who does not say. Pages that are refreshed have other bytes and say to a reader what they said;
// failing and excluded are for whoever keeps the crawl.
const usualKinds = "new,changed,moved,gone,restored,removed"

// question holds the parameters of a request until each was read.
type question struct {
	values url.Values
	errs   []error // of what was read so far
}

// readChanges reads the parameters of /v1/changes.
func readChanges(raw string) (q ChangesQuery, wait time.Duration, err error) {
	ask := parse(raw, "after", "limit", "wait", "site", "kind", "min_significance", "requisites")
	q = ChangesQuery{After: ask.word("after"), Limit: usualRows}
	if q.After == "" {
		ask.wrong("after is missing: there is now, start, all, and the cursor that an earlier answer ended with")
	}
	ask.narrow(&q, mostRows)
	if word := ask.word("wait"); word != "" {
		if wait, err = config.ParseDuration(word); err != nil || wait < 0 || wait > mostWait {
			ask.wrong("wait is a time from 0s to %s", config.FormatDuration(mostWait))
		}
	}
	return q, wait, errors.Join(ask.errs...)
}

// readFeed reads the parameters of /feed.
func readFeed(raw string) (q ChangesQuery, err error) {
	ask := parse(raw, "site", "kind", "min_significance", "requisites", "limit")
	q.Limit = usualEntries
	if ask.narrow(&q, mostEntries); len(q.Kinds) == 0 {
		q.Kinds = strings.Split(usualKinds, ",")
	}
	return q, errors.Join(ask.errs...)
}

// narrow reads what is told of all events, at most so many.
func (q *question) narrow(into *ChangesQuery, most int) {
	var err error
	into.Site = q.word("site")
	for _, list := range q.values["kind"] {
		into.Kinds = append(into.Kinds, slices.DeleteFunc(strings.Split(list, ","), func(kind string) bool { return kind == "" })...)
	}
	if word := q.word("limit"); word != "" {
		if into.Limit, err = strconv.Atoi(word); err != nil || into.Limit < 1 || into.Limit > most {
			q.wrong("limit is a number from 1 to %d", most)
		}
	}
	if word := q.word("min_significance"); word != "" {
		if into.Weight, err = strconv.ParseFloat(word, 64); err != nil || !(into.Weight >= 0 && into.Weight <= 1) {
			q.wrong("min_significance is a number from 0 to 1")
		}
	}
	switch word := q.word("requisites"); word {
	case "on", "off", "":
		into.Requisites = word == "on"
	default:
		q.wrong("requisites is on or off")
	}
}

// readPage reads the parameters of /v1/pages.
func readPage(raw string) (q PageQuery, err error) {
	ask := parse(raw, "url", "version", "chunks", "have")
	if q.URL = ask.word("url"); q.URL == "" {
		ask.wrong("url is missing: that of a page")
	}
	if word := ask.word("version"); word != "" {
		number, err := strconv.ParseInt(word, 10, 32)
		if err != nil || number == 0 {
			ask.wrong("version is a number, from 1 on; -1 is the newest")
		}
		q.Version = int32(number)
	}
	q.Chunks = ask.word("chunks")
	if word := ask.word("have"); word != "" {
		number, err := strconv.ParseInt(word, 10, 32)
		if err != nil || number < 1 || q.Chunks == "" {
			ask.wrong("have is the number of a version, from 1 on, and asks which chunks are new since")
		}
		q.Have = int32(number)
	}
	return q, errors.Join(ask.errs...)
}

// parse takes the parameters apart and finds those that there are not: one that is misspelt would be passed over.
func parse(raw string, known ...string) *question {
	values, err := url.ParseQuery(raw)
	q := &question{values: values}
	if err != nil {
		q.wrong("the parameters are no such: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(known, name):
			q.wrong("there is no parameter %.40q; there is %s", name, strings.Join(known, ", "))
		case len(values[name]) > 1 && name != "kind":
			q.wrong("%s is given more than once", name)
		}
	}
	return q
}

func (q *question) word(name string) string { return q.values.Get(name) }

func (q *question) wrong(format string, args ...any) {
	q.errs = append(q.errs, fmt.Errorf(format, args...))
}
