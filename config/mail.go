package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
)

// Mail is a digest of what happened to pages, sent to people once a period.
type Mail struct {
	Name     string   // unique, as that of a Webhook
	To       []string // addresses, 1 to 50
	From     string   // address; default Agent.Contact where that is one: see MailFrom
	Server   string   // smtp://user@host:587, smtps://user@host:465, or "sendmail" for the program: see MailServer
	Password string   // where that of the user is: ${file:/path} or ${credential:name}; empty: none. See Secret

	Digest // once a day by default
}

const (
	maxMails  = 32
	maxMailTo = 50
)

// Sendmail is the Server of a Mail that hands it to the program of that name on this machine.
const Sendmail = "sendmail"

// MailServer is who takes a mail.
type MailServer struct {
	Host string // "": the program at SendmailPath
	Port uint16
	User string // "": nobody logs in
	TLS  bool   // from the first byte on; else by STARTTLS, which a server on another machine must offer
}

// SendmailPath is where the program is that takes mail on most systems.
const SendmailPath = "/usr/sbin/sendmail"

// Local tells whether the server is on this machine: then it may go without TLS.
func (s MailServer) Local() bool { return isLoopback(s.Host) }

// ParseMailServer reads the key server. Its errors do not repeat the text, which may have a password in it.
func ParseMailServer(text string) (s MailServer, err error) {
	if text == Sendmail {
		return s, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return s, errors.New("is not a mail server, write one like smtp://user@mail.example.net:587, smtps://user@mail.example.net:465 or sendmail")
	}
	if _, has := u.User.Password(); has {
		return s, errors.New("has a password in it, write password: ${file:/path} or ${credential:name} beside it")
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return s, errors.New("has more than a user, a host and a port")
	}
	if err := cmp.Or(present(u.Hostname()), orNone(present)(u.User.Username())); err != nil {
		return s, err
	}
	s = MailServer{Host: u.Hostname(), Port: 587, User: u.User.Username(), TLS: u.Scheme == "smtps"}
	if s.TLS {
		s.Port = 465
	}
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return s, fmt.Errorf("has the port %s, which is none", shown(text))
		}
		s.Port = uint16(port)
	}
	return s, nil
}

func checkMailServer(text string) error {
	_, err := ParseMailServer(text)
	return err
}

// checkMailAddress accepts a bare address. What SMTP and mail headers could take for something else is none.
func checkMailAddress(text string) error {
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text || a.Name != "" || len(text) > 254 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) ||
		strings.ContainsAny(text, `"<>(),;:\[]`) {
		return fmt.Errorf("%s is not a mail address, write one like team@example.net", shown(text))
	}
	return nil
}

// Secret reads the password, "" where there is none. It is read anew each time: a file that was changed counts at once.
func (m *Mail) Secret() (string, error) { return readLine(m.Password, "a password") }

// MailFrom is the sender of a mail: its own, or the contact where that is an address; "": there is none.
func (c *Config) MailFrom(m *Mail) string {
	if m.From == "" && checkMailAddress(c.Agent.Contact) == nil {
		return c.Agent.Contact
	}
	return m.From
}

// mailFields are the keys of a mail.
var mailFields = append([]field[Mail]{
	{key: "to", of: func(m *Mail) value { return words(&m.To, checkMailAddress) }},
	{key: "from", of: func(m *Mail) value { return word(&m.From, orNone(checkMailAddress)) }},
	{key: "server", of: func(m *Mail) value { return word(&m.Server, checkMailServer) }},
	{key: "password", of: func(m *Mail) value { return word(&m.Password, orNone(checkSecretPlace)) }},
}, digestFields(func(m *Mail) *Digest { return &m.Digest })...)

// orNone accepts the empty text, too.
func orNone(check func(string) error) func(string) error {
	return func(text string) error {
		if text == "" {
			return nil
		}
		return check(text)
	}
}

// mailsValue is the mails as a value.
func mailsValue(at *[]Mail) value {
	return named[Mail]{
		at: at, what: "mails", most: maxMails, fields: mailFields,
		begin: func(name string) Mail { return Mail{Name: name, Digest: Digest{Every: "1d", Kinds: DigestKinds()}} },
		name:  func(m *Mail) string { return m.Name },
		whole: (*Mail).whole,
		unlock: func(m *Mail) (string, error) {
			if ofUnitAlone(m.Password) { // a command sends nothing
				return "", nil
			}
			_, err := m.Secret()
			return "password", err
		},
	}
}

// whole tells what is missing of a mail, each key of which is good.
func (m *Mail) whole() error {
	server, err := ParseMailServer(m.Server)
	switch {
	case len(m.To) == 0:
		return errors.New("has no to: the addresses that it goes to")
	case len(m.To) > maxMailTo:
		return fmt.Errorf("goes to %d addresses, at most %d: a list of the mail server takes more", len(m.To), maxMailTo)
	case m.Server == "":
		return errors.New("has no server, write one like smtp://user@mail.example.net:587, or sendmail")
	case err != nil:
		return err
	case server.User != "" && m.Password == "":
		return errors.New("has a user and no password, write ${file:/path} or ${credential:name}")
	case server.User == "" && m.Password != "":
		return errors.New("has a password and no user, write smtp://user@… as its server")
	}
	return m.Digest.whole()
}
