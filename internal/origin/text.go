package origin

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// VisibleText is what a reader sees of a page: its text without scripts, styles and comments, runs of white space as
// one space. It is written apart from the daemon's own reading, so that one can be held against the other.
func VisibleText(body []byte) string {
	var b strings.Builder
	tokens := html.NewTokenizer(bytes.NewReader(body))
	hidden := ""
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken:
			if name, _ := tokens.TagName(); hidden == "" && isHidden(string(name)) {
				hidden = string(name)
			}
		case html.EndTagToken:
			if name, _ := tokens.TagName(); string(name) == hidden {
				hidden = ""
			}
		case html.TextToken:
			if hidden != "" {
				continue
			}
			for word := range strings.FieldsSeq(string(tokens.Text())) {
				b.WriteString(word)
				b.WriteByte(' ')
			}
		}
	}
}

func isHidden(tag string) bool {
	switch tag {
	case "script", "style", "template", "noscript", "head", "svg":
		return true
	}
	return false
}
