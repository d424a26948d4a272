package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"recrawld/archive"
	"recrawld/internal/sorter"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
)

// exportNeeds chooses what the pages that are chosen need to be shown where it was not chosen with them: it lies under another URL,
// another site needed it first, or it is older. Without it they would be half pages. Their bodies are read for it, in the order of the
// archive; memory grows with the number of different URLs that are needed, by some 40 bytes each.
type exportNeeds struct {
	*exportRun
	chosen  *selection
	session *archive.Session
	unread  *sorter.Sorter // what may need something, by place
	waiting int64          // entries of it
	temp    string

	reader extract.Reader
	looked int64          // bodies that were read
	seen   map[int64]bool // IDs of the URLs that were asked for
	add    func(*models.Page, models.Version) error
}

func (r *exportRun) newNeeds(chosen *selection, temp string, add func(*models.Page, models.Version) error) *exportNeeds {
	return &exportNeeds{exportRun: r, chosen: chosen, session: r.archive.NewSession(), unread: sorter.New(temp), temp: temp,
		seen: make(map[int64]bool), add: add}
}

func (n *exportNeeds) close() error {
	n.unread.Close()
	return n.session.Close()
}

// mostNeeds is how many URLs of one page are looked for.
const mostNeeds = 100_000

// needy is a version whose body is to be read.
type needy struct {
	URL    string
	At     models.Instant // when it was asked for
	Record models.Record
}

// take takes a version that is chosen.
func (n *exportNeeds) take(p *models.Page, v models.Version) error {
	if err := n.add(p, v); err != nil {
		return err
	}
	if !models.MayName(v.ContentType) || p.Requisite && !models.NamesAsRequisite(v.ContentType) {
		return nil
	}
	text, err := json.Marshal(needy{URL: p.URL, At: v.At, Record: v.Record})
	if err != nil {
		return err
	}
	n.waiting++
	return n.unread.Add(fmt.Appendf(nil, "%s %020d\x00%s", v.Record.File, v.Record.Offset, text))
}

// choose adds what is needed, what that needs, and so on.
func (n *exportNeeds) choose(ctx context.Context) error {
	n.chosen.needs = true
	for n.waiting > 0 {
		now := n.unread
		n.unread, n.waiting = sorter.New(n.temp), 0
		err := n.read(ctx, now)
		now.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *exportNeeds) read(ctx context.Context, now *sorter.Sorter) error {
	for entry, err := range now.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		_, text, _ := bytes.Cut(entry, []byte{0})
		var one needy
		if err := json.Unmarshal(text, &one); err != nil {
			return err
		}
		if n.looked++; n.looked%100 == 0 {
			n.step("pages read for what they need", n.looked)
		}
		for _, u := range n.of(one) {
			if err := n.follow(ctx, u.String()); err != nil {
				return err
			}
		}
	}
	return nil
}

// of is what a version needs. One that cannot be read is told of when it is written.
func (n *exportNeeds) of(one needy) []canon.URL {
	at, err := canon.Parse(one.URL)
	if err != nil {
		return nil // it was canonical by other rules, of an earlier release
	}
	answer, err := n.session.Answer(one.Record)
	if err != nil {
		return nil
	}
	body := answer.Body()
	options := extract.Options{Bytes: len(body), Links: mostNeeds, Requisites: true, At: one.At.Time(),
		Linked: answer.Fields("Link")}
	return n.reader.Page(body, answer.Header("Content-Type"), at, options).Requisites
}

// follow adds the page of a URL, and those that it leads to.
func (n *exportNeeds) follow(ctx context.Context, url string) error {
	for {
		id := models.PageID(url)
		u, err := canon.Parse(url)
		if err != nil || n.seen[id] {
			return nil
		}
		n.seen[id] = true
		p, err := n.store.Page(ctx, models.BucketOf(u.HostName()), id)
		if errors.Is(err, models.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = n.page(ctx, &p)
		}
		if err != nil || p.RedirectTo == "" || !p.LeadsAway() {
			return err
		}
		url = p.RedirectTo
	}
}

// page adds a page that was not chosen with the others, and of one that was what was in force when they begin.
func (n *exportNeeds) page(ctx context.Context, p *models.Page) error {
	pages := []models.Page{*p}
	if !n.chosen.looksAt(p) {
		if err := n.chosen.redirects(ctx, n.store, pages); err != nil {
			return err
		}
	}
	if !n.chosen.means(p) {
		if !n.chosen.shows(p) {
			return nil
		}
		if err := n.chosen.versions(ctx, n.store, pages, n.take); err != nil {
			return err
		}
	}
	return n.chosen.inForce(ctx, n.store, p, n.take)
}
