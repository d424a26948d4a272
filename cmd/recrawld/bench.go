package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"recrawld/internal/sitefarm"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/scope"
	"recrawld/scheduler"
	"recrawld/scheduler/policy"
)

// benchCmd measures what visits cost, and what the judge of changes is worth.
type benchCmd struct {
	Refresh benchRefreshCmd `cmd:"" help:"Visit pages again that are known already: most of them answer 304."`
	Crawl   benchCrawlCmd   `cmd:"" help:"Find and fetch the pages of new sites: parse, archive, mirror."`
	Origin  benchOriginCmd  `cmd:"" help:"Serve the made-up sites alone, for other programs, until standard input ends."`

	Significance benchSignificanceCmd `cmd:"" help:"Judge real pages with labels: false alarms, misses, milliseconds."`
	Evidence     benchEvidenceCmd     `cmd:"" help:"Learn from real pages with labels what kinds of difference matter."`
}

// benchFlags are the flags of a run.
type benchFlags struct {
	Hosts       int           `default:"20" help:"Hosts, each at a loopback address of its own."`
	Pages       int           `help:"Pages of each host; default: as many as the time may take."`
	For         time.Duration `default:"10s" help:"How long to measure; it ends sooner when every page was visited."`
	Warmup      time.Duration `help:"How long to run before the measuring begins."`
	Latency     time.Duration `help:"What every answer waits for."`
	Size        int           `default:"8192" help:"Bytes of a page."`
	Changes     float64       `default:"0.05" help:"Share of the conditional requests that find another version."`
	TLS         bool          `help:"https, with HTTP/2."`
	Fetchers    int           `default:"64" help:"worker.fetchers of the daemon."`
	Concurrency int           `default:"1" help:"Requests in flight to one host."`
	Policy      string        `default:"classic" enum:"classic,adaptive,fixed" help:"The sites' policy: classic, adaptive, fixed."`
	Profile     string        `type:"path" placeholder:"DIR" help:"Write cpu.pprof and allocs.pprof there."`
}

const benchHelp = `Serves made-up sites from a process of its own on this machine, fills an empty store and runs the daemon on them with
politeness off (a delay of 0) and everything else as it comes: history, archive, mirror, durable writes. --store names
the store: sqlite in a temporary directory (--data for another, empty one), or the postgres:// URL of an empty database,
which stays full. The sites are served by the same processors, so a rate is that of the machine with its origin on it;
cpu_us_per_visit is what the daemon alone takes (with SQLite in it), and what the database server and the origin take stands
beside it where it can be told.`

type benchRefreshCmd struct {
	benchFlags `embed:""`
}

// Help is the text below the flags.
func (*benchRefreshCmd) Help() string { return benchHelp }

// Run implements the command.
func (c *benchRefreshCmd) Run(ctx context.Context, g *globals) error {
	if c.Pages == 0 && c.Hosts > 0 {
		c.Pages = perHost(c.For+c.Warmup, 30000, c.Hosts)
	}
	return runBench(ctx, g, &bench{globals: *g, benchFlags: c.benchFlags, what: "refresh"})
}

type benchCrawlCmd struct {
	benchFlags `embed:""`
}

// Help is the text below the flags.
func (*benchCrawlCmd) Help() string { return benchHelp }

// Run implements the command.
func (c *benchCrawlCmd) Run(ctx context.Context, g *globals) error {
	if c.Pages == 0 && c.Hosts > 0 {
		c.Pages = perHost(c.For+c.Warmup, 3000, c.Hosts)
	}
	return runBench(ctx, g, &bench{globals: *g, benchFlags: c.benchFlags, what: "crawl"})
}

// perHost is how many pages each of the hosts has where a rate of all together shall last for a time.
func perHost(d time.Duration, rate float64, hosts int) int {
	return max(int(d.Seconds()*rate)/hosts, 10)
}

// bench is a run under way.
type bench struct {
	globals
	benchFlags
	what   string
	farm   farmProcess
	timed  timedStore
	daemon *daemon
	others []string // further servers of the database
}

func (b *bench) check() error {
	err := b.config().Check()
	switch {
	case err != nil:
		return coded{exitUsage, err}
	case b.For <= 0:
		return usagef("--for %s: the time to measure is more than nothing", b.For)
	case b.StoreURL == "postgres":
		return usagef("--store postgres: name an empty database, such as --store postgres://me@localhost/empty")
	}
	return nil
}

func (f *benchFlags) config() sitefarm.Config {
	return sitefarm.Config{Hosts: f.Hosts, Pages: f.Pages, Size: f.Size, Changes: f.Changes, Latency: f.Latency, TLS: f.TLS}
}

// runBench prepares a run, makes it, prints what it found and tidies up.
func runBench(ctx context.Context, g *globals, b *bench) (err error) {
	if err := b.check(); err != nil {
		return err
	}
	if b.Data == "" {
		dir, err := os.MkdirTemp("", "recrawld-bench-")
		if err != nil {
			return fmt.Errorf("make the directory of the run: %w", err)
		}
		defer os.RemoveAll(dir)
		b.Data = dir
	} else if err := emptyDir(b.Data); err != nil {
		return err
	}
	if b.farm, err = startFarm(ctx, b.config(), b.Data); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.farm.stop()) }()
	if err := b.fill(ctx); err != nil {
		return err
	}
	figures, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if b.JSON {
		return json.NewEncoder(g.Stdout).Encode(figures)
	}
	return figures.print(g.Stdout)
}

// emptyDir makes a directory where there is none, and refuses one with something in it.
func emptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the run: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return usagef("%s is not empty: name another directory with --data", dir)
	}
	return err
}

