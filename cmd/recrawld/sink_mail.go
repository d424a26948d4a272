package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/digest"
	"recrawld/models"
	"recrawld/report"
	"recrawld/sink"
)

// mailSinks begins the names of the sinks that send mails.
const mailSinks = "mail:"

// whereShown is how many addresses stand in a list of sinks.
const whereShown = 3

// mailKind is the sink that sends digests to people.
func mailKind(c *config.Config, m *config.Mail) sinkKind {
	name := mailSinks + m.Name
	where := strings.Join(m.To[:min(len(m.To), whereShown)], ", ")
	if more := len(m.To) - whereShown; more > 0 {
		where += fmt.Sprintf(" and %d more", more)
	}
	return sinkKind{name: name, where: where, make: func(p sinkParts) openedSink {
		post, writer := mailPost(c, m), &mailWriter{mail: m, parts: p}
		return sink.NewMail(sink.MailOptions{Name: name, Due: m.Due, Send: post.Send, Password: m.Secret,
			Compose: writer.compose, Clock: p.clock})
	}}
}

// mailPost is who takes a mail.
func mailPost(c *config.Config, m *config.Mail) *sink.Post {
	server, _ := config.ParseMailServer(m.Server) // Load has done so before
	return &sink.Post{Envelope: sink.Envelope{From: c.MailFrom(m), To: m.To}, Server: server, Password: m.Secret, Program: config.SendmailPath}
}

// checkMails tells of mails that cannot be sent: for want of the password, or because they are of sites which are not there.
func (d *daemon) checkMails() {
	for i := range d.start.Mails {
		m := &d.start.Mails[i]
		if _, err := m.Secret(); err != nil {
			d.log.Warn("a mail has no password, nothing is sent without it", "mail", m.Name, "err", err)
		}
		d.checkSites("mail", m.Name, m.Sites)
	}
}

// mailWriter writes digests.
type mailWriter struct {
	mail  *config.Mail
	parts sinkParts
	rows  []models.Site    // as they were last read
	names map[int32]string // of them, "" for those that are not there any more
}

// mailEntries is how many pages a digest tells of one by one: so many lines are still read, and take some MB until they are written.
const mailEntries = 50

// compose puts a period into a letter.
func (w *mailWriter) compose(ctx context.Context, p *sink.Period, events iter.Seq2[models.Event, error]) (*sink.Letter, string, error) {
	b, err := w.parts.library(ctx)
	if err != nil {
		return nil, "", err
	}
	w.rows, w.names = b.force.rows, siteNames(b.force.rows)
	gather, err := w.gather(ctx, events)
	if err != nil {
		return nil, "", err
	}
	log, err := w.parts.store.LogName(ctx)
	if err != nil {
		return nil, "", err
	}
	found, tally := gather.Found()
	d := digest.Digest{From: p.Told, To: p.End}
	w.fill(ctx, b, &d, found, tally)
	memo, err := w.unusual(ctx, &d, p.Memo)
	if err != nil {
		return nil, "", err
	}
	if p.Missed {
		d.Notes = append(d.Notes, "Some of what happened is not told here: it was older than history.keep when this mail was due.")
	}
	if d.Empty() {
		return nil, memo, nil
	}
	letter, err := w.letter(&d, log, p.End)
	return letter, memo, err
}

// letter writes a digest.
func (w *mailWriter) letter(d *digest.Digest, log string, end time.Time) (*sink.Letter, error) {
	html, err := d.HTML()
	if err != nil {
		return nil, fmt.Errorf("write the mail: %w", err)
	}
	thread := w.mail.Name + "-" + log
	return &sink.Letter{ID: fmt.Sprintf("%s-%d", thread, models.At(end)), Thread: thread, List: w.mail.Name + ".recrawld",
		Date: w.parts.clock.Now(), Subject: d.Subject(), Text: d.Text(), HTML: html}, nil
}

// gather puts together what the mail tells of. Matches leaves out what pages need to be shown, images and styles.
func (w *mailWriter) gather(ctx context.Context, events iter.Seq2[models.Event, error]) (*digest.Gather, error) {
	kinds, err := eventKinds(w.mail.Kinds)
	if err != nil {
		return nil, err
	}
	told, g := models.ChangesQuery{Kinds: kinds, Weight: float32(w.mail.Weight)}, &digest.Gather{Most: mailEntries}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if !told.Matches(e) {
			continue
		}
		name, err := w.site(ctx, e)
		if err != nil {
			return nil, err
		}
		if len(w.mail.Sites) == 0 || slices.Contains(w.mail.Sites, name) {
			g.Add(e)
		}
	}
	return g, nil
}

