package sink

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"recrawld/clock"
)

// ChatOptions sets up a Chat. All are required.
type ChatOptions struct {
	Form    ChatForm
	Address func() (string, error)                                               // where it is, without a slash at its end, asked for before each letter
	Token   func() (string, error)                                               // that lets write, "" for none, asked for in the same way
	To      string                                                               // of those forms that have rooms
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // to addresses that a receiver may be at

	RetryAfter func(header http.Header, now time.Time, most time.Duration) time.Time // see WebhookOptions
}

// Chat sends letters to a chat or a phone. It is safe for concurrent use.
type Chat struct {
	options ChatOptions
	client  *http.Client
}

// NewChat returns a Chat.
func NewChat(o ChatOptions) *Chat { return &Chat{o, receiverClient(o.Dial, hookTime)} }

// Secret is by what it is let in: address and token, which may both be secret.
func (c *Chat) Secret() (string, error) {
	address, err := c.options.Address()
	if err != nil {
		return "", err
	}
	token, err := c.options.Token()
	return address + "\n" + token, err
}

// Send returns nil once the server has taken the letter, and ErrUnwanted where it refuses it for good.
//
// A message that is on its way when ctx ends is heard out for a moment: it would else come again.
func (c *Chat) Send(ctx context.Context, l Letter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := outlasting(ctx)
	defer cancel()
	defer c.client.CloseIdleConnections() // the next one comes in minutes
	address, err := c.options.Address()
	if err != nil {
		return fmt.Errorf("nothing is sent without the url: %w", err)
	}
	token, err := c.options.Token()
	if err != nil {
		return fmt.Errorf("nothing is sent without the token: %w", err)
	}
	request, err := c.options.Form.request(ctx, message{l, address, token, c.options.To})
	if err != nil {
		return fmt.Errorf("%w: make a request: %w", ErrUnwanted, withoutURL(err))
	}
	request.Header.Set("User-Agent", "recrawld")
	answer, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("the chat cannot be asked: %w", withoutURL(err))
	}
	defer answer.Body.Close()
	words := ""
	if answer.StatusCode != http.StatusSwitchingProtocols { // see Webhook.post
		var body bytes.Buffer
		_, _ = io.CopyN(&body, answer.Body, hookDrain)
		_ = answer.Body.Close()
		words = body.String()
	}
	return c.read(answer, hidden(words, secretsOf(request.URL, address, token)), address+"\n"+token)
}

// read says what an answer means.
func (c *Chat) read(answer *http.Response, words, secret string) error {
	said := fmt.Errorf("the chat answers %s", statusWords(answer.StatusCode))
	if words != "" {
		said = fmt.Errorf("%w: %s", said, oneLine(words))
	}
	switch status := answer.StatusCode; {
	case status/100 == 2:
		return nil
	case status/100 == 3:
		return fmt.Errorf("%w: %w; redirects are not followed: write where it is as its url", ErrUnwanted, said)
	case status == http.StatusNotFound, // proxies answer so while what is behind them begins anew
		status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500, status < 200:
		now := clock.System{}.Now()
		if at := c.options.RetryAfter(answer.Header, now, hookRetryMax); !at.IsZero() {
			return &askedToWait{at.Sub(now), said}
		}
		return said
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusGone:
		return fmt.Errorf("%w: %w", ErrUnwanted, &secretRefused{sha256.Sum256([]byte(secret)), "the chat refuses the token or the url", said})
	default:
		return fmt.Errorf("%w: %w", ErrUnwanted, said)
	}
}

// withoutURL is an error without the URL that it is of, which may be secret.
func withoutURL(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// leastHidden is how many bytes a part of an address or a token has that may be secret by itself. Shorter ones are words.
const leastHidden = 12

// secretsOf is what is not to be shown of a request: where it goes and the token, whole and in parts, as they are written and as they are meant.
func secretsOf(u *url.URL, address, token string) []string {
	secrets := []string{u.RequestURI(), u.Path, token}
	at, err := url.Parse(address)
	if err != nil {
		at = &url.URL{}
	}
	parts := []string{url.PathEscape(token)}
	for _, text := range []string{at.Path, at.EscapedPath(), at.RawQuery, token} {
		parts = append(parts, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/?&=:", r) })...)
	}
	for _, values := range at.Query() {
		parts = append(parts, values...)
	}
	secrets = append(secrets, slices.DeleteFunc(parts, func(part string) bool { return len(part) < leastHidden })...)
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // none is left in parts
	return secrets
}

// hidden is what a server says without what is secret, which some repeat.
func hidden(words string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) > 1 {
			words = strings.ReplaceAll(words, secret, "***")
		}
	}
	return strings.TrimSpace(words)
}
