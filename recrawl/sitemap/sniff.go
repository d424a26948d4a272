package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// sniffBytes is how far into a body the root element is looked for: comments and style sheets may stand before it.
const sniffBytes = 16 << 10

// KindOf tells by its root element what list a body is, plain or gzip'd: None for what is none, and for plain lists of
// URLs, which look like any text.
func KindOf(body []byte) Kind {
	plain, err := inflate(bufio.NewReader(bytes.NewReader(body)))
	if err != nil {
		return None
	}
	utf16 := bytes.HasPrefix(body, []byte{0xFE, 0xFF}) || bytes.HasPrefix(body, []byte{0xFF, 0xFE})
	text := bufio.NewReader(transform.NewReader(io.LimitReader(plain, sniffBytes), unicode.BOMOverride(encoding.Nop.NewDecoder())))
	for {
		first, err := text.ReadByte()
		if err != nil || first != '<' && first != ' ' && (first < '\t' || first > '\r') {
			return None
		}
		if first == '<' {
			break
		}
	}
	if text.UnreadByte() != nil {
		return None
	}
	d := newDecoder(text, utf16)
	for {
		token, err := d.RawToken()
		if err != nil {
			return None
		}
		if root, ok := token.(xml.StartElement); ok {
			return kinds[root.Name.Local]
		}
	}
}
