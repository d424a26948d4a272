package intake

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// cdxReader reads the captures of an index, classic (CDX with 7 to 11 columns) or CDXJ. What was captured whole and in order is a page: status
// 200, or a revisit of such. An index has all captures of a page side by side, of which one is given.
type cdxReader struct {
	columns *cdxColumns // of a classic index, as its heading has them; nil: there was none
	recent  [8]string   // the URLs given last: a key is that of several, as with and without www
	next    int
}

// cdxColumns are the numbers of the columns that are read, from 0.
type cdxColumns struct {
	separator         string
	url, mime, status int // status -1: none is told
}

// usualColumns are those of an index without a heading: key, time, URL, type, status, digest and up to five more.
var usualColumns = cdxColumns{separator: " ", url: 2, mime: 3, status: 4}

// isCDXHeading tells the first line of a classic index: the separator, "CDX", and a letter for each column.
func isCDXHeading(line string) bool {
	columns, _ := cdxHeading(line)
	return columns != nil
}

func cdxHeading(line string) (*cdxColumns, error) {
	line = strings.TrimRight(line, "\r\n")
	if len(line) > 4 && line[1:4] == "CDX" { // it begins with the separator, where nobody has trimmed it
		line = line[1:]
	}
	if len(line) < 5 || line[:3] != "CDX" || line[4] == line[3] {
		return nil, nil
	}
	separator, letters := line[3:4], line[4:]
	fields := strings.Split(letters, separator)
	c := cdxColumns{separator, slices.Index(fields, "a"), slices.Index(fields, "m"), slices.Index(fields, "s")}
	if len(fields) < 2 {
		return nil, nil
	}
	if c.url < 0 {
		return nil, errors.New("an index without a column a, the URL")
	}
	return &c, nil
}

var (
	captureTime = regexp.MustCompile(`^[0-9]{4,17}$`)
	captureKey  = regexp.MustCompile(`^[^ ]+\)[^ ]*$`) // com,example)/path
)

// capture tells an index without a heading by its first line, which is else one of a list of URLs.
func capture(line string) Format {
	fields := strings.Fields(line)
	switch {
	case len(fields) > 1 && (fields[0] == "!meta" || fields[0] == "!OpenWayback-CDXJ"):
		return CDXJ
	case len(fields) < 3 || !captureKey.MatchString(fields[0]) || !captureTime.MatchString(fields[1]):
		return Lines
	case strings.HasPrefix(fields[2], "{"):
		return CDXJ
	case len(fields) >= 7 && len(fields) <= 11:
		return CDX
	}
	return Lines
}

// line reads a line of a classic index.
func (r *cdxReader) line(text string) (Item, error) {
	if columns, err := cdxHeading(text); columns != nil || err != nil {
		r.columns = columns
		return Item{Skip: true}, err
	}
	c := r.columns
	if c == nil {
		c = &usualColumns
	}
	fields := strings.Split(text, c.separator)
	if len(fields) <= max(c.url, c.mime, c.status) {
		return Item{}, errors.New("a line of an index with too few columns")
	}
	column := func(n int) string {
		if n < 0 {
			return ""
		}
		return fields[n]
	}
	return r.capture(column(c.url), column(c.mime), column(c.status)), nil
}

// jsonLine reads a line of CDXJ: a key, a time and a JSON object.
func (r *cdxReader) jsonLine(text string) (Item, error) {
	if text[0] == '!' { // what is told of the index
		return Item{Skip: true}, nil
	}
	begin := strings.IndexByte(text, '{')
	if begin < 0 {
		return Item{}, errors.New("a line of an index without a JSON object")
	}
	var c struct {
		URL    string          `json:"url"`
		MIME   string          `json:"mime"`
		Status json.RawMessage `json:"status"` // a text or a number
	}
	if err := json.Unmarshal([]byte(text[begin:]), &c); err != nil {
		return Item{}, err
	}
	if c.URL == "" {
		return Item{}, errors.New("a capture without a URL")
	}
	return r.capture(c.URL, c.MIME, strings.Trim(string(c.Status), `"`)), nil
}

// capture is the item of a capture.
func (r *cdxReader) capture(url, mime, status string) Item {
	untold := status == "" || status == "-" || status == "null"
	whole := status == "200" || mime == "warc/revisit" && (untold || status == "304")
	if !whole || otherScheme(url) || slices.Contains(r.recent[:], url) {
		return Item{URL: url, Skip: true}
	}
	r.recent[r.next] = url
	r.next = (r.next + 1) % len(r.recent)
	return Item{URL: url}
}
