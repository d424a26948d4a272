package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/scope"
)

const (
	// importHosts is for how many hosts an import makes a site each. Every site is held in memory and prepared whenever one
	// of them changes, so more hosts share one.
	importHosts = 1000
	// importName is the name of the site that many hosts share, or its beginning.
	importName = "import"
	// listedPages and onlyList are the settings of that site and of a site of one host.
	listedPages = "level: 0\nscope: [\"*\"]\n"
	onlyList    = "level: 0\nscope: [%q]\n"
)

// importSites are the sites that imported pages belong to, by their hosts.
type importSites struct {
	only   int32              // the site of all pages; 0: by host
	shared int32              // the site of hosts without one of their own; 0: there is none
	byHost map[string][]int32 // sites by host, those made first before others
	names  map[string]bool    // of sites
	listed *scope.Scope       // what holds for pages of hosts that have no site yet

	hosts []canon.URL     // the first URL of each host without a site, of one more than importHosts at most
	fresh map[string]bool // their names
	last  string          // the host that was asked for last, and its sites
	ids   []int32
}

func (s *importSites) begin(rows []models.Site, base *config.Config) (err error) {
	s.byHost, s.names, s.fresh = make(map[string][]int32), make(map[string]bool), make(map[string]bool)
	for _, row := range rows {
		s.names[row.Name] = true
		if sharedByImport(&row) {
			s.shared = row.ID
		}
		if u, err := canon.Parse(row.URL); err == nil {
			s.byHost[u.HostName()] = append(s.byHost[u.HostName()], row.ID)
		}
	}
	settings := base.Defaults
	settings.Level, settings.Scope = 0, []string{scope.Anywhere}
	s.listed, err = scope.Compile(config.Site{Name: importName, URL: "https://localhost/", Settings: settings})
	return err
}

// sharedByImport tells whether a site is the one that an import made for many hosts: its settings alone may be those of a site
// of the user's own, and its name alone as well.
func sharedByImport(row *models.Site) bool {
	rest, ok := strings.CutPrefix(row.Name, importName)
	if !ok || row.Settings != listedPages {
		return false
	}
	number, numbered := strings.CutPrefix(rest, "-")
	_, err := strconv.ParseUint(number, 10, 31)
	return rest == "" || numbered && err == nil
}

// of are the sites that a URL may belong to, none where its host has none yet.
func (s *importSites) of(u canon.URL) []int32 {
	if u.HostName() == s.last {
		return s.ids
	}
	s.last, s.ids = u.HostName(), s.byHost[u.HostName()]
	switch {
	case s.only != 0:
		s.ids = []int32{s.only}
	case len(s.ids) == 0 && s.shared != 0:
		s.ids = []int32{s.shared}
	}
	return s.ids
}

// needs notes that a host has no site yet; u is the first of its URLs.
func (s *importSites) needs(u canon.URL) {
	if host := u.HostName(); len(s.hosts) <= importHosts && !s.fresh[host] {
		s.hosts, s.fresh[host] = append(s.hosts, u), true
	}
}

// makeSites makes the sites of hosts that have none, which their number decides.
func (i *importer) makeSites(ctx context.Context) error {
	s := &i.sites
	if len(s.hosts) == 0 {
		return nil
	}
	if len(s.hosts) > importHosts {
		if i.follow {
			return usagef("--follow is for at most %d hosts without a site: give a --site that has them in its scope", importHosts)
		}
		row, err := i.addSite(ctx, importName, s.hosts[0].String(), listedPages)
		s.shared = row.ID
		return err
	}
	for _, u := range s.hosts {
		root := u.Origin() + "/"
		url, settings := u.String(), fmt.Sprintf(onlyList, root) // its front page is none of the list's
		if i.follow {
			url, settings = root, ""
		}
		row, err := i.addSite(ctx, u.HostName(), url, settings)
		if err != nil {
			return err
		}
		s.byHost[u.HostName()] = []int32{row.ID}
	}
	return nil
}

// addSite adds a site of that name, or of the name with a number where another site has it.
func (i *importer) addSite(ctx context.Context, host, url, settings string) (models.Site, error) {
	name := host
	for n := 2; i.sites.names[name]; n++ {
		name = fmt.Sprintf("%s-%d", host, n)
	}
	row, err := i.store.AddSite(ctx, i.now, models.Site{Name: name, URL: url, Settings: settings})
	if err != nil {
		return row, err
	}
	added, err := putTogether(i.base, i.origins, []models.Site{row})
	if err != nil {
		return row, err
	}
	i.force.sites[row.ID], i.force.worths[row.ID], i.sites.names[name] = added.sites[row.ID], added.worths[row.ID], true
	if i.counts.Sites++; i.counts.Sites <= shownSites {
		i.counts.Names = append(i.counts.Names, name)
	}
	return row, nil
}
