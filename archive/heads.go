package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
)

// Head is what a record of a WARC file says before its body.
type Head struct {
	Type   string // WARC-Type: "response", "revisit", "warcinfo" and others
	URL    string // WARC-Target-URI
	Status int    // of the HTTP answer in a response or revisit; 0: there is none
}

// The bounds of a record's own header, and of the status line of what is in it.
const (
	mostFields = 1 << 20
	mostStatus = 4 << 10
)

// Heads gives the heads of the records of a WARC file of any writer, which is unpacked already, one after the other; digests are not checked. It
// holds one head in memory. The last error says what is wrong with the record behind the last one given.
func Heads(in io.Reader) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		for r := bufio.NewReaderSize(in, 16*mostStatus); ; {
			head, err := nextHead(r)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(head, err) || err != nil {
				return
			}
		}
	}
}

// nextHead reads a record: its head, and over the rest. Its error is io.EOF behind the last one.
func nextHead(r *bufio.Reader) (Head, error) {
	text, err := headText(r)
	if err != nil {
		return Head{}, err
	}
	w, _, err := parseFields(text)
	if err != nil {
		return Head{}, err
	}
	length, err := strconv.ParseInt(w.field("Content-Length"), 10, 64)
	if err != nil || length < 0 {
		return Head{}, fmt.Errorf("content length %q", w.field("Content-Length"))
	}
	h := Head{Type: w.field("WARC-Type"), URL: strings.Trim(w.field("WARC-Target-URI"), "<>")}
	block := &io.LimitedReader{R: r, N: length}
	if h.Type == "response" || h.Type == "revisit" {
		begin, _ := r.Peek(int(min(length, mostStatus)))
		h.Status = statusOf(begin)
	}
	if n, err := io.Copy(io.Discard, block); err != nil || n < length {
		return Head{}, fmt.Errorf("%d of %d bytes: %w", n, length, whole(err))
	}
	return h, nil
}

// whole is the error of a record that ends too early.
func whole(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// headText reads the header of a record up to and with the empty line, past the line ends behind the record before.
func headText(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil // more of the line comes
		}
		ended := len(bytes.TrimRight(line, "\r\n")) == 0 && (len(text) == 0 || text[len(text)-1] == '\n')
		switch {
		case errors.Is(err, io.EOF) && len(text) == 0 && ended:
			return nil, io.EOF
		case err != nil:
			return nil, whole(err)
		case len(text) == 0 && ended:
			continue
		case len(text)+len(line) > mostFields:
			return nil, fmt.Errorf("a header of more than %d bytes", mostFields)
		}
		if text = append(text, line...); ended {
			return text, nil
		}
	}
}

// statusOf is the status of an HTTP answer by its beginning, 0 for what is none.
func statusOf(begin []byte) int {
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	proto, rest, _ := strings.Cut(string(line), " ")
	if !strings.HasPrefix(proto, "HTTP/") {
		return 0
	}
	code, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	status, err := strconv.Atoi(code)
	if err != nil || status < 100 || status > 999 {
		return 0
	}
	return status
}
