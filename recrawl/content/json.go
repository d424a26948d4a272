package content

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxPlace is the length in bytes of the longest path of a leaf; deeper ones are cut.
const maxPlace = 512

// readJSON reads a JSON text: each leaf is a block, its path is where it stands. The order of an object's keys does not
// matter; that of a list does not either, since a View is compared as a multiset, but the path says that it is one. It
// reports whether the text is JSON.
func readJSON(v *View, text []byte) bool {
	tokens := json.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	r := jsonReader{sheet: newSheet(v), tokens: tokens}
	whole, is := r.read()
	if is && !whole {
		v.cut(text[r.at:])
	}
	return is
}

// maxNesting is how deep values may be nested; what goes deeper is read as text.
const maxNesting = 1000

// jsonReader goes over the tokens with a stack of its own.
type jsonReader struct {
	*sheet
	tokens *json.Decoder
	open   []jsonLevel
	at     int64 // where the present token begins, or the one before it ended
}

// jsonLevel is an object or a list that is open.
type jsonLevel struct {
	path   string
	object bool
	key    string
	named  bool // the key of the next value was read
}

// read reports whether all was read, and whether it is JSON.
func (r *jsonReader) read() (whole, is bool) {
	for {
		r.at = r.tokens.InputOffset()
		token, err := r.tokens.Token()
		if err != nil {
			return true, len(r.open) == 0 && len(r.v.blocks) > 0
		}
		switch t := token.(type) {
		case json.Delim:
			if r.delim(t); len(r.open) > maxNesting {
				return false, false
			}
		case string:
			if top := r.top(); top != nil && top.object && !top.named {
				top.key, top.named = t, true
				continue
			}
			if !r.leaf(t) {
				return false, true
			}
		default:
			if !r.leaf(spell(token)) {
				return false, true
			}
		}
	}
}

func (r *jsonReader) top() *jsonLevel {
	if len(r.open) == 0 {
		return nil
	}
	return &r.open[len(r.open)-1]
}

func (r *jsonReader) delim(d json.Delim) {
	if d == '}' || d == ']' {
		r.open = r.open[:len(r.open)-1]
		return
	}
	r.open = append(r.open, jsonLevel{path: r.place(), object: d == '{'})
}

// place is the path of the value that comes now.
func (r *jsonReader) place() string {
	top := r.top()
	if top == nil {
		return "$"
	}
	if !top.object {
		return head(top.path+"[]", maxPlace)
	}
	top.named = false
	return head(top.path+"."+top.key, maxPlace)
}

// leaf adds a value. The key stands before it, so that a value under another key is another text.
func (r *jsonReader) leaf(value string) bool {
	place := r.place()
	name := strings.TrimSuffix(place[strings.LastIndexByte(place, '.')+1:], "[]")
	return r.add(place, fold(name+": "+value))
}

func spell(token json.Token) string {
	switch t := token.(type) {
	case nil:
		return "null"
	case bool:
		if t {
			return "true"
		}
		return "false"
	case json.Number:
		return t.String()
	}
	return ""
}
