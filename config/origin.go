package config

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// Source is where a value comes from.
type Source int

// The sources of a value, the weakest first.
const (
	FromDefault Source = iota
	FromEnvironment
	FromFile
	FromCommand
)

// String is the word for a source: "default", "environment", "file" or "command".
func (s Source) String() string {
	switch s {
	case FromEnvironment:
		return "environment"
	case FromFile:
		return "file"
	case FromCommand:
		return "command"
	}
	return "default"
}

// Origin says where a value in force was set. The zero Origin is a default.
type Origin struct {
	Source Source
	File   string // for FromFile
	Line   int    // for FromFile, from 1
	Site   string // set where the value was set for this site alone
}

// String is "default", "environment", "command", "recrawld.yaml:14" or "site docs, recrawld.yaml:31".
func (o Origin) String() string {
	text := o.Source.String()
	if o.Source == FromFile {
		text = fmt.Sprintf("%s:%d", filepath.Base(o.File), o.Line)
	}
	if o.Site != "" {
		return "site " + o.Site + ", " + text
	}
	return text
}

// Place is a key in a configuration: "cycle", "agent.name", "defaults.fr", or with a site "fr", "url".
type Place struct{ Site, Key string }

// Origins says where the values of a Config were set. What is not in it is a default.
type Origins map[Place]Origin

// Of is the origin of a value in force: a site's setting that was not set for the site has the origin of the default.
func (o Origins) Of(p Place) Origin {
	if origin, ok := o[p]; ok || p.Site == "" {
		return origin
	}
	return o[Place{Key: "defaults." + p.Key}]
}

// Value is a value in force, written as in the file, with its origin. It is made for showing: passwords are masked.
type Value struct {
	Site   string `json:"site,omitempty"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin Origin `json:"-"`
}

// Plain is the value for a program: a word that had to be quoted to be written in a file is itself.
func (v Value) Plain() string {
	if word, err := strconv.Unquote(v.Value); err == nil && v.Value[0] == '"' {
		return word
	}
	return v.Value
}

// Values lists every value in force in a fixed order: the top of the file, the defaults, and each site with its URL.
func (c *Config) Values(o Origins) []Value {
	values := valuesOf(configFields, c, o, "", "")
	values = append(values, valuesOf(settingFields, &c.Defaults, o, "", "defaults.")...)
	for i := range c.Sites {
		values = append(values, c.Sites[i].Values(o)...)
	}
	return values
}

// Values lists every value in force for one site, its URL first.
func (s *Site) Values(o Origins) []Value {
	url := Place{s.Name, "url"}
	values := []Value{{Site: s.Name, Key: url.Key, Value: s.URL, Origin: o.Of(url)}}
	return append(values, valuesOf(settingFields, &s.Settings, o, s.Name, "")...)
}

func valuesOf[T any](fields []field[T], from *T, o Origins, site, prefix string) []Value {
	var values []Value
	for _, f := range fields {
		if f.short != "" {
			continue
		}
		place := Place{site, prefix + f.key}
		values = append(values, Value{site, place.Key, f.of(from).String(), o.Of(place)})
	}
	return values
}
