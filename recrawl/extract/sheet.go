package extract

import (
	"bytes"

	"golang.org/x/net/html/charset"

	"recrawld/recrawl/canon"
)

// asset reads what a style sheet or a script refers to, by read.
func asset(body []byte, contentType string, at canon.URL, options Options, read func(*needs, []byte)) Extraction {
	found := Extraction{Base: at}
	if found.Cut = len(body) > options.Bytes; found.Cut {
		body = body[:options.Bytes]
	}
	doc := decodeSheet(body, contentType)
	var n *needs
	n = n.begin(options)
	read(n, doc.text)
	found.Charset = doc.charset
	found.Requisites, found.Undue = n.requisites(doc, at, at, options.At)
	return found
}

// decodeSheet turns a style sheet into UTF-8: byte order mark, header, @charset, else it is UTF-8 (CSS Syntax Level 3, 3.2). So it turns a
// script, which begins with no such rule.
func decodeSheet(body []byte, contentType string) document {
	enc, name, certain := charset.DetermineEncoding(body[:min(len(body), len("\xef\xbb\xbf"))], contentType)
	if !certain {
		enc, name = charset.Lookup(sheetCharset(body))
		if name == "utf-16le" || name == "utf-16be" { // or the rule could not have been read
			enc = nil
		}
	}
	if enc == nil {
		name = "utf-8"
	}
	return document{charset: name}.read(enc, body)
}

// sheetCharset is the label of an @charset rule: these very bytes, at the beginning.
func sheetCharset(body []byte) string {
	const most = 1024
	rest, ok := bytes.CutPrefix(body[:min(len(body), most)], []byte(`@charset "`))
	label, _, ended := bytes.Cut(rest, []byte(`";`))
	if !ok || !ended {
		return ""
	}
	return string(label)
}

// isScript tells the media types by which scripts are served today; of the standard's others (WHATWG MIME Sniffing, 4.6) none is in use.
func isScript(media string) bool {
	return media == "text/javascript" || media == "application/javascript" || media == "application/x-javascript"
}
