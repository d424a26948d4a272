package main

import (
	"fmt"
	"strings"

	"recrawld/config"
	"recrawld/digest"
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
		writer := &digestWriter{name: m.Name, digest: &m.Digest, most: mailEntries, write: mailLetter, parts: p}
		return sink.NewLetters(sink.LettersOptions{Name: name, Due: m.Due, Send: mailPost(c, m).Send, Secret: m.Secret, Compose: writer.compose, Clock: p.clock})
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

// mailEntries is how many pages a mail tells of one by one: so many lines are still read, and take some MB until they are written.
const mailEntries = 50

// mailLetter writes a digest as a mail.
func mailLetter(d *digest.Digest, l *sink.Letter) (err error) {
	l.Subject, l.Text = d.Subject(), d.Text()
	if l.HTML, err = d.HTML(); err != nil {
		return fmt.Errorf("write the mail: %w", err)
	}
	return nil
}
