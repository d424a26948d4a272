package main

import (
	"context"
	"net"
	"strconv"

	"recrawld/config"
	"recrawld/digest"
	"recrawld/recrawl"
	"recrawld/sink"
)

// chatSinks begins the names of the sinks that send messages to chats.
const chatSinks = "chat:"

// chatEntries is how many pages a message tells of one by one at most: it has room for few.
const chatEntries = 10

// chatKind is the sink that tells a chat.
func chatKind(chat *config.Chat) sinkKind {
	name := chatSinks + chat.Name
	return sinkKind{name: name, where: chat.Where(), make: func(p sinkParts) openedSink {
		writer := &digestWriter{name: chat.Name, digest: &chat.Digest, most: chatEntries, write: chatLetter(sink.FormOf(chat.Form)), parts: p}
		open := openChat(chat)
		return sink.NewLetters(sink.LettersOptions{Name: name, Due: chat.Due, Send: open.Send, Secret: open.Secret, Compose: writer.compose, Clock: p.clock})
	}}
}

// openChat is who takes its messages.
func openChat(chat *config.Chat) *sink.Chat {
	return sink.NewChat(sink.ChatOptions{Form: sink.FormOf(chat.Form), Address: chat.Address, Token: chat.Secret, To: chat.To,
		Dial: chatDial(chat.Private), RetryAfter: recrawl.RetryAfter})
}

// chatDial dials where a chat is, at the port of its url, which is read anew for each message.
func chatDial(private bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		_, text, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, err
		}
		return recrawl.DialReceiver(uint16(port), private)(ctx, network, address)
	}
}

// chatLetter writes a digest as a message.
func chatLetter(form sink.ChatForm) func(*digest.Digest, *sink.Letter) error {
	return func(d *digest.Digest, l *sink.Letter) error {
		l.Subject, l.Text = d.Subject(), d.Brief(form.Text)
		if form.HTML != nil {
			l.HTML = d.Brief(*form.HTML)
		}
		for _, site := range d.Sites {
			if l.Link == "" && len(site.Entries) > 0 {
				l.Link = site.Entries[0].URL
			}
		}
		return nil
	}
}

// checkChats tells of chats that cannot be told anything: for want of what is secret, or because they are told of sites which are not there.
func (d *daemon) checkChats() {
	for i := range d.start.Chats {
		chat := &d.start.Chats[i]
		if _, err := openChat(chat).Secret(); err != nil {
			d.log.Warn("a chat has no url or no token, nothing is sent without them", "chat", chat.Name, "err", err)
		}
		d.checkSites("chat", chat.Name, chat.Sites)
	}
}
