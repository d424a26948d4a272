package config

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Webhook is a receiver that is told by POST what happened to pages.
type Webhook struct {
	Name       string   // unique, of letters, digits, "-" and "_", at most 50
	URL        string   // where the events go, http or https
	Secret     string   // where the keys are that sign them: ${file:/path} or ${credential:name}; see Keys
	Kinds      []string // of events that are told; default IndexKinds
	Sites      []string // names of the sites whose events are told; none: all
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
	{key: "requisites", of: func(w *Webhook) value { return toggle(&w.Requisites) }},
	{key: "private", of: func(w *Webhook) value { return toggle(&w.Private) }},
}

// checkHookName is the rule for names of receivers: they stand in metrics, tables and command lines.
func checkHookName(text string) error {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if text == "" || len(text) > 50 || strings.Trim(text, safe) != "" {
		return fmt.Errorf("%s is not a receiver's name, write at most 50 letters (a to z), digits, \"-\" or \"_\"", shown(text))
	}
	return nil
}

// webhooksValue is the receivers as a value: each under its name.
type webhooksValue struct{ at *[]Webhook }

func (v webhooksValue) read(r *reader, n ast.Node) {
	before := len(r.problems)
	outer := r.key
	defer func() { r.key = outer }()
	var hooks []Webhook
	for _, e := range r.entries(n) {
		r.key = join(outer, e.key)
		if err := checkHookName(e.key); err != nil {
			r.fail(e.at, "%w", err)
			continue
		}
		hooks = append(hooks, r.webhook(e))
	}
	r.key = outer
	if len(hooks) > maxWebhooks {
		r.fail(n, "has %d receivers, at most %d", len(hooks), maxWebhooks)
	}
	if len(r.problems) == before {
		*v.at = hooks
	}
}

// webhook reads one receiver, and its keys for once: a file that cannot be read is told with its line.
func (r *reader) webhook(named entry) Webhook {
	w := Webhook{Name: named.key, Kinds: IndexKinds()}
	before, outer := len(r.problems), r.key
	secret := named.at
	for _, e := range r.entries(named.value) {
		f, known := find(webhookFields, e.key)
		if !known {
			r.unknown(e, siblings(webhookFields, ""), nil)
			continue
		}
		if e.key == "secret" {
			secret = e.value
		}
		r.key = join(outer, e.key)
		f.of(&w).read(r, e.value)
		r.key = outer
	}
	switch {
	case len(r.problems) > before:
	case w.URL == "":
		r.fail(named.at, "has no url")
	case w.Secret == "":
		r.fail(named.at, "has no secret, write ${file:/path} or ${credential:name}: without a key nobody could tell who sends")
	case len(w.Kinds) == 0:
		r.fail(named.at, "has no kinds, leave them out for those that an index needs")
	case ofUnitAlone(w.Secret): // a command signs nothing
	default:
		if _, err := w.Keys(); err != nil {
			r.key = join(outer, "secret")
			r.fail(secret, "%w", err)
			r.key = outer
		}
	}
	return w
}

func (v webhooksValue) check() error {
	if len(*v.at) > maxWebhooks {
		return fmt.Errorf("has %d receivers, at most %d", len(*v.at), maxWebhooks)
	}
	for i := range *v.at {
		w := &(*v.at)[i]
		if err := cmp.Or(checkHookName(w.Name), bounds(webhookFields, w, w.Name+".").err()); err != nil {
			return err
		}
		if slices.ContainsFunc((*v.at)[:i], func(other Webhook) bool { return other.Name == w.Name }) {
			return fmt.Errorf("%s is there twice", w.Name)
		}
	}
	return nil
}

func (v webhooksValue) String() string {
	hooks := make([]string, len(*v.at))
	for i := range *v.at {
		w := &(*v.at)[i]
		var parts []string
		for _, f := range webhookFields {
			parts = append(parts, f.key+": "+f.of(w).String())
		}
		hooks[i] = w.Name + ": {" + strings.Join(parts, ", ") + "}"
	}
	return "{" + strings.Join(hooks, ", ") + "}"
}
