package sink

import (
	"maps"

	"recrawld/models"
)

// Row is what the manifest says of a URL. In the log a field that is absent keeps its value.
type Row struct {
	URL          string `json:"url"`
	Path         string `json:"path,omitempty"`          // of the file, relative to the mirror
	State        string `json:"state,omitempty"`         // live, moved, gone, failing, excluded, removed (its site), lost (from the archive), unkept, or withheld
	Status       int16  `json:"status,omitempty"`        // of the last answer
	Type         string `json:"type,omitempty"`          // media type
	Length       *int64 `json:"length,omitempty"`        // bytes of the file
	SHA256       string `json:"sha256,omitempty"`        // of the file
	ETag         string `json:"etag,omitempty"`          // as sent
	LastModified string `json:"last_modified,omitempty"` // as sent
	FetchedAt    string `json:"fetched_at,omitempty"`    // RFC 3339: when the file's content was fetched
	ChangedAt    string `json:"changed_at,omitempty"`    // when a visit found that its text had changed
	EventAt      string `json:"event_at,omitempty"`      // when the state was last set
	Version      int32  `json:"version,omitempty"`
	RedirectTo   string `json:"redirect_to,omitempty"`
}

// Summary is what SUMMARY.json says.
type Summary struct {
	URLs   int64            `json:"urls"`
	Files  int64            `json:"files"` // URLs with a file in the tree
	Bytes  int64            `json:"bytes"` // of those files
	States map[string]int64 `json:"states"`
	LastAt string           `json:"last_event_at,omitempty"`
}

// over is what holds when row r came after an older one.
func (r Row) over(old Row) Row {
	merged := old
	for _, f := range []struct{ to, from *string }{
		{&merged.URL, &r.URL}, {&merged.Path, &r.Path}, {&merged.State, &r.State}, {&merged.Type, &r.Type},
		{&merged.ETag, &r.ETag}, {&merged.LastModified, &r.LastModified},
		{&merged.FetchedAt, &r.FetchedAt}, {&merged.ChangedAt, &r.ChangedAt}, {&merged.EventAt, &r.EventAt},
		{&merged.RedirectTo, &r.RedirectTo},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if r.Status != 0 {
		merged.Status = r.Status
	}
	if r.Length != nil {
		merged.Length, merged.SHA256 = r.Length, r.SHA256
	}
	if r.Version != 0 {
		merged.Version = r.Version
	}
	if r.Version != 0 && r.SHA256 != "" { // a whole answer: what it did not send is not there any more
		merged.Type, merged.ETag, merged.LastModified = r.Type, r.ETag, r.LastModified
	}
	if old.State == models.EventRemoved.String() && r.leavesFile() {
		merged.State, merged.EventAt = old.State, old.EventAt // the page was found anew and has no copy: the file is still the removed site's
	}
	if merged.State != models.EventMoved.String() {
		merged.RedirectTo = ""
	}
	return merged
}

// leavesFile tells whether the row says of a page how it is, and of its file nothing.
func (r Row) leavesFile() bool {
	switch r.State {
	case models.EventMoved.String(), models.EventFailing.String(), models.EventExcluded.String():
		return r.SHA256 == ""
	}
	return false
}

func (s *Summary) add(r Row) {
	s.URLs++
	s.States[r.State]++
	if r.hasFile() {
		s.Files++
		s.Bytes += *r.Length
	}
	s.LastAt = max(s.LastAt, r.EventAt)
}

// remove takes back what add did; LastAt stays.
func (s *Summary) remove(r Row) {
	s.URLs--
	if s.States[r.State]--; s.States[r.State] == 0 {
		delete(s.States, r.State)
	}
	if r.hasFile() {
		s.Files--
		s.Bytes -= *r.Length
	}
}

func (s *Summary) clone() Summary {
	c := *s
	c.States = maps.Clone(s.States)
	return c
}

// hasFile tells whether the row's file is in the tree.
func (r Row) hasFile() bool {
	return r.Length != nil && r.SHA256 != "" && r.State != models.EventGone.String() && r.State != stateLost && r.State != stateUnkept
}
