package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/report"
	"recrawld/sink"
)

// sinkRedirectsCmd prints where pages of the mirror have moved, for nginx.
type sinkRedirectsCmd struct {
	Site string `placeholder:"NAME" help:"Only this site."`
}

// Help is the text below the flags.
func (sinkRedirectsCmd) Help() string {
	return `What is printed belongs into nginx's http block, beside servers of the mirror that say by "set $mirror" which of its directories
they serve, and answer where $moved says something: docs/archive.md has such a server. It is of the pages that moved for good (301,
308), and of those that lead elsewhere for now and have no copy. Readers are led to where the directory has the page, else to the
web. Pages that lead to each other in a circle are left out. Where addresses are long or many it sets map_hash_bucket_size and map_hash_max_size.`
}

// redirect is where a page of the mirror has moved.
type redirect struct {
	URL    string `json:"url"`
	To     string `json:"to"`
	Status int16  `json:"status,omitempty"` // of its last answer; 0: not known any more
	key    string // directory of the mirror, path and query
	where  string // what a server of the mirror answers
}

// Run implements the command.
func (c sinkRedirectsCmd) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(l *look) error {
		site, err := l.siteID(c.Site)
		if err != nil {
			return err
		}
		moved, round := []redirect{}, make(map[string]bool)
		err = l.store.EachPage(ctx, func(p *models.Page) error {
			if p.Class == models.RedirectLoop {
				round[p.URL] = true
			}
			if p.State != models.StateMoved || site != 0 && p.SiteID != site {
				return nil
			}
			r, ok, err := l.redirect(ctx, p)
			if ok {
				moved = append(moved, r)
			}
			return err
		})
		if err != nil {
			return err
		}
		moved = withoutLoops(moved, round)
		slices.SortFunc(moved, func(a, b redirect) int { return strings.Compare(a.key, b.key) })
		if l.JSON {
			return l.printJSON(moved)
		}
		return writeNginx(l.Stdout, moved)
	})
}

// redirect is what the mirror shall answer for a page that moved; ok: rather than its last copy.
func (l *look) redirect(ctx context.Context, p *models.Page) (r redirect, ok bool, err error) {
	from, fromErr := canon.Parse(p.URL)
	to, toErr := canon.Parse(p.RedirectTo)
	if fromErr != nil || toErr != nil {
		return r, false, nil
	}
	r = redirect{URL: p.URL, To: p.RedirectTo, where: to.String()}
	if r.Status, err = l.movedBy(ctx, p); err != nil {
		return r, false, err
	}
	directory, _, _ := strings.Cut(sink.Name(p.URL), "/")
	r.key = directory + from.RequestURI()
	if to.Origin() == from.Origin() && !strings.HasPrefix(to.RequestURI(), "//") { // a browser takes //b.test/ for another host
		target, err := l.store.Page(ctx, models.BucketOf(to.HostName()), models.PageID(to.String()))
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			return r, false, err
		}
		if target.State == models.StateMoved || target.State != models.StateGone && hasCopy(&target) {
			r.where = to.RequestURI()
		}
	}
	forGood := r.Status == http.StatusMovedPermanently || r.Status == http.StatusPermanentRedirect
	return r, forGood || !hasCopy(p), nil
}

// hasCopy tells whether the mirror has one of a page that is not gone.
func hasCopy(p *models.Page) bool { return p.Version > 0 && !p.NoArchive }

// withoutLoops leaves out what leads on and on, as browsers see it: two pages each of which has moved to the other; and what leads to pages
// that are known to lead round, of which the last one visited is told so first.
func withoutLoops(moved []redirect, round map[string]bool) []redirect {
	const mostHops = 20
	leads := make(map[string]string, len(moved))
	for _, r := range moved {
		leads[r.URL] = r.To
	}
	return slices.DeleteFunc(moved, func(r redirect) bool {
		at, on := r.To, true
		for hops := 1; hops < mostHops && on && !round[at]; hops++ {
			at, on = leads[at]
		}
		return on
	})
}

// movedBy is with which status a page was last said to have moved; 0: that is not known any more.
func (l *look) movedBy(ctx context.Context, p *models.Page) (int16, error) {
	const lately = 20 // visits for robots.txt, and those that failed, come between
	visits, err := l.store.History(ctx, p.Bucket, p.ID, 0, lately)
	i := slices.IndexFunc(visits, func(v models.Visit) bool { return v.Kind == models.Moved })
	if i < 0 {
		return 0, err
	}
	return visits[i].Status, err
}

// longestNginx is how long a word of a configuration of nginx may be as it is written there, in bytes, with some to spare.
const longestNginx = 4000

// writeNginx writes redirects as maps from $mirror$request_uri to $moved. A map of nginx takes A and a for the same: so the first one gives the exact
// addresses along with where each leads, and the second takes the one that was asked for.
func writeNginx(w io.Writer, moved []redirect) error {
	words, longest, left := make(map[string][]string), 0, 0
	var keys []string
	for _, r := range moved {
		key := strings.ToLower(r.key)
		leads := append(slices.Clip(words[key]), r.key, strings.ReplaceAll(r.where, "$", "%24"))
		if strings.Contains(r.key, "$") || len(nginxWord(strings.Join(leads, " "))) > longestNginx {
			left++
			continue
		}
		if words[key] == nil {
			keys = append(keys, key)
		}
		words[key], longest = leads, max(longest, len(key))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s that moved, by recrawld sink redirects.\n", report.Plural(len(moved)-left, "page"))
	if left > 0 {
		fmt.Fprintf(&b, "# Left out, with addresses that nginx cannot look for, as with a $ or too long: %s.\n", report.Plural(left, "page"))
	}
	if size := powerOfTwo(longest + 32); size > 64 {
		fmt.Fprintf(&b, "map_hash_bucket_size %d;\n", size)
	}
	if size := powerOfTwo(2 * len(keys)); size > 2048 {
		fmt.Fprintf(&b, "map_hash_max_size %d;\n", size)
	}
	b.WriteString("map \"$mirror$request_uri\" $mirror_moved {\n")
	for _, key := range keys {
		fmt.Fprintf(&b, "    %s %s;\n", nginxWord(key), nginxWord(strings.Join(words[key], " ")))
	}
	b.WriteString("}\nmap \"$mirror$request_uri $mirror_moved\" $moved {\n" +
		`    "~^(\S+) (?:\S+ \S+ )*?\1 (?<mirror_leads_to>\S+)" $mirror_leads_to;` + "\n}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// nginxWord quotes a word of a configuration of nginx. It has no $, of which there is no way to write one.
func nginxWord(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func powerOfTwo(least int) int {
	n := 64
	for n < least {
		n *= 2
	}
	return n
}
