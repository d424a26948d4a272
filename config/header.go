package config

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"golang.org/x/net/http/httpguts"
)

// Header is a header field that a site wants with each request, such as a language or a log-in.
type Header struct {
	Name  string // in its canonical form, Accept-Language
	Text  string // as it is written: the value, or ${file:/path} or ${credential:name} where that is secret
	Value string // what is sent; "" where the credential is not there for this process: nothing is
}

// Secret tells whether the value is nobody else's business: it is not shown, logged or archived.
func (h *Header) Secret() bool { return strings.HasPrefix(h.Text, "${") }

// Bounds of the headers of a site.
const (
	maxHeaders     = 16
	maxHeaderValue = 4 << 10 // bytes
)

// ownHeaders are sent, or meant for one connection, by the visit itself: another value would make it say what is not so.
var ownHeaders = []string{"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Expect", "From", "Host", "If-Match",
	"If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection",
	"Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// checkHeader holds a header to what may be sent. It does not repeat a value, which may be secret.
func checkHeader(h *Header) error {
	switch {
	case !httpguts.ValidHeaderFieldName(h.Name):
		return fmt.Errorf("%s is not the name of a header field", shown(h.Name))
	case h.Name == "User-Agent":
		return errors.New("is made of agent: { name, contact }")
	case slices.Contains(ownHeaders, h.Name):
		return errors.New("is sent by every visit as it needs it")
	case strings.Contains(h.Text, "${"):
		return checkSecretPlace(h.Text)
	case h.Name == "Authorization" || h.Name == "Cookie":
		return errors.New("is secret, write ${file:/path} or ${credential:name} for where its value is")
	}
	return checkHeaderValue(h.Text)
}

func checkHeaderValue(text string) error {
	if text == "" || len(text) > maxHeaderValue || strings.TrimSpace(text) != text || !httpguts.ValidHeaderFieldValue(text) {
		return fmt.Errorf("is not the value of a header field: one line of 1 to %d bytes", maxHeaderValue)
	}
	return nil
}

// headersValue is the headers as a value: each under its name.
type headersValue struct{ at *[]Header }

func (v headersValue) read(r *reader, n ast.Node) {
	before := len(r.problems)
	outer := r.key
	defer func() { r.key = outer }()
	var headers []Header
	for _, e := range r.entries(n) {
		r.key = join(outer, e.key)
		text, ok := r.scalar(e.value)
		if !ok {
			continue
		}
		h := Header{Name: textproto.CanonicalMIMEHeaderKey(e.key), Text: text}
		if err := h.fill(); err != nil {
			r.fail(e.value, "%w", err)
			continue
		}
		if slices.ContainsFunc(headers, func(other Header) bool { return other.Name == h.Name }) {
			r.fail(e.at, "is there twice")
		}
		headers = append(headers, h)
	}
	r.key = outer
	if len(headers) > maxHeaders {
		r.fail(n, "has %d header fields, at most %d", len(headers), maxHeaders)
	}
	if len(r.problems) == before {
		*v.at = headers
	}
}

// fill reads the value, from where it is.
func (h *Header) fill() error {
	if err := checkHeader(h); err != nil {
		return err
	}
	switch {
	case !h.Secret():
		h.Value = h.Text
		return nil
	case ofUnitAlone(h.Text):
		return nil
	}
	value, err := expand(h.Text, readSecret)
	if err == nil {
		err = checkHeaderValue(value)
	}
	h.Value = value
	return err
}

func (v headersValue) check() error {
	for i := range *v.at {
		if err := checkHeader(&(*v.at)[i]); err != nil {
			return fmt.Errorf("%s %w", (*v.at)[i].Name, err)
		}
	}
	if len(*v.at) > maxHeaders {
		return fmt.Errorf("has %d header fields, at most %d", len(*v.at), maxHeaders)
	}
	return nil
}

// String tells of a secret where it is.
func (v headersValue) String() string {
	parts := make([]string, len(*v.at))
	for i, h := range *v.at {
		parts[i] = quote(h.Name) + ": " + quote(h.Text)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
