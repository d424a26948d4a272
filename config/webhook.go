package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Webhook is a receiver that is told by POST what happened to pages.
type Webhook struct {
	Name       string   // unique, of letters, digits, "-" and "_", at most 50
	URL        string   // where the events go, http or https
	Secret     string   // where the keys are that sign them: ${file:/path} or ${credential:name}; see Keys
	Kinds      []string // of events that are told; default IndexKinds
	Sites      []string // names of the sites whose events are told; none: all
	Weight     float64  // key min_significance: changes of less are not told, 0–1; default 0
	Requisites bool     // what pages need to be shown, images, styles, scripts and fonts, is told of as well
	Private    bool     // the receiver may be at a private address or on this machine
}

// EventKinds are the words for what happens to pages.
func EventKinds() []string {
	return append(IndexKinds(), "failing", "template")
}

// IndexKinds are those of EventKinds that a search index needs.
func IndexKinds() []string {
	return []string{"new", "changed", "refreshed", "moved", "gone", "restored", "excluded", "removed"}
}

// maxWebhooks bounds the receivers: each reads the events for itself.
const maxWebhooks = 32

// The length of a key, in bytes, as Standard Webhooks has it, and what it begins with.
const (
	leastKeyBytes, mostKeyBytes = 24, 64
	keyPrefix                   = "whsec_"
)

// Keys reads the keys that sign what the receiver is told, one or two, so that a new one is known everywhere before the old one goes.
// They are read anew each time: a file that was changed counts at once.
func (w *Webhook) Keys() ([][]byte, error) {
	text, err := expand(w.Secret, readSecret)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		word, ok := strings.CutPrefix(line, keyPrefix)
		key, err := base64.StdEncoding.DecodeString(word)
		if !ok || err != nil || len(key) < leastKeyBytes || len(key) > mostKeyBytes { // without the line, which is secret
			return nil, fmt.Errorf("key %d is not %s and %d to %d bytes in base64 (make one: echo %[2]s$(openssl rand -base64 32))",
				len(keys)+1, keyPrefix, leastKeyBytes, mostKeyBytes)
		}
		keys = append(keys, key)
	}
	if n := len(keys); n < 1 || n > 2 {
		return nil, fmt.Errorf("has %d keys, write one a line, and two while they are changed", n)
	}
	return keys, nil
}

// webhookFields are the keys of a receiver.
var webhookFields = []field[Webhook]{
	{key: "url", of: func(w *Webhook) value { return word(&w.URL, checkURL) }},
	{key: "secret", of: func(w *Webhook) value { return word(&w.Secret, checkSecretPlace) }},
	{key: "kinds", of: func(w *Webhook) value { return words(&w.Kinds, oneOf(EventKinds()...)) }},
	{key: "sites", of: func(w *Webhook) value { return words(&w.Sites, checkName) }},
	{key: "min_significance", of: func(w *Webhook) value { return number(&w.Weight, 0, 1) }},
	{key: "requisites", of: func(w *Webhook) value { return toggle(&w.Requisites) }},
	{key: "private", of: func(w *Webhook) value { return toggle(&w.Private) }},
}

// webhooksValue is the receivers as a value.
func webhooksValue(at *[]Webhook) value {
	return named[Webhook]{
		at: at, what: "receivers", most: maxWebhooks, fields: webhookFields,
		begin: func(name string) Webhook { return Webhook{Name: name, Kinds: IndexKinds()} },
		name:  func(w *Webhook) string { return w.Name },
		whole: (*Webhook).whole,
		unlock: func(w *Webhook) (string, error) {
			if ofUnitAlone(w.Secret) { // a command signs nothing
				return "", nil
			}
			_, err := w.Keys()
			return "secret", err
		},
	}
}

// whole tells what is missing of a receiver, each key of which is good.
func (w *Webhook) whole() error {
	switch {
	case w.URL == "":
		return errors.New("has no url")
	case w.Secret == "":
		return errors.New("has no secret, write ${file:/path} or ${credential:name}: without a key nobody could tell who sends")
	case len(w.Kinds) == 0:
		return errors.New("has no kinds, leave them out for those that an index needs")
	}
	return nil
}
