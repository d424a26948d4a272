package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/digest"
	"recrawld/report"
	"recrawld/sink"
)

// sinkTestCmd sends a test mail, or a test message to a chat.
type sinkTestCmd struct {
	Name string `arg:"" help:"The sink: mail:NAME or chat:NAME."`
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
	to, said, err := t.send(ctx, &c)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	said = report.Printable(strings.TrimSpace(said))
	text := fmt.Sprintf("sent to %s", strings.Join(to, ", "))
	if said != "" {
		text += ": the server says " + said
	}
	return g.answer(struct {
		Sink   string   `json:"sink"`
		To     []string `json:"to"`
		Answer string   `json:"answer,omitempty"` // of the mail server
	}{t.Name, to, said}, text)
}

// send sends it, and says where to.
func (t sinkTestCmd) send(ctx context.Context, c *config.Config) (to []string, said string, err error) {
	if i := slices.IndexFunc(c.Mails, func(m config.Mail) bool { return mailSinks+m.Name == t.Name }); i >= 0 {
		m := &c.Mails[i]
		l := t.letter(m.Name, m.Every)
		l.HTML = string(digest.Paragraph(l.Text))
		said, err = mailPost(c, m).Try(ctx, l)
		return m.To, said, err
	}
	if i := slices.IndexFunc(c.Chats, func(chat config.Chat) bool { return chatSinks+chat.Name == t.Name }); i >= 0 {
		chat := &c.Chats[i]
		l, form := t.letter(chat.Name, chat.Every), sink.FormOf(chat.Form)
		if form.HTML != nil {
			l.HTML = form.HTML.Text(l.Text)
		}
		l.Text = form.Text.Text(l.Text)
		return []string{cmp.Or(chat.To, chat.Where())}, "", openChat(chat).Send(ctx, l)
	}
	return nil, "", usagef("%s is neither a mail nor a chat: receivers, search servers and mirrors are not sent what did not happen", t.Name)
}

// letter is what is sent.
func (t sinkTestCmd) letter(name, every string) sink.Letter {
	return sink.Letter{ID: "test-" + name + "-" + rand.Text(), Thread: name + "-test", List: name + ".recrawld", Date: clock.System{}.Now(),
		Subject: "recrawld: a test of " + t.Name,
		Text:    "This is a test of " + t.Name + " by recrawld. What happens to pages comes the same way, " + everyWords(every) + ".\n"}
}

// everyWords say when mails come.
func everyWords(every string) string {
	if d, err := config.ParseDuration(every); err == nil {
		return "once in " + report.Span(d)
	}
	return "at " + every
}
