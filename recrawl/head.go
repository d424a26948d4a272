package recrawl

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// requestHead is the head of a request as HTTP/1.1 writes it, without the secret fields; over HTTP/2 the same fields travel in
// another form.
func requestHead(r *http.Request, secret map[string]bool) []byte {
	var b bytes.Buffer
	b.Grow(headRoom)
	for _, part := range [...]string{"GET ", r.URL.RequestURI(), " HTTP/1.1\r\nHost: ", r.Host, "\r\n"} {
		b.WriteString(part)
	}
	// Writing to a buffer does not fail.
	_ = r.Header.WriteSubset(&b, secret)
	b.WriteString("\r\n")
	return b.Bytes()
}

// headRoom is how many bytes most heads take at most.
const headRoom = 512

// archiveOrig is put before the name of a header that was true of the bytes on the wire and is not of the body kept.
const archiveOrig = "X-Archive-Orig-"

// archiveHead is the header block to archive with a decoded body: fields that describe the transfer are renamed and
// Content-Length is the body's own. Field order on the wire is not known any more; fields are sorted.
func archiveHead(a *answer) []byte {
	header, length := a.Header, strconv.Itoa(len(a.Body))
	if !isOfBody(a, length) {
		header = headerOfBody(a, length)
	}
	var b bytes.Buffer
	b.Grow(headRoom)
	_ = header.Write(&b)
	return b.Bytes()
}

// isOfBody tells whether the header block of an answer is true of its body as it stands, as it is where nothing was decoded.
func isOfBody(a *answer, length string) bool {
	sent := a.Header["Content-Length"]
	return len(a.Transfer) == 0 && len(a.Header["Content-Encoding"]) == 0 && len(a.Header["Transfer-Encoding"]) == 0 &&
		len(sent) == 1 && sent[0] == length
}

func headerOfBody(a *answer, length string) http.Header {
	header := a.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if len(a.Transfer) > 0 {
		header.Set("Transfer-Encoding", strings.Join(a.Transfer, ", "))
	}
	for _, name := range []string{"Content-Encoding", "Transfer-Encoding", "Content-Length"} {
		values := header.Values(name)
		if len(values) == 0 || name == "Content-Length" && len(values) == 1 && values[0] == length {
			continue
		}
		header[archiveOrig+name] = values
		header.Del(name)
	}
	if a.Status == http.StatusOK {
		header.Set("Content-Length", length)
	}
	return header
}
