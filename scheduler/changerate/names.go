package changerate

import (
	"strings"
	"time"
)

// The groups that a page is put in, all but the last by its URL. Pages of one group change alike: they are written, generated or moved
// together.
const (
	byFolder  = iota // the folder it lies in
	byTop            // the first part of its path: a section or a language
	byPattern        // its base name, digits folded: what a generator numbers
	byKind           // the last word of its base name, with the extension: "…-policy.html"
	byWord           // the first word of its base name: "feed_…"
	byRest           // its path without the first part: one page in several languages
	byDay            // the day on which it became known: what was written or imported together
	groupings        // how many there are
)

// Names is what a page's URL says of it beside others of its host, and the day on which it became known. It needs no
// memory beyond these: it is the same each time.
type Names struct {
	Groups [groupings]uint64 // a hash for each grouping, alike for pages of one group; 0: it is in none
	Date   float64           // the first date in the path, in days since 1970; 0: none
	Index  bool              // it is named like a page that lists others
}

// NamesOf reads a canonical URL, or a path. The scheme, the host and the fragment are left out, and the query counts
// as part of the base name.
func NamesOf(url string) Names {
	path, query := splitURL(url)
	folder, base := cutLast(path, '/')
	top, rest, nested := strings.Cut(path, "/")
	if !nested {
		top, rest = "", path
	}
	stem, extension := base, ""
	if dot := strings.LastIndexByte(base, '.'); dot > 0 {
		stem, extension = base[:dot], base[dot+1:]
	}
	first, last := outerWords(stem)
	date, _ := pathDate(path)
	return Names{
		Groups: [groupings]uint64{
			byFolder:  salted(byFolder).text(folder).sum(byFolder),
			byTop:     salted(byTop).text(top).sum(byTop),
			byPattern: salted(byPattern).folded(base).folded(query).sum(byPattern),
			byKind:    salted(byKind).folded(last).text(".").text(extension).sum(byKind),
			byWord:    salted(byWord).folded(first).sum(byWord),
			byRest:    salted(byRest).text(rest).text(query).sum(byRest),
		},
		Date:  date,
		Index: namesIndex(stem),
	}
}

// KnownAt are the names of a page that became known at a time, in days since 1970, UTC.
func (n Names) KnownAt(days float64) Names {
	n.Groups[byDay] = salted(byDay).number(uint64(bounded(days, 0, lastDay))).sum(byDay)
	return n
}

// splitURL takes scheme, host and fragment off a URL. The query keeps its question mark.
func splitURL(url string) (path, query string) {
	path = url
	if _, after, found := strings.Cut(url, "://"); found {
		_, path, _ = strings.Cut(after, "/")
	}
	path, _, _ = strings.Cut(path, "#")
	if mark := strings.IndexByte(path, '?'); mark >= 0 {
		path, query = path[:mark], path[mark:]
	}
	return strings.TrimPrefix(path, "/"), query
}

// cutLast cuts around the last separator; without one all is after it.
func cutLast(s string, separator byte) (before, after string) {
	if at := strings.LastIndexByte(s, separator); at >= 0 {
		return s[:at], s[at+1:]
	}
	return "", s
}

// outerWords are the first and the last of the words that a base name without extension is made of.
func outerWords(stem string) (first, last string) {
	between := func(c byte) bool { return c == '-' || c == '_' || c == '.' || c == ' ' || c == '+' }
	end := len(stem)
	for end > 0 && between(stem[end-1]) {
		end--
	}
	start := 0
	for start < end && between(stem[start]) {
		start++
	}
	stem = stem[start:end]
	first, last = stem, stem
	for i := range len(stem) {
		if between(stem[i]) {
			first = stem[:i]
			break
		}
	}
	for i := len(stem) - 1; i >= 0; i-- {
		if between(stem[i]) {
			last = stem[i+1:]
			break
		}
	}
	return first, last
}

// namesIndex tells whether a base name without extension is one that lists of other pages have.
func namesIndex(stem string) bool {
	if len(stem) > len("changelog") {
		return false
	}
	switch strings.ToLower(stem) {
	case "index", "readme", "home", "default", "toc", "main", "book", "reference", "latest", "news", "changelog",
		"archive", "feed":
		return true
	}
	return false
}

// pathDate is the first year, month and day in a path, joined by '-', '/' or '_', or else the last year and month,
// whose day is taken for the 28th: a post dated so is rarely older. In days since 1970.
func pathDate(path string) (days float64, found bool) {
	for i := 0; i+7 <= len(path); i++ {
		if path[i] != '1' && path[i] != '2' || i > 0 && isDigit(path[i-1]) {
			continue
		}
		joint := path[i+4]
		year, month := number(path, i, 4), number(path, i+5, 2)
		if year < 1990 || year > 2100 || month < 1 || month > 12 || joint != '-' && joint != '/' && joint != '_' {
			continue
		}
		if day := number(path, i+8, 2); i+10 <= len(path) && path[i+7] == joint && day >= 1 && day <= 31 {
			return daysAt(year, month, day), true
		}
		days, found = daysAt(year, month, 28), true
	}
	return days, found
}

func daysAt(year, month, day int) float64 {
	return float64(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix()) / 86400
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads that many digits, or gives -1 where there are others.
func number(s string, from, digits int) int {
	if from+digits > len(s) {
		return -1
	}
	n := 0
	for _, c := range []byte(s[from : from+digits]) {
		if !isDigit(c) {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// hash is a running FNV-1a hash of 64 bits: the same on every machine and in every release, since it is stored.
type hash uint64

// salted begins the hash of one grouping, so that two of them never share a group.
func salted(grouping byte) hash { return hash(14695981039346656037).byte(grouping) }

func (h hash) byte(c byte) hash { return (h ^ hash(c)) * 1099511628211 }

func (h hash) text(s string) hash {
	for i := range len(s) {
		h = h.byte(s[i])
	}
	return h
}

func (h hash) number(n uint64) hash {
	for range 8 {
		h, n = h.byte(byte(n)), n>>8
	}
	return h
}

// folded adds s with each run of digits taken for one sign.
func (h hash) folded(s string) hash {
	for i := range len(s) {
		switch {
		case !isDigit(s[i]):
			h = h.byte(s[i])
		case i == 0 || !isDigit(s[i-1]):
			h = h.byte('#')
		}
	}
	return h
}

// groupingBits are the lowest bits of a group's key: its grouping. keyBits are those that it may have.
const (
	groupingBits = 0x7
	keyBits      = 1<<32 - 1
)

// sum mixes the last bytes into 32 bits, enough for one host, and sets the lowest to the grouping.
func (h hash) sum(grouping uint64) uint64 {
	x := uint64(h)
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return (x^x>>32)&keyBits&^groupingBits | grouping
}
