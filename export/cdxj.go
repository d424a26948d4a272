package export

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"recrawld/models"
)

// Line is an entry of a CDXJ index (specs.webrecorder.net/cdxj/0.1.0). Numbers are written as texts, as pywb and cdxj-indexer have
// them.
type Line struct {
	URL    string
	At     time.Time
	MIME   string // of the body; "warc/revisit" for a revisit record
	Status int
	Digest models.Digest // of the body
	Record models.Record
}

// revisitType is the media type of a capture whose body lies elsewhere.
const revisitType = "warc/revisit"

// timestamp is a moment in CDXJ, to the second: pywb knows no finer ones.
const timestamp = "20060102150405"

// exactly is a moment to the millisecond, as the index of a package has it: wabac.js takes the first capture at or after the moment that a
// revisit record refers to, which has milliseconds, and would take the next one for it.
func exactly(at time.Time) string {
	return strings.Replace(at.UTC().Format(timestamp+".000"), ".", "", 1)
}

// append writes the line, with the line feed, under the key and the timestamp that pywb looks for.
func (l Line) append(b []byte) []byte {
	return l.appendUnder(b, SURT(l.URL), l.At.UTC().Format(timestamp))
}

// appendPackaged writes the line as the index of a package has it.
func (l Line) appendPackaged(b []byte) []byte {
	return l.appendUnder(b, packageKey(l.URL), exactly(l.At))
}

func (l Line) appendUnder(b []byte, key, at string) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text) // ends the line
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(struct { // texts in a buffer
		URL      string `json:"url"`
		MIME     string `json:"mime,omitempty"`
		Status   string `json:"status"`
		Digest   string `json:"digest"`
		Length   string `json:"length"`
		Offset   string `json:"offset"`
		Filename string `json:"filename"`
	}{l.URL, l.MIME, strconv.Itoa(l.Status), "sha256:" + l.Digest.String(), strconv.FormatInt(l.Record.Length, 10),
		strconv.FormatInt(l.Record.Offset, 10), l.Record.File})
	for _, part := range []string{key, " ", at, " "} {
		b = append(b, part...)
	}
	return append(b, text.Bytes()...)
}

// typeEnd is where the media type ends in a Content-Type.
var typeEnd = regexp.MustCompile(`[;\s]`)

func mediaType(contentType string) string {
	return strings.TrimSpace(typeEnd.Split(contentType, 2)[0])
}
