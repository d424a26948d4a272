package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/report"
)

// noiseCmd shows what was learned of a site's noise, and lets a person overrule it.
type noiseCmd struct {
	Site  string   `arg:"" help:"Name or start URL of the site, or the name of a host."`
	Pin   []string `xor:"order" placeholder:"ID" help:"These regions stay noise, whatever is learned."`
	Clear []string `xor:"order" placeholder:"ID" help:"These regions count as content again, until they are learned anew; all for all of them."`
	Free  []string `xor:"order" placeholder:"ID" help:"Take back what --pin or --clear said of these; all for all of them."`
	Limit int      `default:"40" help:"Regions listed; 0 for all. JSON has all."`
}

// Run implements the command.
func (c noiseCmd) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(l *look) error {
		hosts, err := l.noiseOf(ctx, c.Site)
		if err != nil {
			return err
		}
		if len(c.Pin)+len(c.Clear)+len(c.Free) > 0 {
			return c.order(ctx, l, hosts)
		}
		return l.print(c.document(l, hosts))
	})
}

// hostNoise is what was learned of a host's noise and decided about it.
type hostNoise struct {
	host    models.Host
	regions []content.Region
	orders  *content.Orders
}

// noiseOf reads what was learned of the hosts of a site, or of one host.
func (l *look) noiseOf(ctx context.Context, name string) ([]hostNoise, error) {
	hosts, err := l.hostsOf(ctx, name)
	if err != nil {
		return nil, err
	}
	var all []hostNoise
	for _, host := range hosts {
		learned, err := l.store.Memory(ctx, host.Bucket, host.ID, models.HostMemoryID)
		if err != nil {
			return nil, err
		}
		orders, err := l.store.Memory(ctx, host.Bucket, host.ID, models.OrdersID)
		if err != nil {
			return nil, err
		}
		all = append(all, newHostNoise(host, learned, orders))
	}
	slices.SortFunc(all, func(a, b hostNoise) int { return strings.Compare(a.host.Name, b.host.Name) })
	return all, nil
}

