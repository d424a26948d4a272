package extract

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// Decode turns a body into UTF-8 and names the encoding it was in (its WHATWG name). HTML and XHTML are read as browsers
// read them; of all else a byte order mark, the header and an XML declaration count, in this order, and where it is no
// UTF-8 then, a guess. What cannot be read becomes U+FFFD. The text may share its memory with the body.
func Decode(body []byte, contentType string) (text []byte, charset string) {
	read := decode
	if kindOf(body, contentType) == other {
		read = decodeOther
	}
	doc := read(body, contentType)
	return bytes.ToValidUTF8(doc.text, []byte("\ufffd")), doc.charset
}

// decodeOther decodes what is neither HTML nor plain text.
func decodeOther(body []byte, contentType string) document {
	label := xmlEncoding(body)
	switch enc, name, certain := charset.DetermineEncoding(body, contentType); {
	case certain:
		return document{charset: name}.read(enc, body)
	case label == "" && !isUTF8(body):
		if likely, likelyName := guessed(body); likely != nil {
			enc, name = likely, likelyName
		}
		return document{charset: name}.read(enc, body)
	}
	if enc, name := charset.Lookup(label); enc != nil && name != "utf-16le" && name != "utf-16be" {
		return document{charset: name}.read(enc, body) // in UTF-16 the declaration could not have been read
	}
	return document{text: body, charset: "utf-8"}
}

// xmlEncoding is the encoding that an XML declaration names, "" for none.
func xmlEncoding(body []byte) string {
	const most = 200
	head := body[:min(len(body), most)]
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	head, _, ended := bytes.Cut(head, []byte("?>"))
	_, value, named := bytes.Cut(head, []byte("encoding"))
	value = bytes.TrimLeft(bytes.TrimLeft(value, space), "=")
	value = bytes.TrimLeft(value, space)
	if !ended || !named || len(value) < 2 || value[0] != '"' && value[0] != '\'' {
		return ""
	}
	label, _, _ := bytes.Cut(value[1:], value[:1])
	return string(label)
}

// document is a body in UTF-8, and the encoding that it was in.
type document struct {
	text    []byte
	charset string // WHATWG name
	legacy  encoding.Encoding
}

// decode turns a body into UTF-8: byte order mark, header, meta element, then a guess. The library looks at the first
// kilobyte; here a meta element further down counts, as it does in browsers, and the guess is made from the whole body.
func decode(body []byte, contentType string) document {
	if saysUTF8(contentType) && !bytes.HasPrefix(body, []byte("\xfe\xff")) && !bytes.HasPrefix(body, []byte("\xff\xfe")) {
		return document{charset: "utf-8"}.read(nil, body)
	}
	enc, name, certain := charset.DetermineEncoding(body, contentType)
	if !certain && name == "windows-1252" {
		if highBit(body) && isUTF8(body) {
			enc, name = encoding.Nop, "utf-8"
		} else if lateEnc, lateName := lateMeta(body); lateEnc != nil {
			enc, name = lateEnc, lateName
		} else if likely, likelyName := guessed(body); likely != nil {
			enc, name = likely, likelyName
		}
	}
	doc := document{charset: name}.read(enc, body)
	if name != "utf-8" && !strings.HasPrefix(name, "utf-16") {
		doc.legacy = enc
	}
	return doc
}

// saysUTF8 tells whether the header says so in the way of most servers, for which the library need not be asked.
func saysUTF8(contentType string) bool {
	media, charset, _ := strings.Cut(contentType, ";")
	return (media == "text/html" || media == "text/plain" || media == "application/xhtml+xml") &&
		strings.EqualFold(strings.TrimSpace(charset), "charset=utf-8")
}

// notRead is the name of the encodings that browsers refuse, which would make one letter of any body: all versions of a page
// would say the same, and lead nowhere. They are ASCII for the most part, and taken as they are.
const notRead = "replacement"

// read fills in the text of a body in an encoding.
func (d document) read(enc encoding.Encoding, body []byte) document {
	d.text = body
	if d.charset != "utf-8" && d.charset != notRead {
		if text, err := enc.NewDecoder().Bytes(body); err == nil {
			d.text = text
		}
	}
	d.text = bytes.TrimPrefix(d.text, []byte("\ufeff"))
	return d
}

