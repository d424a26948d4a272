package sink

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recrawld/clock"
)

// indexCall is one delivery to a search server.
type indexCall struct {
	index   *Index
	token   string
	refuse  func(id string, why error) // tells of a document that the server refuses by itself
	retry   time.Duration              // how long the server that failed wants to be left alone; 0: it does not say
	lost    error                      // why it cannot go on, which is not the server's fault
	pending []int64                    // see Index
}

// errRefused says that the server understood a request and refuses what is in it: the document, where it is one alone.
var errRefused = errors.New("the server refuses it")

// errLong is errRefused, since there is too much in it.
var errLong = fmt.Errorf("%w as too long", errRefused)

// errNone says, in JSON, that the server knows nothing at that path, as of an index that is not there. What stands before a server and does not
// find it says so otherwise.
var errNone = errors.New("the server knows no index")

// ask makes a request at a path behind the server's URL, and returns the answer to one that succeeded. It returns errRefused after 400 and
// 422, errLong after 413, and errNone after 404.
func (c *indexCall) ask(ctx context.Context, method, path, kind string, body []byte) ([]byte, error) {
	if c.lost = c.index.renew(ctx); c.lost != nil {
		return nil, c.lost
	}
	o := &c.index.options
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(o.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	request.Header.Set("User-Agent", "recrawld")
	if len(body) > 0 {
		request.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		o.Form.show(request.Header, c.token)
	}
	answer, err := c.index.client.Do(request)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("the server has not answered within %v", indexTime)
		}
		return nil, fmt.Errorf("the server cannot be asked: %w", withoutURL(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusSwitchingProtocols { // see Webhook.post
		return nil, errors.New("the server answers 101 Switching Protocols")
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, indexSaid))
	if answer.StatusCode/100 == 2 {
		if err != nil {
			return nil, fmt.Errorf("the server's answer breaks off: %w", err)
		}
		return said, nil
	}
	return nil, c.refuses(answer, said)
}

// refuses is the error of an answer that is none of success.
func (c *indexCall) refuses(answer *http.Response, said []byte) error {
	err := fmt.Errorf("the server answers %s", statusWords(answer.StatusCode))
	if words := hidden(string(said[:min(len(said), hookDrain)]), c.secrets()); words != "" {
		err = fmt.Errorf("%w: %s", err, oneLine(words))
	}
	now := clock.System{}.Now()
	if at := c.index.options.RetryAfter(answer.Header, now, hookRetryMax); !at.IsZero() {
		c.retry = max(at.Sub(now), hookGapMin)
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", errRefused, err)
	case http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w: %w", errLong, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("the token does not let write there: %w", err)
	case http.StatusNotFound:
		if !json.Valid(said) {
			return fmt.Errorf("there is no search server at this url: %w", err)
		}
		return fmt.Errorf("%w %s at this url: %w", errNone, c.index.options.Index, err)
	}
	if answer.StatusCode/100 == 3 {
		return fmt.Errorf("%w; redirects are not followed: write where it is as its url", err)
	}
	return err
}

// secrets are what is not to be shown of the token, as it is written and as basic has it.
func (c *indexCall) secrets() []string {
	_, password, _ := strings.Cut(c.token, ":")
	return []string{c.token, base64.StdEncoding.EncodeToString([]byte(c.token)), password}
}

// path is a path with the index's name in it.
func (c *indexCall) path(format string) string {
	return fmt.Sprintf(format, url.PathEscape(c.index.options.Index))
}

// basic is a header for a user and a password, or another one for a token that is none.
func basic(header http.Header, token, otherwise string) {
	if strings.Contains(token, ":") {
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(token)))
		return
	}
	header.Set("Authorization", otherwise+" "+token)
}

// apart sends documents, and where that ends in one of such errors each half by itself, down to single ones: so that those that the server
// refuses are told from the others.
func (c *indexCall) apart(documents []Document, such error, send func([]Document) error) error {
	if len(documents) == 0 {
		return nil
	}
	err := send(documents)
	if !errors.Is(err, such) {
		return err
	}
	if len(documents) == 1 {
		c.refuse(documents[0].ID, err)
		return nil
	}
	half := len(documents) / 2
	if err := c.apart(documents[:half], such, send); err != nil {
		return err
	}
	return c.apart(documents[half:], such, send)
}
