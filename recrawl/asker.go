package recrawl

import (
	"net/http"
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
)

// headers are those of a request: honest about who asks, no cookie of the server's, and at the origin of the site's URL what the site
// wants sent. Their values are shared, so they are replaced and never changed.
func (s *visit) headers(target canon.URL, accept []string) http.Header {
	header := make(http.Header, 8)
	header["User-Agent"], header["Accept"], header["Accept-Encoding"] = s.asks.userAgent, accept, s.asks.encoding
	if s.asks.from != nil {
		header["From"] = s.asks.from
	}
	if len(s.settings.Headers) == 0 {
		return header
	}
	if start, err := canon.Parse(s.start); err != nil || start.Origin() != target.Origin() {
		return header
	}
	for _, h := range s.settings.Headers {
		if h.Value != "" {
			header[h.Name] = []string{h.Value}
		}
	}
	return header
}

// secrets are the names of the header fields that are not archived.
func (s *visit) secrets() map[string]bool {
	var names map[string]bool
	for i := range s.settings.Headers {
		if h := &s.settings.Headers[i]; h.Secret() {
			if names == nil {
				names = make(map[string]bool)
			}
			names[h.Name] = true
		}
	}
	return names
}

// logsOut ends the turn of a page that would end the log-in which the site's headers bring, so that no other page would be let in any more. To whom no log-in
// was given it is a page like others, as one about the command logout is; so is what somebody named or asks for.
func (s *visit) logsOut() bool {
	if s.page.Level == 0 || s.page.Rule == models.RuleManual || !content.NamedLogout(s.url) || !slices.ContainsFunc(s.settings.Headers, isLogin) {
		return false
	}
	s.exclude("its address is named for the end of a log-in, and headers: of its site bring one; recrawld visit asks for it all the same")
	return true
}

func isLogin(h config.Header) bool {
	return h.Secret() || h.Name == "Cookie" || h.Name == "Authorization"
}

// asker is the header fields that are the same in every request.
type asker struct {
	userAgent, from, encoding, robots, pages, requisites, missing []string
}

func newAsker(agent config.Agent, version string) asker {
	a := asker{userAgent: []string{userAgent(agent, version)}, encoding: []string{"gzip"},
		robots:     []string{"text/plain, */*;q=0.5"},
		pages:      []string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		requisites: []string{"*/*"}, // in the form in which all get it: what it may be else is not known beforehand
		missing:    []string{"text/html,application/xhtml+xml,*/*;q=0.5"}}
	if strings.Contains(agent.Contact, "@") && !strings.Contains(agent.Contact, "://") {
		a.from = []string{strings.TrimPrefix(agent.Contact, "mailto:")}
	}
	return a
}

// userAgent is how we call ourselves.
func userAgent(agent config.Agent, version string) string {
	name := agent.Name
	if version != "" {
		name += "/" + version
	}
	if agent.Contact != "" {
		name += " (+" + agent.Contact + ")"
	}
	return name
}
