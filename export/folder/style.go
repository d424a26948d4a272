package folder

import (
	"strings"

	"golang.org/x/net/html"

	"recrawld/recrawl/css"
)

// sheet is how a style sheet stands in its page.
type sheet struct {
	quote  byte                // of the strings that are put in
	decode func([]byte) string // into UTF-8
	markup bool                // character references count in it
}

// style rewrites what a style sheet refers to.
func (r *referrer) style(p *patch, start, end int, s sheet) {
	for ref := range css.Refs(p.in[start:end]) {
		text := s.decode([]byte(ref.Text))
		if s.markup {
			text = html.UnescapeString(text)
		}
		l := r.refer(text)
		if l.kept {
			continue
		}
		if !l.here {
			r.needs++
		}
		if l.to == text {
			continue
		}
		to := quoted(l.to, s.quote)
		if s.markup {
			to = strings.ReplaceAll(to, "&", "&amp;") // a URL has no angle bracket
		}
		p.replace(start+ref.Start, start+ref.End, to)
	}
}

// quoted is a URL as a string of CSS. It has no line end.
func quoted(url string, quote byte) string {
	mark := string(quote)
	return mark + strings.ReplaceAll(strings.ReplaceAll(url, `\`, `\\`), mark, `\`+mark) + mark
}

func asItIs(text []byte) string { return string(text) }
