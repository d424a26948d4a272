package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// finishSite brings the URL into the form in which two spellings of a host compare equal, and names the site after its
// host unless it has a name. The full canonical form is the business of package canon.
func finishSite(s *Site) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return
	}
	u.Scheme, u.Host, u.Fragment, u.RawFragment = strings.ToLower(u.Scheme), strings.ToLower(u.Host), "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	s.URL = u.String()
	if s.Name == "" {
		s.Name = u.Host
	}
}

// StoredSite is a site as the database keeps it.
type StoredSite struct {
	ID       int32
	Name     string // "": the host of URL
	URL      string
	Settings string // YAML, the keys that may stand beside the url: of a site; "" for none
	FromFile bool   // it was in the file when the daemon last loaded it
}

// WithSites merges the sites of the database into c. A site of the file gets the ID of the row with its name, and
// nothing else from it; a site that a command added is appended with its settings over the defaults; a row of a site
// that was taken out of the file adds nothing (see Site). Sites whose rows cannot be read are left out, and the error,
// of type Problems, says why: the Config is good without them. The arguments are not changed.
func (c Config) WithSites(o Origins, rows []StoredSite) (Config, Origins, error) {
	r := &reader{source: FromCommand, origins: Origins{}}
	maps.Copy(r.origins, o)
	c.Sites = slices.Clone(c.Sites)
	index := make(map[string]int, len(c.Sites)+len(rows))
	for i, site := range c.Sites {
		index[site.Name] = i
	}
	for _, row := range rows {
		site, err := NewSite(row.Name, row.URL, c.Defaults)
		if err != nil {
			r.problems = append(r.problems, Problem{Text: fmt.Sprintf("site %s: %v", row.Name, err)})
			continue
		}
		if i, known := index[site.Name]; known {
			c.Sites[i].ID = row.ID
			continue
		}
		if row.FromFile || !r.stored(row.Settings, &site, &c) {
			continue
		}
		site.ID = row.ID
		index[site.Name] = len(c.Sites)
		c.Sites = append(c.Sites, site)
	}
	return c, r.origins, r.problems.err()
}

// stored reads the settings of a site from the database, and tells whether they are good.
func (r *reader) stored(text string, site *Site, c *Config) bool {
	r.site = site.Name
	defer func() { r.site = "" }()
	before := len(r.problems)
	root, err := parseYAML([]byte(text))
	if err != nil {
		r.problems = append(r.problems, Problem{Text: "site " + r.site + ": " + err.Error()})
		return false
	}
	readFields(r, root, settingFields, &site.Settings, nil)
	site.Settings.choosePolicy(c.Budget)
	r.origins[Place{site.Name, "url"}] = Origin{Source: r.source, Site: site.Name}
	r.problems = append(r.problems, c.siteRelations(site, r.origins)...)
	return len(r.problems) == before
}

// NewSite is a site with the given settings. An empty name is taken from the host of the URL.
func NewSite(name, url string, settings Settings) (Site, error) {
	if err := checkURL(url); err != nil {
		return Site{}, fmt.Errorf("url: %w", err)
	}
	site := Site{Name: name, URL: url, Settings: settings}
	finishSite(&site)
	if err := checkName(site.Name); err != nil {
		return Site{}, fmt.Errorf("name: %w", err)
	}
	return site, nil
}

// ParseSettings reads settings as StoredSite keeps them over the defaults of c and checks the result. The error is of
// type Problems.
func (c *Config) ParseSettings(text string) (Settings, error) {
	site := Site{Settings: c.Defaults}
	r := &reader{source: FromCommand, origins: Origins{}}
	if !r.stored(text, &site, c) {
		return c.Defaults, r.problems.err()
	}
	return site.Settings, nil
}

// Set sets one value as if it stood in the file, for the flags of commands: Set(o, "cycle", "12h"),
// Set(o, "defaults.delay", "0s"). A key that takes a list takes several words. A default goes to the sites too that
// have no value of their own. The error is of type Problems, and c and o are then as they were. Relations to other
// values are checked by Validate, when all are set.
func (c *Config) Set(o Origins, key string, words ...string) error {
	next := *c
	next.Sites = slices.Clone(c.Sites)
	r := &reader{source: FromCommand, origins: Origins{}}
	if rest, ok := strings.CutPrefix(key, "defaults."); ok {
		setField(r, settingFields, &next.Defaults, rest, words)
		for i := range next.Sites {
			if _, own := o[Place{next.Sites[i].Name, rest}]; !own && len(r.problems) == 0 {
				setField(r, settingFields, &next.Sites[i].Settings, rest, words)
			}
		}
	} else {
		setField(r, configFields, &next, key, words)
	}
	if err := r.problems.err(); err != nil {
		return err
	}
	next.choosePolicies()
	if key == "data" {
		next.Data = c.Data
		next.SetData(words[0])
	}
	*c = next
	o[Place{Key: key}] = Origin{Source: FromCommand}
	return nil
}

// setField reads words into the field of a key.
func setField[T any](r *reader, fields []field[T], into *T, key string, words []string) {
	f, ok := find(fields, key)
	if !ok || f.short != "" {
		r.problems = append(r.problems, Problem{Text: "unknown key " + shown(key)})
		return
	}
	r.key = key
	f.of(into).read(r, wordsNode(words))
}
