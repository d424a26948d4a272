package origin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"recrawld/clock"
)

// Entry is one request and what was answered. Start and End are by the origin's clock: when the handler was entered, and
// when all but the end of the answer was on its way. So the gap from one End to the next Start is never shorter than the
// one that the client kept.
type Entry struct {
	Seq             int       `json:"seq"` // in the order of Start, from 1
	Host            string    `json:"host"`
	Path            string    `json:"path"`
	Agent           string    `json:"agent"`
	Start           time.Time `json:"start"`
	End             time.Time `json:"end"`
	RealStart       time.Time `json:"real_start"`
	RealEnd         time.Time `json:"real_end"`
	Status          int       `json:"status"` // 0: the client went away before the answer
	Version         int       `json:"version"`
	Digest          string    `json:"digest,omitempty"` // SHA-256 of the decoded body that is in force, also for a 304
	Sent            int       `json:"sent"`             // body bytes on the wire
	Broken          bool      `json:"broken,omitempty"` // the client went away during the answer
	IfNoneMatch     string    `json:"if_none_match,omitempty"`
	IfModifiedSince string    `json:"if_modified_since,omitempty"`
	InFlight        int       `json:"in_flight"` // requests to the host under way at Start, this one included
}

// URL is what was asked for.
func (e Entry) URL() string { return "http://" + e.Host + e.Path }

// Robots tells whether it was a request for robots.txt.
func (e Entry) Robots() bool { return e.Path == RobotsPath }

// Conditional tells whether the request set a condition.
func (e Entry) Conditional() bool { return e.IfNoneMatch != "" || e.IfModifiedSince != "" }

// Log keeps every request in memory and, where it has a file, appends it there as a line of JSON. It is safe for
// concurrent use.
type Log struct {
	mu      sync.Mutex
	file    *os.File       // guarded by mu; nil: memory only
	err     error          // guarded by mu; the first failure to write
	entries []*Entry       // guarded by mu, in the order of Start
	done    []bool         // guarded by mu, by Seq-1
	flying  map[string]int // guarded by mu
}

// NewLog returns an empty log. A name makes it append to that file too.
func NewLog(name string) (*Log, error) {
	l := &Log{flying: map[string]int{}}
	if name == "" {
		return l, nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open request log: %w", err)
	}
	l.file = file
	return l, nil
}

func (l *Log) begin(host string, r *http.Request, now time.Time) *Entry {
	wall := clock.System{}.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying[host]++
	e := &Entry{
		Seq: len(l.entries) + 1, Host: host, Path: r.URL.RequestURI(), Agent: r.UserAgent(),
		Start: now, RealStart: wall, Version: -1, InFlight: l.flying[host],
		IfNoneMatch: r.Header.Get("If-None-Match"), IfModifiedSince: r.Header.Get("If-Modified-Since"),
	}
	l.entries = append(l.entries, e)
	l.done = append(l.done, false)
	return e
}

func (l *Log) end(e *Entry, now time.Time) {
	wall := clock.System{}.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	e.End, e.RealEnd = now, wall
	l.flying[e.Host]--
	l.done[e.Seq-1] = true
	if l.file == nil || l.err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	l.err = err
}

// Entries returns the finished requests with a Seq above after, in the order in which they began.
func (l *Log) Entries(after int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Entry
	for i := max(after, 0); i < len(l.entries); i++ {
		if l.done[i] {
			list = append(list, *l.entries[i])
		}
	}
	return list
}

// Close closes the file and returns the first failure to write to it.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return l.err
}
