package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Whole answers as it should be done: status, fields, body with its length, connection kept.
func Whole(status int, fields map[string]string, body string) Answer {
	return func(c *Conn) {
		c.Send(head(status, fields), "Content-Length: ", strconv.Itoa(len(body)), "\r\n\r\n", body)
	}
}

// Raw writes bytes as they are and hangs up.
func Raw(answer string) Answer {
	return func(c *Conn) {
		c.Send(answer)
		c.Hangup()
	}
}

// Then hands the nth request to the nth answer, later ones to the last.
func Then(answers ...Answer) Answer {
	turns := make(chan Answer, len(answers))
	for _, answer := range answers {
		turns <- answer
	}
	return func(c *Conn) {
		select {
		case answer := <-turns:
			answer(c)
		default:
			answers[len(answers)-1](c)
		}
	}
}

// Gzip is Whole with a body compressed and said to be so.
func Gzip(body string) Answer {
	return Whole(http.StatusOK, html("Content-Encoding", "gzip"), Gzipped(body))
}

// SlowBody promises a long body and sends a byte each interval: a slow loris.
func SlowBody(interval time.Duration) Answer {
	return func(c *Conn) {
		c.Send(head(http.StatusOK, html()), "Content-Length: 100000\r\n\r\n")
		c.Drip(strings.Repeat("x", 100_000), interval)
		c.Hangup()
	}
}

// StalledBody sends half of the body and then nothing.
func StalledBody() Answer {
	return func(c *Conn) {
		c.Send(head(http.StatusOK, html()), "Content-Length: 100\r\n\r\n", strings.Repeat("x", 50))
		c.Stall()
	}
}

// EndlessBody sends for ever, chunked.
func EndlessBody() Answer {
	return func(c *Conn) {
		chunk := fmt.Sprintf("%x\r\n%s\r\n", 8<<10, strings.Repeat("x", 8<<10))
		for ok := c.Send(head(http.StatusOK, html("Transfer-Encoding", "chunked")), "\r\n"); ok; {
			ok = c.Send(chunk)
		}
	}
}

// Silent takes the request and never answers.
func Silent() Answer { return (*Conn).Stall }

// Deaf hangs up without an answer.
func Deaf() Answer { return (*Conn).Hangup }

// SlowHeaders sends its headers a byte each interval.
func SlowHeaders(interval time.Duration) Answer {
	return func(c *Conn) {
		c.Drip(head(http.StatusOK, html())+strings.Repeat("X-Slow: yes\r\n", 10_000), interval)
		c.Hangup()
	}
}

// EndlessHeaders sends header fields for ever.
func EndlessHeaders() Answer {
	return func(c *Conn) {
		for ok := c.Send("HTTP/1.1 200 OK\r\n"); ok; {
			ok = c.Send("X-More: ", strings.Repeat("y", 1000), "\r\n")
		}
	}
}

// ManyHeaders sends n short fields and then a whole answer.
func ManyHeaders(n int) Answer {
	return func(c *Conn) {
		c.Send("HTTP/1.1 200 OK\r\n", strings.Repeat("X: 1\r\n", n), "Content-Length: 2\r\n\r\nok")
	}
}

// Interim sends n interim answers of a status and then a whole one.
func Interim(status, n int) Answer {
	return func(c *Conn) {
		c.Send(strings.Repeat(fmt.Sprintf("HTTP/1.1 %d Wait\r\nX-Pad: %s\r\n\r\n", status, strings.Repeat("z", 100)), n))
		Whole(http.StatusOK, html(), "<p>at last")(c)
	}
}

// GzipBomb answers with n bytes of zeros, compressed as often as layers says.
func GzipBomb(n int64, layers int) Answer {
	body := bytes.NewBuffer(nil)
	z, err := gzip.NewWriterLevel(body, gzip.BestSpeed) // zeros become few bytes all the same
	if err != nil {
		panic(err) // the level is one that there is
	}
	_, _ = io.CopyN(z, zeros{}, n) // a buffer takes it all
	z.Close()
	coding := "gzip"
	for range layers - 1 {
		body = bytes.NewBufferString(Gzipped(body.String()))
		coding += ", gzip"
	}
	return Whole(http.StatusOK, html("Content-Encoding", coding), body.String())
}

// ResetMidBody resets the connection in the middle of the body.
func ResetMidBody() Answer {
	return func(c *Conn) {
		c.Send(head(http.StatusOK, html()), "Content-Length: 100000\r\n\r\n", strings.Repeat("x", 5000))
		c.Reset()
	}
}

// Reset resets the connection in place of an answer.
func Reset() Answer { return (*Conn).Reset }

// HalfClose ends its direction early: with a length the body is short, without one it is whole.
func HalfClose(withLength bool) Answer {
	return func(c *Conn) {
		length := "Connection: close\r\n"
		if withLength {
			length = "Content-Length: 100\r\n"
		}
		c.Send(head(http.StatusOK, html()), length, "\r\n<p>half")
		c.HalfClose()
	}
}

// Chunked sends the body as it is after the headers of a chunked answer, and hangs up.
func Chunked(body string) Answer {
	return Raw(head(http.StatusOK, html("Transfer-Encoding", "chunked")) + "\r\n" + body)
}

// Dying answers whole and then closes the connection it promised to keep.
func Dying(body string) Answer {
	return func(c *Conn) {
		Whole(http.StatusOK, html(), body)(c)
		c.Hangup()
	}
}

// Owing sends an answer as it is, keeps the connection, and sends the rest late: before the next answer on it.
func Owing(answer, rest string) Answer {
	return func(c *Conn) {
		c.Send(answer)
		c.Owe(rest)
	}
}

// Redirect answers with Location fields, one for each target.
func Redirect(status int, targets ...string) Answer {
	return func(c *Conn) {
		c.Send(head(status, nil))
		for _, target := range targets {
			c.Send("Location: ", target, "\r\n")
		}
		c.Send("Content-Length: 0\r\n\r\n")
	}
}

// Conditional answers 304 to requests that name the ETag as it stands here, and 200 to others. sent is the ETag of the
// 200: servers that compress change it and then do not know it again.
func Conditional(known, sent, body string) Answer {
	return func(c *Conn) {
		if c.Header.Get("If-None-Match") == known {
			c.Send("HTTP/1.1 304 Not Modified\r\nETag: ", known, "\r\n\r\n")
			return
		}
		Whole(http.StatusOK, html("ETag", sent), body)(c)
	}
}

// Gzipped is s, compressed.
func Gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, s) // a buffer takes it all
	z.Close()
	return b.String()
}

// html is the fields of a page and a further one.
func html(field ...string) map[string]string {
	fields := map[string]string{"Content-Type": "text/html; charset=utf-8"}
	if len(field) == 2 {
		fields[field[0]] = field[1]
	}
	return fields
}

func head(status int, fields map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	for name, value := range fields {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	return b.String()
}

// zeros reads as zeros for ever.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