// settings is the configuration of the daemon that is measured: all hosts are one site.
func (b *bench) settings() []byte {
	text := new(bytes.Buffer)
	fmt.Fprintf(text, `listen: off
backup: {every: off}
network: {allow: [127.0.0.0/8]}
worker: {name: bench, fetchers: %d, min_free: 16MiB}
%sdefaults: {delay: 0s, concurrency: %d, policy: %s}
sites:
  - name: bench
    url: %q
    scope:
`, b.Fetchers, b.budget(), b.Concurrency, b.Policy, b.url(0, 0))
	if b.Hosts > maxListed {
		fmt.Fprintf(text, "      - %q\n", scope.Anywhere)
		return text.Bytes()
	}
	for host := range b.Hosts { // that of the start URL among them, for a list is not empty
		fmt.Fprintf(text, "      - %q\n", b.url(host, 0))
	}
	return text.Bytes()
}

// maxListed is of how many hosts the configuration has a list: of a million it would be larger than one may be.
const maxListed = 100_000

func (b *bench) url(host, page int) string {
	scheme := "http"
	if b.TLS {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s:%d%s", scheme, sitefarm.Addr(host), b.farm.port, sitefarm.Path(page))
}

// fill writes the configuration and an empty store with the pages to visit: all of them as a first visit leaves them,
// or, for a first crawl, the start pages.
func (b *bench) fill(ctx context.Context) (err error) {
	b.ConfigPath = filepath.Join(b.Data, "recrawld.yaml")
	if err := os.WriteFile(b.ConfigPath, b.settings(), 0o600); err != nil {
		return fmt.Errorf("write the configuration of the run: %w", err)
	}
	c, _, err := b.loadConfig()
	if err != nil {
		return err
	}
	store, err := b.openStoreForWriting(ctx, &c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	known, err := store.Sites(ctx)
	if err != nil {
		return err
	}
	if len(known) > 0 {
		return usagef("the database holds sites: a run takes an empty one")
	}
	now := b.farm.now()
	if err := syncSites(ctx, store, &c, now); err != nil {
		return err
	}
	sites, err := store.Sites(ctx)
	if err != nil {
		return err
	}
	if b.others, err = otherServers(ctx, store, b.StoreURL); err != nil {
		return err
	}
	return b.addPages(ctx, store, sites[0].ID, now)
}

// addPages adds the pages of the run, some ten thousand at a time.
func (b *bench) addPages(ctx context.Context, store *models.Store, site int32, now time.Time) error {
	pages := b.Pages
	if b.what == "crawl" {
		pages = 1
	}
	farm, err := sitefarm.New(b.config())
	if err != nil {
		return coded{exitUsage, err}
	}
	var body []byte
	var batch []models.Discovery
	order := b.byBucket()
	for n, host := range order {
		for page := range pages {
			found, err := b.page(host, page, site, now)
			if err != nil {
				return err
			}
			if body = body[:0]; b.what == "refresh" {
				body = farm.AppendPage(body, host, page, 0)
				found.Page.Digest, found.Page.Bytes = models.DigestOf(body), int64(len(body))
			}
			batch = append(batch, found)
			if last := n == len(order)-1 && page == pages-1; len(batch) < 20000 && !last {
				continue
			}
			if _, err := store.AddPages(ctx, now, batch, 0); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return nil
}

// byBucket is the hosts bucket by bucket, as many pages are added fastest.
func (b *bench) byBucket() []int {
	hosts, buckets := make([]int, b.Hosts), make([]int16, b.Hosts)
	for host := range hosts {
		hosts[host] = host
		if u, err := canon.Parse(b.url(host, 0)); err == nil {
			buckets[host] = models.BucketOf(u.HostName())
		}
	}
	slices.SortStableFunc(hosts, func(a, b int) int { return cmp.Compare(buckets[a], buckets[b]) })
	return hosts
}

// budget is the line of a configuration that lets the adaptive policy visit as fast as it can; the others have no budget.
func (b *bench) budget() string {
	if b.Policy == policy.AdaptiveName {
		return "budget: {requests: 1000000000/day}\n"
	}
	return ""
}

// age is how long ago the first visits were: a day, or so long that each page is worth a visit by now.
func (b *bench) age() time.Duration {
	if b.Policy == policy.AdaptiveName {
		return 30 * 24 * time.Hour
	}
	return 24 * time.Hour
}

// page is a page to visit now. A known one is as its first visit left it (age), but that its body is not in the
// archive, its text has a digest of its own, and its links are not known.
func (b *bench) page(host, page int, site int32, now time.Time) (models.Discovery, error) {
	u, err := canon.Parse(b.url(host, page))
	if err != nil {
		return models.Discovery{}, fmt.Errorf("page %d of host %d: %w", page, host, err)
	}
	p := scheduler.NewPage(u.String(), u.HostName(), site, int16(min(page, 1)), 4)
	p.DueAt = models.At(now)
	if b.what == "refresh" {
		first := models.At(now.Add(-b.age()))
		p.State, p.Rule, p.Visits = models.StateLive, models.RulePolicy, 1
		p.Stats = models.ChangeStats{Records: 1, FirstAt: first, VisitedAt: first}
		p.TriedAt, p.FullAt, p.Version = first, first, 1
		p.ETag, p.LastModified = sitefarm.ETag(0), sitefarm.Epoch.Format("Mon, 02 Jan 2006 15:04:05 GMT")
		p.TextDigest, p.ContentType = models.DigestOf([]byte(p.URL)), "text/html"
	}
	return models.Discovery{Host: u.HostName(), Page: p}, nil
}
