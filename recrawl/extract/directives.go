package extract

import "strings"

// Directives are what a page asks of crawlers, by meta elements or X-Robots-Tag.
type Directives struct {
	NoIndex   bool // not to be offered to readers
	NoFollow  bool // its links are not to be followed
	NoArchive bool // no copy to be shown to others
}

// Or joins what two places ask.
func (d Directives) Or(other Directives) Directives {
	return Directives{NoIndex: d.NoIndex || other.NoIndex, NoFollow: d.NoFollow || other.NoFollow,
		NoArchive: d.NoArchive || other.NoArchive}
}

// ParseRobotsTag reads the values of X-Robots-Tag headers: those for any agent, and those that begin with ours, as in
// "recrawld: noindex". An agent's name holds for the rest of its value.
func ParseRobotsTag(values []string, agent string) Directives {
	var d Directives
	for _, value := range values {
		if name, rest, ok := strings.Cut(value, ":"); ok && IsAgent(name) {
			if !strings.EqualFold(strings.TrimSpace(name), agent) {
				continue
			}
			value = rest
		}
		d.add(value)
	}
	return d
}

// IsAgent tells whether what stands before the first colon of an X-Robots-Tag is an agent's name, and not a directive that
// has a value of its own, or a list of directives.
func IsAgent(name string) bool {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return false
	}
	return name != "" && !strings.ContainsAny(name, ", \t")
}

// add reads a list of directives separated by commas. A page that says one thing to all and another to us is taken at
// its stricter word.
func (d *Directives) add(content string) {
	for word := range strings.SplitSeq(content, ",") {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "none":
			d.NoIndex, d.NoFollow = true, true
		case "noindex":
			d.NoIndex = true
		case "nofollow":
			d.NoFollow = true
		case "noarchive", "nocache":
			d.NoArchive = true
		}
	}
}
