package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Mail is a digest of what happened to pages, sent to people once a period.
type Mail struct {
	Name     string   // unique, as that of a Webhook
	To       []string // addresses, 1 to 50
	From     string   // address; default Agent.Contact where that is one: see MailFrom
	Server   string   // smtp://user@host:587, smtps://user@host:465, or "sendmail" for the program: see MailServer
	Password string   // where that of the user is: ${file:/path} or ${credential:name}; empty: none. See Secret
	Every    string   // how often: a duration (1m–366d), a time of day ("Mon-Fri 07:00 Europe/Berlin") or a cron expression; default 1d
	Sites    []string // names of the sites that are told of; none: all
	Kinds    []string // of events that are told of; default MailKinds
	Weight   float64  // key min_significance: changes of less are left out, 0–1; default 0
}

// MailKinds are those of EventKinds that a person wants to hear of: pages that were refreshed say what they said.
func MailKinds() []string { return []string{"new", "changed", "moved", "gone", "restored", "removed"} }

const (
	maxMails = 32
	maxTo    = 50
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
func (m *Mail) Secret() (string, error) {
	if m.Password == "" {
		return "", nil
	}
	text, err := expand(m.Password, readSecret)
	if err == nil && strings.ContainsAny(text, "\r\n\x00") {
		err = errors.New("has more than one line, a password has one")
	}
	return text, err
}

// MailFrom is the sender of a mail: its own, or the contact where that is an address; "": there is none.
func (c *Config) MailFrom(m *Mail) string {
	if m.From == "" && checkMailAddress(c.Agent.Contact) == nil {
		return c.Agent.Contact
	}
	return m.From
}

// Due is the first moment behind another one at which a mail is sent.
func (m *Mail) Due(after time.Time) time.Time {
	if d, err := ParseDuration(m.Every); err == nil {
		return after.Add(d)
	}
	if t, err := parseDayTime(m.Every); err == nil {
		return t.next(after)
	}
	schedule, err := cron.ParseStandard(m.Every)
	if err != nil { // what check refuses
		return after.Add(day)
	}
	return schedule.Next(after)
}

// checkEvery accepts a duration, a time of day with its zone, or a cron expression.
func checkEvery(text string) error {
	if strings.Contains(text, ":") && !strings.Contains(text, "=") { // which the zone of a cron expression has
		_, err := parseDayTime(text)
		return err
	}
	return checkCycle(text)
}

// dayTime is a time of day on some weekdays.
type dayTime struct {
	days [7]bool
	at   time.Duration
	zone *time.Location
}

// parseDayTime reads "07:00 Europe/Berlin" or "Mon-Fri 07:00 Europe/Berlin".
func parseDayTime(text string) (t dayTime, err error) {
	parts := strings.Fields(text)
	t.days = [7]bool{true, true, true, true, true, true, true}
	if len(parts) == 3 {
		if t.days, err = parseDays(parts[0]); err != nil {
			return t, err
		}
		parts = parts[1:]
	}
	if len(parts) == 0 || len(parts) > 2 {
		return t, fmt.Errorf("%s is not a time of day, write one like %q", shown(text), "Mon-Fri 07:00 Europe/Berlin")
	}
	at, ok := parseTimeOfDay(parts[0])
	switch {
	case !ok || at == day:
		return t, fmt.Errorf("%s is not a time of day, write one like 07:00", shown(parts[0]))
	case len(parts) == 1:
		return t, fmt.Errorf("%s has no time zone, write %q", shown(text), text+" UTC")
	}
	t.at = at
	t.zone, err = parseZone(parts[1])
	return t, err
}

// next is when it comes next. Where the clocks of the zone pass over it, it comes as much later as they do.
func (t dayTime) next(after time.Time) time.Time {
	y, m, d := after.In(t.zone).Date()
	for i := 0; ; i++ {
		next := time.Date(y, m, d+i, int(t.at/time.Hour), int(t.at%time.Hour/time.Minute), 0, 0, t.zone)
		meant := time.Date(y, m, d+i, 0, 0, 0, 0, time.UTC).Add(t.at)
		next = next.Add(max(meant.Sub(wall(next)), 0)) // Date goes back over a gap in zones west of UTC
		if next.After(after) && t.days[time.Date(y, m, d+i, 12, 0, 0, 0, t.zone).Weekday()] {
			return next.UTC()
		}
	}
}

// wall is what a clock on the wall shows, as a time of UTC.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// mailFields are the keys of a mail.
var mailFields = []field[Mail]{
	{key: "to", of: func(m *Mail) value { return words(&m.To, checkMailAddress) }},
	{key: "from", of: func(m *Mail) value { return word(&m.From, orNone(checkMailAddress)) }},
	{key: "server", of: func(m *Mail) value { return word(&m.Server, checkMailServer) }},
	{key: "password", of: func(m *Mail) value { return word(&m.Password, orNone(checkSecretPlace)) }},
	{key: "every", of: func(m *Mail) value { return word(&m.Every, checkEvery) }},
	{key: "sites", of: func(m *Mail) value { return words(&m.Sites, checkName) }},
	{key: "kinds", of: func(m *Mail) value { return words(&m.Kinds, oneOf(EventKinds()...)) }},
	{key: "min_significance", of: func(m *Mail) value { return number(&m.Weight, 0, 1) }},
}

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
		at: at, what: "mails", most: maxMails, fields: mailFields, secret: "password",
		begin: func(name string) Mail { return Mail{Name: name, Every: "1d", Kinds: MailKinds()} },
		name:  func(m *Mail) string { return m.Name },
		whole: (*Mail).whole,
		unlock: func(m *Mail) error {
			if ofUnitAlone(m.Password) { // a command sends nothing
				return nil
			}
			_, err := m.Secret()
			return err
		},
	}
}

// whole tells what is missing of a mail, each key of which is good.
func (m *Mail) whole() error {
	server, err := ParseMailServer(m.Server)
	switch {
	case len(m.To) == 0:
		return errors.New("has no to: the addresses that it goes to")
	case len(m.To) > maxTo:
		return fmt.Errorf("goes to %d addresses, at most %d: a list of the mail server takes more", len(m.To), maxTo)
	case m.Server == "":
		return errors.New("has no server, write one like smtp://user@mail.example.net:587, or sendmail")
	case err != nil:
		return err
	case len(m.Kinds) == 0:
		return errors.New("has no kinds, leave them out for those that a person wants to hear of")
	case server.User != "" && m.Password == "":
		return errors.New("has a user and no password, write ${file:/path} or ${credential:name}")
	case server.User == "" && m.Password != "":
		return errors.New("has a password and no user, write smtp://user@… as its server")
	}
	return nil
}
