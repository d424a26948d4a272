package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Index is a search server that is given what pages say.
type Index struct {
	Name    string   // unique, as that of a Webhook
	Form    string   // what server it is: one of IndexForms
	URL     string   // where that is, http or https, without what the form puts behind it
	Index   string   // what the server calls it: the index of Meilisearch, Elasticsearch and OpenSearch, the collection of Typesense, the core of Solr
	Token   string   // that lets write: ${file:/path} or ${credential:name}; empty: none. See Secret
	Sites   []string // names of the sites whose pages are given; none: all
	Private bool     // it may be at a private address or on this machine, and without TLS
}

// What an Index may be for.
const (
	IndexMeilisearch   = "meilisearch"
	IndexElasticsearch = "elasticsearch" // and OpenSearch
	IndexTypesense     = "typesense"
	IndexSolr          = "solr"
)

// IndexForms are all of them.
func IndexForms() []string {
	return []string{IndexMeilisearch, IndexElasticsearch, IndexTypesense, IndexSolr}
}

// maxIndexes bounds the search servers: each reads the events for itself.
const maxIndexes = 32

// Secret reads the token, "" where there is none, anew each time: a file that was changed counts at once.
func (x *Index) Secret() (string, error) { return readToken(x.Token) }

// Where is where it is, without what is secret: "docs of meilisearch at search.example.net".
func (x *Index) Where() string {
	u, err := url.Parse(x.URL)
	if err != nil {
		return x.Form
	}
	return fmt.Sprintf("%s of %s at %s", x.Index, x.Form, u.Host)
}

// checkIndexName is the rule for names that every one of the servers takes.
func checkIndexName(text string) error {
	const safe = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	if text == "" || len(text) > 100 || strings.Trim(text, safe) != "" || strings.ContainsAny(text[:1], "-_") {
		return fmt.Errorf("%s is no name of an index, write at most 100 small letters (a to z), digits, \"-\" or \"_\", a letter or digit first", shown(text))
	}
	return nil
}

// indexFields are the keys of a search server.
var indexFields = []field[Index]{
	{key: "form", of: func(x *Index) value { return word(&x.Form, oneOf(IndexForms()...)) }},
	{key: "url", of: func(x *Index) value { return word(&x.URL, checkURL) }},
	{key: "index", of: func(x *Index) value { return word(&x.Index, checkIndexName) }},
	{key: "token", of: func(x *Index) value { return word(&x.Token, orNone(checkSecretPlace)) }},
	{key: "sites", of: func(x *Index) value { return words(&x.Sites, checkName) }},
	{key: "private", of: func(x *Index) value { return toggle(&x.Private) }},
}

// indexesValue is the search servers as a value.
func indexesValue(at *[]Index) value {
	return named[Index]{
		at: at, what: "search servers", most: maxIndexes, fields: indexFields,
		begin: func(name string) Index { return Index{Name: name} },
		name:  func(x *Index) string { return x.Name },
		whole: (*Index).whole,
		unlock: func(x *Index) (string, error) {
			if ofUnitAlone(x.Token) {
				return "", nil
			}
			_, err := x.Secret()
			return "token", err
		},
	}
}

// whole tells what is missing of a search server, each key of which is good.
func (x *Index) whole() error {
	u, err := url.Parse(x.URL)
	switch {
	case x.Form == "":
		return fmt.Errorf("has no form, write one of %s", strings.Join(IndexForms(), ", "))
	case x.URL == "":
		return errors.New("has no url")
	case x.Index == "":
		return errors.New("has no index, write what the server calls it")
	case err != nil:
		return err
	case strings.ContainsAny(x.URL, "?#"):
		return errors.New(`has a url of more than a host and a path, write it without "?" and "#"`)
	case u.Scheme == "http" && !x.Private:
		return errors.New("has a url that is not of scheme https: whoever is on the way could read it; private: on allows it in a private network or on this machine")
	}
	return nil
}

// readToken reads a token where it is written, "" where there is none.
func readToken(place string) (string, error) {
	text, err := readLine(place, "a token")
	if err == nil && strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) { // which no header could have
		return "", errors.New("has a character that no token has: write it as it was given out, in one line")
	}
	return text, err
}
