package sink

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/wneessen/go-mail"
)

// Letter is a mail before it has a sender and recipients, or a message to a chat, which has neither Thread, List nor Date.
type Letter struct {
	ID      string // of letters, digits, "-" and "_"; the same where the same is sent again, and of no other letter
	Thread  string // the same for all letters that belong together, of such characters and dots
	List    string // what mail programs sort them by, of such characters and dots
	Date    time.Time
	Subject string // any text; what would not stay in a line becomes spaces
	Text    string // any text
	HTML    string // the same for those who see it: a whole document; for a chat in its ChatForm's HTML
	Link    string // of a message to a chat: where it leads whoever taps on it; "": nowhere
}

// Envelope is who a letter comes from and goes to. The addresses are bare ones: user@example.net.
type Envelope struct {
	From string
	To   []string
}

// Headers that the library has no name for.
const (
	headerAuto   mail.Header = "Auto-Submitted"
	headerListID mail.Header = "List-Id"
)

// message writes a letter as RFC 5322 and MIME have it: in text and in HTML. It fails where an address is none. What is in the text may
// come from anywhere, so the boundary between the parts is one that nobody can know.
func (l Letter) message(e Envelope) ([]byte, error) {
	_, domain, _ := strings.Cut(e.From, "@")
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := m.From(e.From); err != nil {
		return nil, fmt.Errorf("from %q: %w", e.From, err)
	}
	if err := m.To(e.To...); err != nil {
		return nil, fmt.Errorf("to %q: %w", e.To, err)
	}
	thread := fmt.Sprintf("<%s@%s>", l.Thread, domain)
	m.Subject(oneLine(l.Subject))
	m.SetDateWithValue(l.Date.UTC())
	m.SetMessageIDWithValue(l.ID + "@" + domain)
	// No letter has that name: those who show threads put all that name it below one another.
	m.SetGenHeader(mail.HeaderReferences, thread)
	m.SetGenHeader(mail.HeaderInReplyTo, thread)
	m.SetGenHeader(headerListID, fmt.Sprintf("<%s.%s>", l.List, domain))
	m.SetGenHeader(headerAuto, "auto-generated") // RFC 3834: nobody's holiday answers it
	m.SetBodyString(mail.TypeTextPlain, whole(l.Text))
	m.AddAlternativeString(mail.TypeTextHTML, whole(l.HTML))
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("write the letter: %w", err)
	}
	return b.Bytes(), nil
}

// whole is a text without what is no character.
func whole(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// mostSubject is how many characters a subject has at most.
const mostSubject = 200

// oneLine is a text as a line of a header, that nobody takes for one in which something is encoded.
func oneLine(text string) string {
	runes := []rune(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))), " "))
	if len(runes) > mostSubject {
		runes = append(runes[:mostSubject], '…')
	}
	return strings.ReplaceAll(string(runes), "=?", "= ?")
}
