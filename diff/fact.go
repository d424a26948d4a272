package diff

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fact is something that differs and that a reader of the page does not see, or sees only in part.
type Fact struct {
	What   string `json:"what"`             // "link", "header", "attribute", "script", …
	Where  string `json:"where,omitempty"`  // the name of the header, the tag and attribute
	Before string `json:"before,omitempty"` // "": it was not there
	After  string `json:"after,omitempty"`  // "": it is not there any more
	Noise  bool   `json:"noise,omitempty"`  // of a kind that differs from answer to answer
}

// passing are header fields that say something of an answer and nothing of the page.
var passing = []string{"date", "age", "set-cookie", "expires", "x-request-id", "x-runtime", "cf-ray", "x-amz-cf-id", "x-amz-request-id",
	"x-amz-id-2", "x-timer", "x-served-by", "x-cache", "x-cache-hits", "report-to", "nel", "server-timing", "via", "x-trace-id",
	"x-correlation-id", "traceparent", "x-varnish", "alt-svc", "connection", "keep-alive", "content-length", "x-archive-orig-content-length"}

// headerFacts compares two header blocks by field, whatever their order; what belongs to the single answer comes last.
func headerFacts(before, after []byte) []Fact {
	a, names := fields(before)
	b, more := fields(after)
	names = append(names, more...)
	slices.Sort(names)
	var facts []Fact
	for _, name := range slices.Compact(names) {
		f := Fact{What: "header", Where: name, Before: a[name], After: b[name], Noise: slices.Contains(passing, strings.ToLower(name))}
		if f.Before != f.After {
			facts = append(facts, f)
		}
	}
	slices.SortStableFunc(facts, func(x, y Fact) int { return cmp.Compare(rank(x), rank(y)) })
	return facts
}

func rank(f Fact) int {
	if f.Noise {
		return 1
	}
	return 0
}

// fields reads a header block: values by name, those of one name joined; and the names.
func fields(block []byte) (map[string]string, []string) {
	values := map[string]string{}
	var names []string
	for line := range bytes.Lines(block) {
		name, value, ok := strings.Cut(string(bytes.TrimRight(line, "\r\n")), ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		name, value = canonical(name), strings.TrimSpace(value)
		if old, twice := values[name]; twice {
			value = old + ", " + value
		} else {
			names = append(names, name)
		}
		values[name] = value
	}
	return values, names
}

// canonical writes a field's name as people know it, whatever the version of HTTP it came by: "Last-Modified".
func canonical(name string) string {
	parts := strings.Split(strings.ToLower(name), "-")
	for i, part := range parts {
		switch part {
		case "":
		case "etag":
			parts[i] = "ETag"
		default:
			r, n := utf8.DecodeRuneInString(part)
			parts[i] = strings.ToUpper(string(r)) + part[n:]
		}
	}
	return strings.Join(parts, "-")
}

// excerpt is how much of a value is shown around the place where it differs, in bytes.
const excerpt = 160

// excerpts cuts two long values to where they differ: what both begin and end with goes, but for a little.
func excerpts(before, after string) (string, string) {
	if len(before) <= excerpt && len(after) <= excerpt || before == "" || after == "" {
		return clip(before, 0), clip(after, 0)
	}
	head := 0
	for head < min(len(before), len(after)) && before[head] == after[head] {
		head++
	}
	const lead = 40
	from := max(0, head-lead)
	for from > 0 && !utf8.RuneStart(before[from]) {
		from--
	}
	return clip(before, from), clip(after, from)
}

// clip is a piece of s from a place on, with signs where something was left out.
func clip(s string, from int) string {
	from = min(from, len(s))
	to := min(len(s), from+excerpt)
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	out := s[from:max(from, to)]
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return out
}
