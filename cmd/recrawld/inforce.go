package main

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
	"recrawld/scheduler"
)

// inForce is the configuration that visits go by: the file, the flags and the sites of the database, put together and
// prepared. It does not change; another configuration is another inForce.
type inForce struct {
	config  config.Config
	origins config.Origins
	planner *scheduler.Planner
	sites   map[int32]preparedSite
	worths  map[int32]*siteWorth // by site; 0: what holds for all others
	rows    []models.Site
	broken  error           // why some of the rows are left out; nil: none is
	refused map[int32]error // sites of rows that this daemon may not ask, by ID, and why
}

// preparedSite is a site with its compiled scope, and with the compiled rules of what its content is; nil: it has none.
type preparedSite struct {
	site  config.Site
	scope *scope.Scope
	rules *content.Rules
}

// putTogether prepares what holds with the sites of the database.
func putTogether(base config.Config, origins config.Origins, rows []models.Site) (*inForce, error) {
	c, merged, broken := base.WithSites(origins, stored(rows))
	allowOwnSites(&c)
	f := &inForce{config: c, origins: merged, sites: make(map[int32]preparedSite), rows: rows, broken: broken}
	if err := f.compileWorths(); err != nil {
		return nil, err
	}
	paused := make(map[int32]bool)
	for _, row := range rows {
		if row.Paused {
			paused[row.ID] = true
		}
		site := c.Site(row.ID)
		site.Name, site.URL = cmp.Or(site.Name, row.Name), cmp.Or(site.URL, row.URL)
		compiled, err := scope.Compile(site)
		if err != nil {
			return nil, err
		}
		rules, err := contentRules(&site.Settings)
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", site.Name, err)
		}
		f.sites[row.ID] = preparedSite{site, compiled, rules}
	}
	planner, err := scheduler.NewPlanner(&f.config, paused)
	if err != nil {
		return nil, err
	}
	f.planner = planner.Guard(f.siteGuards())
	return f, nil
}

// count lets the planners of configurations know for how many pages the budgets pay, which a worker counts itself.
func count(ctx context.Context, store *models.Store, force ...*inForce) error {
	bySite, err := store.PagesBySite(ctx)
	if err != nil {
		return err
	}
	for _, f := range force {
		if f.planner, err = f.planner.Counted(ctx, store, bySite); err != nil {
			return err
		}
	}
	return nil
}

// admit parts the rows of the database into the sites that may be visited and, by ID, why the others may not. One that a
// command added without a contact holds up no other.
func admit(c config.Config, origins config.Origins, rows []models.Site, permitted func(*config.Config) error) ([]models.Site, map[int32]error) {
	merged, _, _ := c.WithSites(origins, stored(rows))
	byID := make(map[int32]config.Site, len(merged.Sites))
	for _, site := range merged.Sites {
		byID[site.ID] = site
	}
	admitted := make([]models.Site, 0, len(rows))
	refused := make(map[int32]error)
	for _, row := range rows {
		site, read := byID[row.ID]
		if !read {
			site = config.Site{Name: row.Name, URL: row.URL}
		}
		merged.Sites = []config.Site{site}
		if err := permitted(&merged); err != nil {
			refused[row.ID] = err
			continue
		}
		admitted = append(admitted, row)
	}
	return admitted, refused
}

// site is the settings and the scope of a site.
func (f *inForce) site(id int32) (config.Site, *scope.Scope) {
	if s, known := f.sites[id]; known {
		return s.site, s.scope
	}
	return f.config.Site(id), nil
}

// visited is what a visitor asks for: site, and the rules of what its content is.
func (f *inForce) visited(id int32) (config.Site, *scope.Scope, *content.Rules) {
	site, pages := f.site(id)
	return site, pages, f.sites[id].rules
}

func stored(rows []models.Site) []config.StoredSite {
	sites := make([]config.StoredSite, len(rows))
	for i, r := range rows {
		sites[i] = config.StoredSite{ID: r.ID, Name: r.Name, URL: r.URL, Settings: r.Settings, FromFile: r.FromFile}
	}
	return sites
}

// allowOwnSites lets the addresses of sites on this machine be dialled: whoever names one as a start URL means it.
func allowOwnSites(c *config.Config) {
	allow := c.Network.Allow[:len(c.Network.Allow):len(c.Network.Allow)]
	for _, site := range c.Sites {
		for _, own := range loopbackOf(site.URL) {
			if !slices.Contains(allow, own) {
				allow = append(allow, own)
			}
		}
	}
	c.Network.Allow = allow
}

// loopbackOf lists the addresses of a URL whose host is this machine, none for any other.
func loopbackOf(raw string) []netip.Prefix {
	u, err := canon.Parse(raw)
	if err != nil || !u.IsLoopback() {
		return nil
	}
	if address, err := netip.ParseAddr(strings.Trim(u.Hostname(), "[]")); err == nil {
		return []netip.Prefix{netip.PrefixFrom(address, address.BitLen())}
	}
	// The name localhost: the resolver may say either family.
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128")}
}

// foreign lists the URLs of sites and scopes that are not on this machine.
func foreign(c *config.Config) []string {
	var urls []string
	for _, site := range c.Sites {
		for _, raw := range append([]string{site.URL}, site.Settings.Scope...) {
			if u, err := canon.Parse(raw); err != nil || !u.IsLoopback() {
				urls = append(urls, raw)
			}
		}
	}
	return urls
}
