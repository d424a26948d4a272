package recrawl

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/sitemap"
)

// mostHub is how many bytes the address of a hub or a topic may have.
const mostHub = 2048

// hubOf is what a feed says of its hub, in Link headers or in itself (WebSub, section 4): the first that can be asked, and the topic, which
// is its URL where it names none. nil: the page is no feed, or its site reads none.
func (s *visit) hubOf(a *answer) *models.Hub {
	if s.settings.Lists == config.ListsOff || s.needed || !mayBeList(s.out.ContentType, a.Body) {
		return nil
	}
	head, ok := sitemap.HeadOf(a.Body)
	if !ok {
		return nil
	}
	hub, inside := models.Hub{Topic: s.url.String()}, s.guard.allows(a.RemoteIP)
	for _, raw := range append(linkTargets(a.Header, "hub"), head.Hubs...) {
		u, err := s.url.Resolve(raw)
		if err != nil || len(u.String()) > mostHub {
			continue
		}
		hub.Inside = inside && u.Hostname() == s.url.Hostname() // no feed has us post to its neighbours
		if u.Scheme() == "https" || hub.Inside {
			hub.URL = u.String()
			break
		}
	}
	if hub.URL == "" {
		return &models.Hub{}
	}
	for _, raw := range append(linkTargets(a.Header, "self"), head.Self) {
		if raw == "" {
			continue
		}
		// The hub compares it as it stands there, which a canonical form may not be.
		if u, err := s.url.Resolve(raw); err == nil && len(raw) <= mostHub {
			hub.Topic = raw
			if _, err := canon.Parse(raw); err != nil { // it is relative
				hub.Topic = u.String()
			}
			break
		}
	}
	return &hub
}

// linkTargets are the targets of Link headers with a relation.
func linkTargets(header http.Header, relation string) []string {
	var targets []string
	for _, link := range extract.HeaderLinks(header.Values("Link")) {
		if link.Relates(relation) {
			targets = append(targets, link.Target)
		}
	}
	return targets
}

// allows tells whether an address is one of those that are dialled because the operator allows them.
func (g *guard) allows(address string) bool {
	addr, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// hubTime is how long a hub may take to answer, with all redirects; hubHops is how many of them are followed.
const (
	hubTime = 10 * time.Second
	hubHops = 3
)

// Hubs asks hubs. It is safe for concurrent use.
type Hubs struct {
	asks            asker
	outside, inside *http.Client
}

// NewHubs returns what asks hubs as a Visitor with the same Config asks for pages: at public addresses alone, but for hubs on the host of a feed
// that came from another (models.Hub.Inside).
func NewHubs(c Config) *Hubs {
	limits, public := c.Limits.withDefaults(), c.Network
	public.Allow = nil
	client := func(network config.Network, onward func(*http.Request, []*http.Request) error) *http.Client {
		d := newDialer(c.Resolver, newGuard(network), network, limits)
		return &http.Client{Timeout: hubTime, CheckRedirect: onward, Transport: &http.Transport{DialContext: d.dial,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
			TLSHandshakeTimeout: limits.TLS, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true, DisableKeepAlives: true}}
	}
	return &Hubs{asks: newAsker(c.Agent, c.Version), outside: client(public, onward), inside: client(c.Network, onwardThere)}
}

// onward follows what keeps the request as it is (307, 308), and never from https to http: the secret goes along.
func onward(r *http.Request, via []*http.Request) error {
	if len(via) > hubHops || r.Method != http.MethodPost || r.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https" {
		return http.ErrUseLastResponse
	}
	return nil
}

// onwardThere is onward on the same host.
func onwardThere(r *http.Request, via []*http.Request) error {
	if r.URL.Hostname() != via[0].URL.Hostname() {
		return http.ErrUseLastResponse
	}
	return onward(r, via)
}

// HubError is an answer that is not the hub's consent.
type HubError struct {
	Status int
	Says   string        // the beginning of the answer, a line of printable text
	After  time.Duration // it wants to be left alone for so long; 0: it does not say
}

// Error implements error.
func (e *HubError) Error() string {
	text := fmt.Sprintf("the hub answers %d", e.Status)
	if e.Says != "" {
		text += ": " + e.Says
	}
	return text
}

// mostHubWait is how long a hub is left alone that asks for it, at most.
const mostHubWait = 24 * time.Hour

// Ask posts a form to a hub. Any status of 2xx is its consent; another one is a *HubError.
func (h *Hubs) Ask(ctx context.Context, now time.Time, hub string, inside bool, form url.Values) error {
	u, err := canon.Parse(hub)
	if err != nil {
		return fmt.Errorf("ask a hub: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("ask a hub: %w", err)
	}
	r.Header = http.Header{"User-Agent": h.asks.userAgent, "Content-Type": {"application/x-www-form-urlencoded"}}
	if h.asks.from != nil {
		r.Header["From"] = h.asks.from
	}
	client := h.outside
	if inside {
		client = h.inside
	}
	answer, err := client.Do(r)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the method and the address are known
		}
		return fmt.Errorf("ask the hub: %w", err)
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, maxDetail)) // what came of it
	if answer.StatusCode/100 == 2 {
		return nil
	}
	refused := &HubError{Status: answer.StatusCode, Says: clean(strings.Join(strings.Fields(string(said)), " "), 200)}
	if at := RetryAfter(answer.Header, now, mostHubWait); !at.IsZero() {
		refused.After = at.Sub(now)
	}
	return refused
}
