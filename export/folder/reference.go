package folder

import (
	"strings"
	"time"

	"recrawld/internal/filename"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
)

// referrer turns the references of one page into those of its file.
type referrer struct {
	at    canon.URL // of the page
	asked time.Time // when the page was
	base  canon.URL // that references are relative to
	file  string    // of the page, relative to the root, with slashes
	held  func(url string) (file string, err error)

	charset string // that queries are written in
	away    int64  // references to what is not in the folder
	needs   int64  // of those the ones that the page needs to be shown
	err     error  // of held
	within  bool   // a page in an attribute of another is read

	recent map[string]led // references that were asked for last
}

// led is where a reference leads.
type led struct {
	to   string // what stands in the file in its place
	here bool   // a file of the folder
	kept bool   // nothing stands in its place: it means the same there
}

// The most references that are remembered of a page, and the longest.
const (
	mostRemembered = 4096
	longRemembered = 512
)

// nowhere is what stands in place of a reference that would lead from a page on the web to no address there, and from a file to another
// file or another machine.
const nowhere = "about:invalid"

// refer says where a reference leads, as written in UTF-8 with no character reference left in it.
func (r *referrer) refer(ref string) led {
	if l, ok := r.recent[ref]; ok {
		return r.count(l)
	}
	l := r.lead(ref)
	if len(ref) <= longRemembered {
		if r.recent == nil || len(r.recent) >= mostRemembered {
			r.recent = make(map[string]led)
		}
		r.recent[ref] = l
	}
	return r.count(l)
}

func (r *referrer) count(l led) led {
	if !l.kept && !l.here {
		r.away++
	}
	return l
}

func (r *referrer) lead(ref string) led {
	bare := strings.Trim(ref, blank)
	if bare == "" || bare[0] == '#' && r.base == r.at {
		return led{kept: true}
	}
	if scheme, ok := canon.SchemeOf(bare[:min(len(bare), longestScheme)]); ok && scheme != "http" && scheme != "https" {
		return astray(scheme)
	}
	u, err := r.base.Resolve(extract.EncodeQuery(bare, r.charset))
	if err != nil {
		scheme, _ := canon.SchemeOf(bare)
		return astray(scheme)
	}
	fragment := fragmentOf(bare)
	file, err := r.held(u.String())
	for _, as := range []canon.URL{u.Untracked(), u.Sessionless(u.Session()).Untracked(), extract.Timeless(u.Sessionless(""), r.asked)} { // as it was kept
		if err == nil && file == "" && as != u {
			file, err = r.held(as.String())
		}
	}
	if err != nil && r.err == nil {
		r.err = err
	}
	switch {
	case file == "":
		return led{to: u.String() + fragment}
	case file == r.file && fragment != "":
		return led{to: fragment, here: true}
	}
	return led{to: relative(r.file, file) + fragment, here: true}
}

// longestScheme is longer than any scheme, with the tabs and line ends that it may be written with.
const longestScheme = 64

// astray is what stands in place of a reference that leads to no page. Those with a scheme of their own mean the same everywhere, but for
// file:, which a page on the web cannot open and a file can.
func astray(scheme string) led {
	if scheme != "" && scheme != "file" {
		return led{kept: true}
	}
	return led{to: nowhere}
}

// online is where a reference leads on the web.
func (r *referrer) online(ref string) led {
	bare := strings.Trim(ref, blank)
	if bare == "" {
		return led{kept: true}
	}
	u, err := r.base.Resolve(extract.EncodeQuery(bare, r.charset))
	if err != nil {
		scheme, _ := canon.SchemeOf(bare)
		return astray(scheme)
	}
	return led{to: u.String() + fragmentOf(bare)}
}

// fragmentOf is the fragment of a reference with its sign, "" for none.
func fragmentOf(ref string) string {
	if _, fragment, has := strings.Cut(ref, "#"); has {
		return "#" + escapeFragment(fragment)
	}
	return ""
}

// blank is the white space and the control characters around a reference, which browsers take off.
const blank = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// relative is the reference from one file to another, both relative to the root. It has no letter that means something in HTML or CSS.
func relative(from, to string) string {
	for {
		i := strings.IndexByte(from, '/')
		if i < 0 || !strings.HasPrefix(to, from[:i+1]) {
			break
		}
		from, to = from[i+1:], to[i+1:]
	}
	return strings.Repeat("../", strings.Count(from, "/")) + escapePath(to)
}

// escapePath writes a name so that a URL can have it: all but letters, digits and a few marks that mean nothing anywhere as percent escapes.
func escapePath(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; filename.IsLetter(c) || filename.IsDigit(c) || strings.IndexByte("-._~/=+@", c) >= 0 {
			b.WriteByte(c)
		} else {
			filename.EscapeByte(&b, '%', c)
		}
	}
	return b.String()
}

// escapeFragment writes what is not ASCII, and what browsers write as an escape, as one: it stands in a page of any encoding then.
func escapeFragment(fragment string) string {
	var b strings.Builder
	for i := range len(fragment) {
		switch c := fragment[i]; {
		case c == '\t' || c == '\n' || c == '\r':
		case c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>`", c) >= 0:
			filename.EscapeByte(&b, '%', c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