// isUTF8 tells whether a body that names no encoding is UTF-8. A few bytes that are none do not make another encoding of
// all the others: a comment that was cut within a letter, the end of a body that was. In no other encoding are nearly all
// letters those of UTF-8.
func isUTF8(body []byte) bool {
	const mistake = 10 // letters that one byte takes to be a mistake
	if utf8.Valid(body) {
		return true
	}
	letters, mistakes := 0, 0
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			mistakes++
		} else {
			letters++
		}
		i += size
	}
	return letters >= mistake*mistakes
}

func highBit(body []byte) bool {
	for _, c := range body {
		if c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// maxMetas is how many meta elements are looked at for an encoding.
const maxMetas = 100

// lateMeta looks for the first meta element that names an encoding. It knows comments but not scripts, like the
// standard's own prescan.
func lateMeta(body []byte) (encoding.Encoding, string) {
	for metas := 0; metas < maxMetas; {
		at := bytes.IndexByte(body, '<')
		if at < 0 {
			break
		}
		body = body[at:]
		switch {
		case bytes.HasPrefix(body, []byte("<!--")):
			end := bytes.Index(body[2:], []byte("-->"))
			if end < 0 {
				return nil, ""
			}
			body = body[2+end:]
		case len(body) > 5 && bytes.EqualFold(body[:5], []byte("<meta")):
			metas++
			end := bytes.IndexByte(body, '>')
			if end < 0 {
				return nil, ""
			}
			if enc, name := metaEncoding(body[:end+1]); enc != nil {
				return enc, name
			}
			body = body[end:]
		}
		body = body[1:]
	}
	return nil, ""
}

// metaEncoding reads one tag. The library does not tell a declaration from its guess, so it is asked with two bodies
// that it guesses differently.
func metaEncoding(tag []byte) (encoding.Encoding, string) {
	const most = 512
	if len(tag) > most || !bytes.Contains(bytes.ToLower(tag), []byte("charset")) {
		return nil, ""
	}
	enc, name, _ := charset.DetermineEncoding(append(tag[:len(tag):len(tag)], "é "...), "")
	if _, other, _ := charset.DetermineEncoding(append(tag[:len(tag):len(tag)], "\xff "...), ""); other != name {
		return nil, ""
	}
	return enc, name
}

// encodeQuery writes the query of a reference in the encoding of its page, as the URL Standard asks: the server of a
// page in Latin-1 expects Latin-1. What the encoding lacks becomes an escaped character reference.
func (d document) encodeQuery(ref string) string {
	start := strings.IndexByte(ref, '?')
	if d.legacy == nil || start < 0 || isASCII(ref[start:]) {
		return ref
	}
	query, fragment, _ := strings.Cut(ref[start:], "#")
	encoder := encoding.HTMLEscapeUnsupported(d.legacy.NewEncoder())
	var b strings.Builder
	b.WriteString(ref[:start])
	for _, r := range query {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
			continue
		}
		encoded, err := encoder.String(string(r))
		if err != nil {
			return ref
		}
		if strings.HasPrefix(encoded, "&#") {
			encoded = "%26%23" + strings.TrimSuffix(encoded[2:], ";") + "%3B"
		}
		escapeHigh(&b, encoded)
	}
	return b.String() + "#" + fragment
}

// EncodeQuery writes the query of a reference, both in UTF-8, in the encoding of the page that it stands in: its WHATWG name, as Decode
// gives it.
func EncodeQuery(ref, encoding string) string {
	if encoding == "utf-8" || encoding == notRead || strings.HasPrefix(encoding, "utf-16") {
		return ref
	}
	enc, name := charset.Lookup(encoding)
	if enc == nil || name == "utf-8" {
		return ref
	}
	return document{charset: name, legacy: enc}.encodeQuery(ref)
}

// escapeHigh writes the bytes of a letter. In ISO-2022-JP some are those of ASCII, and one would end the query.
func escapeHigh(b *strings.Builder, s string) {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] == '#' {
			fmt.Fprintf(b, "%%%02X", s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
