package recrawl

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// requestHead is the head of a request as HTTP/1.1 writes it, without the secret fields; over HTTP/2 the same fields travel in
// another form.
func requestHead(r *http.Request, secret map[string]bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\n", r.URL.RequestURI(), r.Host)
	// Writing to a buffer does not fail.
	_ = r.Header.WriteSubset(&b, secret)
	b.WriteString("\r\n")
	return b.Bytes()
}

// archiveOrig is put before the name of a header that was true of the bytes on the wire and is not of the body kept.
const archiveOrig = "X-Archive-Orig-"

// archiveHead is the header block to archive with a decoded body: fields that describe the transfer are renamed and
// Content-Length is the body's own. Field order on the wire is not known any more; fields are sorted.
func archiveHead(a *answer) []byte {
	header := a.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if len(a.Transfer) > 0 {
		header.Set("Transfer-Encoding", strings.Join(a.Transfer, ", "))
	}
	length := strconv.Itoa(len(a.Body))
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
	var b bytes.Buffer
	_ = header.Write(&b)
	return b.Bytes()
}
