package hostile

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// Honest answers 304 to a condition that holds and the whole page to all else: If-None-Match is compared as a list, and
// If-Modified-Since, where no tag is named, as a word (as many servers do). Fields are those of a 200, and may hold ETag
// and Last-Modified.
func Honest(fields map[string]string, body string) Answer {
	return func(c *Conn) {
		tags, since := c.Header.Get("If-None-Match"), c.Header.Get("If-Modified-Since")
		held := tags == "" && since != "" && since == fields["Last-Modified"]
		if tags != "" {
			held = slices.ContainsFunc(strings.Split(tags, ","), func(tag string) bool {
				return strings.TrimSpace(tag) == fields["ETag"]
			})
		}
		if held {
			c.Send("HTTP/1.1 304 Not Modified\r\n", only(fields, "ETag"), only(fields, "Last-Modified"), "\r\n")
			return
		}
		Whole(http.StatusOK, fields, body)(c)
	}
}

// AlwaysNotModified answers 304 to any condition, whatever has become of the page.
func AlwaysNotModified(fields map[string]string, body string) Answer {
	return func(c *Conn) {
		if c.Header.Get("If-None-Match")+c.Header.Get("If-Modified-Since") != "" {
			c.Send("HTTP/1.1 304 Not Modified\r\n\r\n")
			return
		}
		Whole(http.StatusOK, fields, body)(c)
	}
}

// Renaming answers whole, with another value of a field each time. The value has a verb for a number that grows.
func Renaming(field, value, body string) Answer {
	var n atomic.Int64
	return func(c *Conn) {
		Honest(html(field, fmt.Sprintf(value, n.Add(1))), body)(c)
	}
}

// Packed answers as Apache's mod_deflate does: the tag of the compressed page has a suffix, and only the tag without it
// is known when it comes back.
func Packed(tag, body string) Answer {
	return func(c *Conn) {
		if slices.Contains(strings.Split(c.Header.Get("If-None-Match"), ", "), `"`+tag+`"`) {
			c.Send("HTTP/1.1 304 Not Modified\r\nETag: \"", tag, "\"\r\n\r\n")
			return
		}
		Whole(http.StatusOK, html("ETag", `"`+tag+`-gzip"`), body)(c)
	}
}

// only is one field of several, "" where it is not among them.
func only(fields map[string]string, name string) string {
	if fields[name] == "" {
		return ""
	}
	return name + ": " + fields[name] + "\r\n"
}
