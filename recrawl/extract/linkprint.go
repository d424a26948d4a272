package extract

import (
	"strings"

	"recrawld/recrawl/canon"
)

// linkPrint gathers a print of what of a page can matter though its visible text stays: where its links lead, the whole
// address of each, the levels of its headings, its emphasis and lists, whatever their order, and its hidden text where
// there is much of it. It is the sum of their hashes, so it needs no sorting and no second pass. Where it differs the page
// is looked at closely; so it may say too often that something does.
type linkPrint struct {
	sum   uint64
	links int // and the rest
}

// add counts a link that a reader can follow, as often as it stands there. What leads to a page counts by its Target, its
// scheme and its fragment, what leads elsewhere (a mail address, a telephone number) by its spelling; scripts and
// embedded data lead nowhere.
func (p *linkPrint) add(u canon.URL, ref string, times int) {
	var hash uint64
	switch {
	case strings.Contains(ref, "/cdn-cgi/l/email-protection"):
		hash = fnvString(fnvOffset, "mailto:")
	case !u.IsZero():
		_, fragment, _ := strings.Cut(ref, "#")
		hash = fnvString(fnvString(hashTarget(u), u.Scheme()), strings.TrimSpace(fragment))
	case leadsNowhere(ref):
		return
	default:
		hash = fnvString(fnvOffset, strings.TrimSpace(ref))
	}
	p.links += times
	p.sum += mix(hash) * uint64(times)
}

// heading counts a heading of a level, 1–6.
func (p *linkPrint) heading(level byte) {
	p.links++
	p.sum += mix(fnvOffset + uint64(level))
}

// emphasis counts an element that shows in how words stand there: strong and b, em and i look the same.
func (p *linkPrint) emphasis(element string) {
	switch element {
	case "strong":
		element = "b"
	case "em":
		element = "i"
	}
	p.links++
	p.sum += mix(fnvString(fnvOffset, element))
}

// hidden counts what of a page's text attributes hide; 0: not enough of it.
func (p *linkPrint) hidden(hash uint64) {
	if hash != 0 {
		p.links++
		p.sum += mix(hash)
	}
}

// value is the print; 0 is kept for "nothing of the kind".
func (p *linkPrint) value() int64 {
	if p.links > 0 && p.sum == 0 {
		return 1
	}
	return int64(p.sum)
}

// leadsNowhere tells a reference that is no address.
func leadsNowhere(ref string) bool {
	scheme, _, _ := strings.Cut(strings.TrimSpace(ref), ":")
	switch strings.ToLower(scheme) {
	case "javascript", "data", "blob", "about", "vbscript":
		return true
	}
	return false
}

// Target is where a link leads as far as its content goes: host, path and query, without what differs from visit to
// visit or tells where a reader came from. The scheme does not count, nor do parameters of tracking and of sessions,
// nor which of its mail addresses a site hides behind a link of its CDN (the fragment names it).
func Target(u canon.URL) string {
	var b strings.Builder
	b.WriteString(u.HostName())
	b.WriteString(targetPath(u))
	separator := byte('?')
	for param := range strings.SplitSeq(u.Query(), "&") {
		if keepsParam(param) {
			b.WriteByte(separator)
			b.WriteString(param)
			separator = '&'
		}
	}
	return b.String()
}

// hashTarget is the hash of Target, which it need not put together.
func hashTarget(u canon.URL) uint64 {
	hash := fnvString(fnvString(fnvOffset, u.HostName()), targetPath(u))
	query := u.Query()
	if query == "" {
		return hash
	}
	separator := "?"
	for param := range strings.SplitSeq(query, "&") {
		if keepsParam(param) {
			hash = fnvString(fnvString(hash, separator), param)
			separator = "&"
		}
	}
	return hash
}

// targetPath is the path without a session of Java's, which stands in its last segment.
func targetPath(u canon.URL) string {
	path := u.Path()
	if at := strings.Index(path, ";jsessionid="); at >= 0 {
		return path[:at]
	}
	return path
}

// keepsParam tells whether a parameter of a query, "name=value", says where the link leads.
func keepsParam(param string) bool {
	name, value, _ := strings.Cut(param, "=")
	if name == "" || isToken(name, value) || canon.MaybeSession(param) {
		return false
	}
	if len(name) > maxSession {
		return true
	}
	name = strings.ToLower(name)
	return !sessions[name] && !canon.IsTracking(name) && !strings.HasPrefix(name, "utm_") && !strings.HasPrefix(name, "pk_") && !strings.HasPrefix(name, "mtm_")
}

// sessions are what sessions, counters and caches add to links, beside what campaigns do (canon.IsTracking).
var sessions = map[string]bool{
	"_ga": true, "_gl": true, "_gac": true, "igsh": true, "s_cid": true, "ref_src": true, "ref_url": true, "spm": true, "scm": true,
	"_branch_match_id": true, "cmpid": true, "zanpid": true, "phpsessid": true, "jsessionid": true, "sessionid": true, "session_id": true,
	"aspsessionid": true, "cfid": true, "cftoken": true, "osessionid": true, "zenid": true, "_t": true, "_ts": true, "nocache": true,
	"cachebuster": true, "__cf_chl_tk": true, "__cf_chl_rt_tk": true,
}

// maxSession is longer than any name in sessions.
const maxSession = 32

// FNV-1a (Fowler, Noll, Vo), 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func fnvString(hash uint64, s string) uint64 {
	for i := range len(s) {
		hash = (hash ^ uint64(s[i])) * fnvPrime
	}
	return hash
}

// mix spreads a hash over all bits, so that sums of them do not fall together (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
