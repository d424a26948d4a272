package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mails(password string) string {
	return "agent: { contact: ops@example.net }\nmail:\n  team:\n    to: [team@example.net, boss@example.net]\n" +
		"    server: smtp://user@mail.example.net\n    password: ${file:" + password + "}\n    every: Mon-Fri 07:00 Europe/Berlin\n" +
		"    sites: docs\n    min_significance: 0.5\n"
}

func TestMails(t *testing.T) {
	t.Parallel()
	path := keysFile(t, 0o600, "hunter2")
	c, _, err := Parse("recrawld.yaml", []byte(mails(path)))
	if err != nil {
		t.Fatal(err)
	}
	want := []Mail{{Name: "team", To: []string{"team@example.net", "boss@example.net"}, Server: "smtp://user@mail.example.net",
		Password: "${file:" + path + "}",
		Digest:   Digest{Every: "Mon-Fri 07:00 Europe/Berlin", Sites: []string{"docs"}, Kinds: DigestKinds(), Weight: 0.5}}}
	if diff := cmp.Diff(want, c.Mails); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	if got, err := c.Mails[0].Secret(); got != "hunter2" || err != nil {
		t.Errorf("Secret = %q, %v", got, err)
	}
	if got := c.MailFrom(&c.Mails[0]); got != "ops@example.net" {
		t.Errorf("MailFrom = %q, want the contact", got)
	}
	again, _, err := Parse("again.yaml", []byte("agent: { contact: ops@example.net }\nmail: "+mailsValue(&c.Mails).String()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Mails, again.Mails); diff != "" {
		t.Errorf("as it is shown it is read otherwise, -want +got:\n%s", diff)
	}
}

// The password's file is refused at the line that names it, and never shown.
func TestMailPasswordsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, path, want string }{
		{"read by others", keysFile(t, 0o640, "hunter2"), "can be read by others (mode 0640): chmod 600 it"},
		{"two lines", keysFile(t, 0o600, "hunter2", "hunter3"), "has more than one line"},
		{"none", keysFile(t, 0o600, ""), "is empty"},
	} {
		_, _, err := Parse("recrawld.yaml", []byte(mails(test.path)))
		if err == nil || !strings.HasPrefix(err.Error(), "recrawld.yaml:6: mail.team.password: ") || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v, want one of line 6 that says %q", test.name, err, test.want)
		}
	}
}

func TestMailServers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]MailServer{
		"smtp://mail.example.net":          {Host: "mail.example.net", Port: 587},
		"smtp://u%40x@mail.example.net:25": {Host: "mail.example.net", Port: 25, User: "u@x"},
		"smtps://me@[2001:db8::1]":         {Host: "2001:db8::1", Port: 465, User: "me", TLS: true},
		"smtp://localhost:2525":            {Host: "localhost", Port: 2525},
		Sendmail:                           {},
	} {
		if got, err := ParseMailServer(text); got != want || err != nil {
			t.Errorf("ParseMailServer(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "mail.example.net", "smtp:", "smtp://", "smtp://a:b@c", "smtp://a/b", "smtp://a:0", "smtp://a%0d%0a@b", "lmtp://a"} {
		if got, err := ParseMailServer(text); err == nil || strings.Contains(err.Error(), "a:b") {
			t.Errorf("ParseMailServer(%q) = %+v, %v, want an error without the text", text, got, err)
		}
	}
}

// A mail is due at the moments that people mean: across a change of the clocks and a weekend too.
func TestMailsAreDue(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	for _, test := range []struct{ every, after, want string }{
		{"1d", "2026-11-25T19:00:00Z", "2026-11-26T19:00:00Z"},
		{"90m", "2026-11-25T19:00:00Z", "2026-11-25T20:30:00Z"},
		{"07:00 Europe/Berlin", "2026-11-25T05:59:59Z", "2026-11-25T06:00:00Z"},
		{"07:00 Europe/Berlin", "2026-11-25T06:00:00Z", "2026-11-26T06:00:00Z"},
		{"07:00 Europe/Berlin", "2026-10-24T05:00:00Z", "2026-10-25T06:00:00Z"}, // summer time ends
		{"02:30 Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:30:00Z"}, // there is no 02:30 that day
		{"02:30 America/New_York", "2027-03-13T12:00:00Z", "2027-03-14T07:30:00Z"},
		{"00:30 America/Havana", "2027-03-13T12:00:00Z", "2027-03-14T05:30:00Z"}, // that day begins at one
		{"Mon-Fri 07:00 UTC", "2026-11-27T08:00:00Z", "2026-11-30T07:00:00Z"},
		{"Sun 23:30 America/New_York", "2026-11-25T00:00:00Z", "2026-11-30T04:30:00Z"},
		{"0 7 * * 1", "2026-11-25T19:00:00Z", "2026-11-30T07:00:00Z"},
		{"CRON_TZ=Europe/Berlin 0 7 * * *", "2026-11-25T19:00:00Z", "2026-11-26T06:00:00Z"},
	} {
		if err := checkEvery(test.every); err != nil {
			t.Errorf("checkEvery(%q): %v", test.every, err)
		}
		m := Digest{Every: test.every}
		if got := m.Due(at(test.after)); !got.Equal(at(test.want)) {
			t.Errorf("every %s, after %s: %v, want %s", test.every, test.after, got, test.want)
		}
	}
}

// The commented mail of the example is good, and says the defaults where it says so.
func TestExampleMail(t *testing.T) {
	t.Parallel()
	c := commented(t, "mail", "/etc/recrawld/mail.password", keysFile(t, 0o600, "hunter2"))
	if len(c.Mails) != 1 || !cmp.Equal(c.Mails[0].Kinds, DigestKinds()) || c.Mails[0].Every != "1d" || c.Mails[0].Weight != 0 {
		t.Errorf("mails of the example = %+v", c.Mails)
	}
}