// site is the name of an event's site.
func (w *mailWriter) site(ctx context.Context, e models.Event) (string, error) {
	name, known := w.names[e.SiteID]
	if known {
		return name, nil
	}
	rows, err := sitesOf(ctx, w.parts.store, w.rows, []models.Event{e})
	if err != nil {
		return "", err
	}
	w.rows, w.names = rows, siteNames(rows)
	if name, known = w.names[e.SiteID]; !known {
		w.names[e.SiteID] = "" // else it is looked for again with each of its events
	}
	return name, nil
}

// mailRead is how long the copies of a mail's pages are read: of the others it says that there was no time.
const mailRead = time.Minute

// fill fills in what was found.
func (w *mailWriter) fill(ctx context.Context, b library, d *digest.Digest, found []digest.Found, tally map[int32]digest.Tally) {
	inTime, cancel := context.WithTimeout(ctx, mailRead)
	defer cancel()
	sites := map[int32]*digest.Site{}
	for id, t := range tally {
		sites[id] = &digest.Site{Name: w.called(id), Tally: t}
		d.More += t.Pages()
	}
	for _, f := range found {
		if f.Kind == models.EventRemoved {
			d.Removed = append(d.Removed, digest.Removal{Name: w.called(f.SiteID), Pages: f.Pages, At: f.At.Time()})
			continue
		}
		site := sites[f.SiteID]
		site.Entries = append(site.Entries, w.entry(inTime, b, f))
		d.More--
	}
	for _, site := range sites {
		d.Sites = append(d.Sites, *site)
	}
	digest.SortSites(d.Sites)
	d.Command = w.command(d.To.Sub(d.From))
}

func (w *mailWriter) called(site int32) string {
	if name := w.names[site]; name != "" {
		return name
	}
	return "a site that is no more"
}

// entry is what happened to a page, with what the feed says of it.
func (w *mailWriter) entry(ctx context.Context, b library, f digest.Found) digest.Entry {
	e := b.entry(models.RecentEvent{Event: f.Event, Pages: f.Pages}, "", "")
	entry := digest.Entry{Kind: f.Kind, At: e.At, URL: e.URL, RedirectTo: e.RedirectTo, Times: f.Times, Significance: f.Significance}
	if f.Kind != models.EventChanged && f.Kind != models.EventRefreshed {
		entry.Significance = 0
	}
	title, said, err := e.Read(ctx)
	switch {
	case ctx.Err() != nil:
		said = "<p>What this says cannot be shown: there was no time left to read it.</p>"
	case err != nil:
		said = digest.Paragraph("What this says cannot be shown: " + err.Error())
	}
	entry.Title, entry.Said = title, said
	return entry
}

// command shows all that a mail of so much time tells of, also on the day after.
func (w *mailWriter) command(d time.Duration) string {
	command := fmt.Sprintf("recrawld changes --since %dd --limit 0", int(d/(24*time.Hour))+2)
	if len(w.mail.Sites) == 1 {
		command += " --site " + w.mail.Sites[0]
	}
	if w.mail.Weight > 0 {
		command += fmt.Sprintf(" --min-significance %g", w.mail.Weight)
	}
	return command
}

// sinkTestCmd sends a test mail.
type sinkTestCmd struct {
	Name string `arg:"" help:"The sink: mail:NAME."`
}

// Run implements the command.
func (t sinkTestCmd) Run(ctx context.Context, g *globals) error {
	c, _, err := g.commandConfig(ctx)
	if err != nil {
		return err
	}
	if _, err := findSink(&c, t.Name); err != nil {
		return err
	}
	i := slices.IndexFunc(c.Mails, func(m config.Mail) bool { return mailSinks+m.Name == t.Name })
	if i < 0 {
		return usagef("%s is no mail: receivers and mirrors are not sent what did not happen", t.Name)
	}
	m := &c.Mails[i]
	words := "This is a test of " + t.Name + " by recrawld. What happens to pages comes the same way, " + everyWords(m.Every) + "."
	said, err := mailPost(&c, m).Try(ctx, sink.Letter{ID: "test-" + m.Name + "-" + rand.Text(), Thread: m.Name + "-test", List: m.Name + ".recrawld",
		Date: clock.System{}.Now(), Subject: "recrawld: a test of " + t.Name, Text: words + "\n", HTML: string(digest.Paragraph(words))})
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	said = report.Printable(strings.TrimSpace(said))
	text := fmt.Sprintf("sent to %s", strings.Join(m.To, ", "))
	if said != "" {
		text += ": the server says " + said
	}
	return g.answer(struct {
		Sink   string   `json:"sink"`
		To     []string `json:"to"`
		Answer string   `json:"answer,omitempty"` // of the server
	}{t.Name, m.To, said}, text)
}

// everyWords say when mails come.
func everyWords(every string) string {
	if d, err := config.ParseDuration(every); err == nil {
		return "once in " + report.Span(d)
	}
	return "at " + every
}
