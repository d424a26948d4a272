package recrawl

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"recrawld/models"
)

// bodyCaps bounds one body.
type bodyCaps struct {
	wire, decoded    int64
	ratio, ratioFrom int64
	truncate         bool // past decoded the rest is left unread, which is no error (robots.txt)

	expected int64        // bytes that the server says it sends, of which codings make others; ≤ 0: it does not say
	more     func() error // asked once, for leave to read beyond freeBody; nil: not asked
}

// refuse is errTooLarge for a body of which the server says itself that it is beyond the caps: to read it up to there would cost both sides what
// nobody keeps. What codings make of it is not known yet.
func (c *bodyCaps) refuse(coded bool) error {
	switch {
	case c.truncate:
		return nil
	case c.expected > c.wire:
		return fmt.Errorf("%w: %d bytes are announced, more than the %d of wire_bytes", errTooLarge, c.expected, c.wire)
	case !coded && c.expected > c.decoded:
		return fmt.Errorf("%w: %d bytes are announced, more than the %d of body_bytes", errTooLarge, c.expected, c.decoded)
	}
	return nil
}

// readAhead is how much of a body room is made for before it has come.
const readAhead = 64 << 10

// maxCodings is how many content codings may be nested.
const maxCodings = 3

// errTooLarge, errBadCoding and errCut are why a body was given up; models.ErrorClass is made from them.
var (
	errTooLarge  = errors.New("body is larger than allowed")
	errBadCoding = errors.New("content coding cannot be undone")
	errCut       = errors.New("compressed body ends early or fails its checksum")
)

// counter counts what passes; it may be read while it counts.
type counter struct {
	from  io.Reader
	limit int64
	n     atomic.Int64
	err   error // the last error of from
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.n.Add(int64(n)) > c.limit {
		return n, fmt.Errorf("%w: more than %d bytes on the wire", errTooLarge, c.limit)
	}
	c.err = err
	return n, err
}

// codings lists the content codings of an answer in the order in which they were applied, identity left out.
func codings(header http.Header) ([]string, error) {
	var list []string
	for _, value := range header.Values("Content-Encoding") {
		for name := range strings.SplitSeq(value, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "", "identity":
			case "gzip", "x-gzip", "deflate":
				list = append(list, strings.TrimPrefix(name, "x-"))
			default:
				return nil, fmt.Errorf("%w: unknown coding %.40q", errBadCoding, name)
			}
		}
	}
	if len(list) > maxCodings {
		return nil, fmt.Errorf("%w: %d codings on top of each other", errBadCoding, len(list))
	}
	return list, nil
}

// readBody reads the whole of a body from the wire and undoes its codings. What comes with an error is no body.
func readBody(wire *counter, list []string, caps bodyCaps) ([]byte, error) {
	from := io.Reader(wire)
	for i := len(list) - 1; i >= 0; i-- {
		decoded, err := undo(list[i], from)
		if errors.Is(err, io.EOF) && wire.n.Load() == 0 {
			return []byte{}, nil // no bytes at all: an empty body, whatever its label says
		}
		if err != nil {
			return nil, codingError(wire, err)
		}
		from = &capped{from: decoded, wire: wire, caps: caps}
	}
	if caps.truncate {
		from = io.LimitReader(from, caps.decoded)
	} else if len(list) == 0 {
		from = &capped{from: from, wire: wire, caps: bodyCaps{decoded: caps.decoded}}
	}
	var body bytes.Buffer
	if n := min(caps.expected, caps.decoded); n > 0 && len(list) == 0 && caps.more == nil {
		if n <= readAhead {
			return readExpected(wire, from, int(n))
		}
		body.Grow(readAhead + bytes.MinRead)
	}
	if caps.more != nil {
		switch _, err := io.CopyN(&body, from, freeBody); {
		case errors.Is(err, io.EOF):
			return body.Bytes(), nil
		case err != nil:
			return nil, codingError(wire, err)
		}
		if err := caps.more(); err != nil {
			return nil, err
		}
	}
	if _, err := body.ReadFrom(from); err != nil {
		return nil, codingError(wire, err)
	}
	return body.Bytes(), nil
}

// readExpected reads all there is into as much memory as that is expected to take: who holds a body for long would else hold
// more than that, or a copy.
func readExpected(wire *counter, from io.Reader, bytes int) ([]byte, error) {
	body := make([]byte, 0, bytes)
	for {
		room := body[len(body):cap(body)]
		if len(room) == 0 {
			room = make([]byte, 1) // its end is to come, as a rule
		}
		n, err := from.Read(room)
		if len(body) < cap(body) {
			body = body[:len(body)+n]
		} else {
			body = append(body, room[:n]...)
		}
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, codingError(wire, err)
		}
	}
}

// undo opens one coding. Deflate is zlib by the standard and raw by the habit of some servers; the first two bytes of
// zlib tell (RFC 1950, 2.2).
func undo(coding string, from io.Reader) (io.Reader, error) {
	if coding == "gzip" {
		return gzip.NewReader(from)
	}
	buffered := bufio.NewReader(from)
	head, err := buffered.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(buffered)
	}
	return flate.NewReader(buffered), nil
}

// capped ends in an error once more is decoded than the caps allow. Each coding has one, so that a bomb within a bomb
// is defused at the layer that expands.
type capped struct {
	from io.Reader
	wire *counter
	caps bodyCaps
	n    int64
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	switch {
	case c.n > c.caps.decoded && !c.caps.truncate:
		return n, fmt.Errorf("%w: more than %d bytes decoded", errTooLarge, c.caps.decoded)
	case c.caps.ratio > 0 && c.n > c.caps.ratioFrom && c.n/c.caps.ratio > c.wire.n.Load():
		return n, fmt.Errorf("%w: %d bytes decoded from %d", errTooLarge, c.n, c.wire.n.Load())
	}
	return n, err
}

// codingError tells a fault of the connection, which is returned as it is, from one of the coding.
func codingError(wire *counter, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, errTooLarge):
		return err
	case wire.err != nil && !errors.Is(wire.err, io.EOF):
		return wire.err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum),
		errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", errCut, err)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrDictionary),
		errors.As(err, &corrupt):
		return fmt.Errorf("%w: %w", errBadCoding, err)
	}
	return err
}

// bodyClass names what codings or readBody returned; ok is false for a fault of the connection.
func bodyClass(err error) (class models.ErrorClass, ok bool) {
	switch {
	case errors.Is(err, errTooLarge):
		return models.BodyTooLarge, true
	case errors.Is(err, errBadCoding):
		return models.BadEncoding, true
	case errors.Is(err, errCut):
		return models.BodyShort, true
	}
	return models.ClassNone, false
}