// hostsOf are the hosts with pages of a site, or the one of that name.
func (l *look) hostsOf(ctx context.Context, name string) ([]models.Host, error) {
	site, err := l.siteID(name)
	if err != nil {
		host, notHost := l.store.Host(ctx, models.BucketOf(name), models.HostID(name))
		if errors.Is(notHost, models.ErrNotFound) {
			return nil, err // the complaint that names the sites
		}
		return []models.Host{host}, notHost
	}
	var hosts []models.Host
	for host, err := range l.store.SiteHosts(ctx, site) {
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// newHostNoise puts together what was learned and what was decided; a decision about a region that has been forgotten is a
// region without a sample.
func newHostNoise(host models.Host, learned, orders []byte) hostNoise {
	n := hostNoise{host: host, regions: content.DecodeHost(learned).Noise(), orders: content.DecodeOrders(orders)}
	for _, order := range n.orders.List() {
		if !slices.ContainsFunc(n.regions, func(r content.Region) bool { return r.Key == order.Key }) {
			n.regions = append(n.regions, content.Region{Key: order.Key})
		}
	}
	return n
}

// order is what was decided of a region: "pinned", "cleared" or "".
func (n hostNoise) order(key uint64) (word string, at time.Time) {
	for _, o := range n.orders.List() {
		if o.Key == key && o.Noise {
			return "pinned", o.At
		} else if o.Key == key {
			return "cleared", o.At
		}
	}
	return "", time.Time{}
}

// idDigits is how many hexadecimal digits of a region's key a person sees; any that tell it from others may be written.
const idDigits = 8

func regionID(key uint64) string { return fmt.Sprintf("%016x", key) }

func (c noiseCmd) document(l *look, hosts []hostNoise) report.Document {
	d := report.Document{Name: "noise", Title: "Noise of " + c.Site, At: l.now, Columns: []report.Column{
		{Key: "id", Head: "id"}, {Key: "host"}, {Head: "host", Spare: true, Drop: 2}, {Key: "kind", Head: "kind"}, {Key: "order", Head: "you said", Spare: true},
		{Key: "pages", Head: "pages", Right: true}, {Key: "times", Head: "changed", Right: true}, {Key: "first", Head: "first", Drop: 1},
		{Key: "last", Head: "last"}, {Key: "sample", Head: "what it said", Flex: true}, {Key: "path", Head: "where", Flex: true, Drop: 3}, {Key: "ordered_at"},
	}}
	for _, n := range hosts {
		for i := range n.regions {
			d.Rows = append(d.Rows, n.row(&n.regions[i], len(hosts) > 1, l))
		}
	}
	if len(d.Rows) == 0 {
		d.Lead = l.noNoise(hosts)
		return d
	}
	d.Lead = []string{report.Plural(len(d.Rows), "region") + " learned to be noise: a change of nothing else is no change of a page."}
	d.Notes = []string{"template: it changed on many pages of the host at once. volatile: it keeps changing. missing: the answer for names that do not exist. " +
		"absent: what pages show in place of their content; --clear takes it for what they are now, --pin never.",
		"--pin ID keeps a region noise, --clear ID lets it count as content until it is learned anew, --free ID takes that back. " +
			"What holds for ever stands in the configuration: ignore, ignore_text, watch."}
	if c.Limit > 0 {
		d.More = max(len(d.Rows)-c.Limit, 0)
	}
	return d
}

func (n hostNoise) row(r *content.Region, named bool, l *look) report.Row {
	word, at := n.order(r.Key)
	order := report.TextCell(word)
	order.Tone = map[string]report.Tone{"pinned": report.Good, "cleared": report.Warn}[word]
	host := report.OnlyText("")
	if named {
		host.Text = n.host.Name
	}
	const many = 8 // and more: so many are told apart
	pages := report.Cell{Value: r.Pages, Text: report.Count(r.Pages)}
	if r.Pages >= many {
		pages.Text += "+"
	}
	times := report.CountCell(int64(r.Times))
	if r.Pages == 0 {
		pages.Text, times.Text = "", ""
	}
	id := report.Cell{Value: regionID(r.Key), Text: regionID(r.Key)[:idDigits]}
	kind := report.TextCell(r.Kind.String())
	if r.Kind == 0 {
		kind.Text = "not seen of late"
	}
	sample := report.Cell{Value: r.Sample, Text: report.Printable(r.Sample)}
	return report.Row{id, report.OnlyValue(n.host.Name), host, kind, order, pages, times, momentCell(r.First, l.now), momentCell(r.Last, l.now),
		sample, {Value: r.Path, Text: r.Path, Tone: report.Faint}, report.OnlyValue(at)}
}

// sampleRunes is how much of a sample stands in a sentence.
const sampleRunes = 40

func shortSample(s string) string {
	s = report.Printable(s)
	if r := []rune(s); len(r) > sampleRunes {
		s = string(r[:sampleRunes-1]) + "…"
	}
	return s
}

// momentCell is how long ago something was; empty for never.
func momentCell(at, now time.Time) report.Cell {
	if at.Unix() <= 0 {
		return report.Cell{}
	}
	return report.Cell{Value: at, Text: report.Until(now, at)}
}

// noNoise says why there is nothing to show, and what it takes.
func (l *look) noNoise(hosts []hostNoise) []string {
	if len(hosts) == 0 {
		return []string{"It has no pages yet."}
	}
	pages := int64(0)
	for _, n := range hosts {
		pages += int64(n.host.Pages)
	}
	return []string{
		fmt.Sprintf("Nothing was learned yet: %s of %s showed no region that changes by itself.", report.Plural(pages, "page"),
			report.Plural(len(hosts), "host")),
		"A region is learned where it changes on several pages within a day, or again and again on one; dates and counters need no learning.",
	}
}

// order writes down what a person decided, and says so.
func (c noiseCmd) order(ctx context.Context, l *look, hosts []hostNoise) error {
	ids, word := c.Pin, "pinned: it stays noise"
	switch {
	case len(c.Clear) > 0:
		ids, word = c.Clear, "cleared: it counts as content until it is learned anew"
	case len(c.Free) > 0:
		ids, word = c.Free, "free again: what is learned decides"
	}
	found, err := pick(hosts, ids, len(c.Pin) == 0)
	if err != nil {
		return err
	}
	file, _, err := l.commandConfig(ctx)
	if err != nil {
		return err
	}
	store, err := l.openStoreForWriting(ctx, &file)
	if err != nil {
		return err
	}
	for i, regions := range found {
		if len(regions) > 0 && err == nil {
			err = c.setOrders(ctx, l, store, &hosts[i], regions)
		}
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if l.JSON {
		return l.print(c.document(l, hosts))
	}
	for i, regions := range found {
		for _, r := range regions {
			fmt.Fprintf(l.Stdout, "%s %s of %s %s\n", regionID(r.Key)[:idDigits], quoteSample(r), hosts[i].host.Name, word)
		}
	}
	return nil
}

func quoteSample(r content.Region) string {
	return fmt.Sprintf("%q", cmp.Or(shortSample(r.Sample), r.Path, r.Kind.String()))
}

func (c noiseCmd) setOrders(ctx context.Context, l *look, store *models.Store, n *hostNoise, regions []content.Region) error {
	for _, r := range regions {
		if len(c.Free) > 0 {
			n.orders.Drop(r.Key)
		} else if !n.orders.Set(content.Order{Key: r.Key, Noise: len(c.Pin) > 0, At: l.now}) {
			return usagef("of %s %d decisions are kept, and there are as many: take some back, recrawld noise %s --free ID", n.host.Name,
				content.MaxOrders, c.Site)
		}
	}
	return store.SetOrders(ctx, n.host.Bucket, n.host.ID, n.orders.Encode())
}

// pick finds the regions of IDs by host: each ID, or the beginning of it, names one. The word all, where it may be said,
// names every region.
func pick(hosts []hostNoise, ids []string, all bool) ([][]content.Region, error) {
	found := make([][]content.Region, len(hosts))
	for _, id := range ids {
		n := 0
		for i, host := range hosts {
			for _, r := range host.regions {
				if all && id == "all" || id != "" && strings.HasPrefix(regionID(r.Key), strings.ToLower(id)) {
					found[i] = append(found[i], r)
					n++
				}
			}
		}
		switch {
		case n == 0 && all && id == "all":
			return nil, notFoundf("there is no region to speak of")
		case n == 0:
			return nil, notFoundf("no region %s: recrawld noise lists them", id)
		case n > 1 && (!all || id != "all"):
			return nil, usagef("%s begins %d IDs: write more of it", id, n)
		}
	}
	return found, nil
}
