package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// Load reads and checks the configuration file at path. An error that the file says something wrong is of type
// Problems; a file that is not there gives one that is fs.ErrNotExist. Secrets are read from where the file points to.
func Load(path string) (Config, error) {
	c, _, err := Read(path)
	return c, err
}

// Read is Load, and says where each value was set.
func Read(path string) (Config, Origins, error) {
	file, err := os.Open(path)
	if err != nil {
		return Config{}, nil, fmt.Errorf("read configuration: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Config{}, nil, fmt.Errorf("read configuration: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return Config{}, nil, fmt.Errorf("read configuration: %w", err)
	}
	return parse(path, text, info.Mode())
}

// Parse reads and checks a configuration given as text; name stands for the file in messages. Errors are of type
// Problems, all there are, and the Config is then not to be used.
func Parse(name string, text []byte) (Config, Origins, error) {
	return parse(name, text, 0)
}

// parse refuses a password in a file of a mode that lets others read it.
func parse(name string, text []byte, mode fs.FileMode) (Config, Origins, error) {
	r := &reader{file: name, source: FromFile, origins: DefaultOrigins()}
	c := Default()
	c.Backup.Dir, c.Mirror.Dir = "", ""
	root, err := parseYAML(text)
	if err != nil {
		return Config{}, nil, Problems{{File: name, Line: lineOf(err), Text: err.Error()}}
	}
	r.config(root, &c)
	c.placeDirectories()
	c.choosePolicies()
	if r.inline != nil && mode.Perm()&0o077 != 0 {
		r.key = "store"
		r.fail(r.inline, "has a password, and others can read this file (mode %#o): chmod 600 it, or write ${file:/path}", mode.Perm())
	}
	if len(r.problems) == 0 {
		r.problems = c.relations(r.origins)
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
		return Config{}, nil, r.problems
	}
	return c, r.origins, nil
}

func lineOf(err error) int {
	var located lineError
	if errors.As(err, &located) {
		return located.line
	}
	return 0
}

// config reads the whole file. The sites come last, wherever they stand, for they begin as the defaults.
func (r *reader) config(root ast.Node, c *Config) {
	var sites ast.Node
	readFields(r, root, configFields, c, map[string]func(entry){
		"defaults": func(e entry) {
			r.key = e.key
			readFields(r, e.value, settingFields, &c.Defaults, nil)
		},
		"sites": func(e entry) { sites = e.value },
	})
	switch v := sites.(type) {
	case nil, *ast.NullNode:
	case *ast.SequenceNode:
		for _, n := range v.Values {
			r.oneSite(n, c)
		}
	default:
		r.key = "sites"
		r.fail(sites, "needs a list, as in \"- url: https://example.org/\"")
	}
}

// oneSite reads a site. Its name is needed first, to say whose settings the others are. Of one that is none, for its URL or its name,
// the settings are read too: what is wrong with them is told at once, not when the URL is mended.
func (r *reader) oneSite(n ast.Node, c *Config) {
	defer func() { r.key, r.site = "", "" }()
	r.key = "sites"
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		r.fail(n, "a site is keys with values, as in \"- url: https://example.org/\"")
		return
	}
	site := Site{Settings: c.Defaults}
	at := r.identity(n, &site)
	if site.Name != "" {
		r.key, r.site = "", site.Name
	}
	place := Place{site.Name, "url"}
	other, twice := r.origins[place]
	switch {
	case twice && slices.ContainsFunc(c.Sites, func(s Site) bool { return s.Name == site.Name && s.URL == site.URL }):
		r.fail(n, "has the url of the site on line %d, make one of the two", other.Line) // another name would not help
	case twice:
		r.fail(n, "is called as the site on line %d, write another name: beside its url:", other.Line)
	}
	all := r.origins
	if twice || site.URL == "" {
		r.origins = Origins{}
		defer func() { r.origins = all }()
	}
	r.origins[place] = Origin{r.source, r.file, line(at), site.Name}
	skip := func(entry) {}
	readFields(r, n, settingFields, &site.Settings, map[string]func(entry){"url": skip, "name": skip})
	if !twice && site.URL != "" {
		c.Sites = append(c.Sites, site)
	}
}

// identity reads the URL and the name of a site and returns the node of the URL.
func (r *reader) identity(n ast.Node, site *Site) ast.Node {
	at := n
	before := len(r.problems)
	probe := &reader{} // the keys are read again for the settings, which is when doubled ones are told
	for _, e := range probe.entries(n) {
		switch e.key {
		case "url":
			at = e.at
			r.key = "sites.url"
			word(&site.URL, checkURL).read(r, e.value)
		case "name":
			r.key = "sites.name"
			word(&site.Name, checkName).read(r, e.value)
		}
	}
	r.key = "sites"
	switch {
	case len(r.problems) > before:
		site.URL = ""
	case site.URL == "":
		r.fail(n, "a site has no url")
	default:
		finishSite(site)
	}
	return at
}
