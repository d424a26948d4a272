package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Key is what whoever publishes a site shows with what he says of its pages, as IndexNow has it: the name and the content of a file
// that he keeps there. The zero Key is nobody's.
type Key struct {
	Text  string // as it is written: the key, or ${file:/path} or ${credential:name}
	Value string // the key; "" where the credential is not there for this process
}

// The length of a key, in characters, as IndexNow has it, and its characters.
const (
	leastKey, mostKey = 8, 128
	keyCharacters     = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
)

// IsKey tells whether a text has the form of a key.
func IsKey(text string) bool {
	return len(text) >= leastKey && len(text) <= mostKey && strings.Trim(text, keyCharacters) == ""
}

// errKey does not repeat the text, which may be secret.
var errKey = fmt.Errorf("is not a key of IndexNow, which is %d to %d letters (a to z), digits or \"-\"", leastKey, mostKey)

func checkKey(text string) error {
	switch {
	case text == "" || IsKey(text):
		return nil
	case strings.Contains(text, "${"):
		return checkSecretPlace(text)
	}
	return errKey
}

// keyValue is a key as a value.
type keyValue struct{ at *Key }

func (v keyValue) read(r *reader, n ast.Node) {
	text, ok := r.scalar(n)
	if !ok {
		return
	}
	if text == "off" {
		*v.at = Key{}
		return
	}
	key := Key{Text: text}
	if err := key.fill(); err != nil {
		r.fail(n, "%w", err)
		return
	}
	*v.at = key
}

// fill reads the key, from where it is.
func (k *Key) fill() error {
	if k.Text == "" {
		return errKey
	}
	if err := checkKey(k.Text); err != nil {
		return err
	}
	if ofUnitAlone(k.Text) {
		return nil
	}
	value, err := expand(k.Text, readSecret)
	if err == nil && !IsKey(value) {
		err = errKey
	}
	k.Value = value
	return err
}

func (v keyValue) check() error { return checkKey(v.at.Text) }

// String tells of a secret where it is.
func (v keyValue) String() string {
	if v.at.Text == "" {
		return "off"
	}
	return quote(v.at.Text)
}
