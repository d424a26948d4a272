package sink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"recrawld/config"
)

// mailTime is how long a server may take for a letter, with all that it says before: RFC 5321 gives it ten minutes for its last answer
// alone, and what looks for spam takes some of them. A letter that is given up then may yet be delivered, and comes again.
const mailTime = 5 * time.Minute

// ErrUnwanted says that a letter was refused for good: the same letter will be refused the next time.
var ErrUnwanted = errors.New("it is refused for good")

// Post sends letters to a mail server, or hands them to the program sendmail. It is safe for concurrent use.
type Post struct {
	Envelope Envelope
	Server   config.MailServer
	Password func() (string, error) // of the server's user, asked for before each letter
	Program  string                 // in place of a server; used where that has no host
	Roots    *x509.CertPool         // who signs the certificates of servers; nil: whom the system trusts

	// Dial connects to the server; nil: over the network. Which server that is the operator says, so it may be anywhere.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Send returns nil once somebody has taken the letter for all recipients, and ErrUnwanted where it was refused for one of them or for all,
// for good: then it goes to nobody. It keeps no connection.
func (p *Post) Send(ctx context.Context, l Letter) error {
	_, err := p.Try(ctx, l)
	return err
}

// Try is Send, with what the server said when it took the letter.
func (p *Post) Try(ctx context.Context, l Letter) (said string, err error) {
	message, err := l.message(p.Envelope)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnwanted, err)
	}
	ctx, stop := context.WithTimeout(ctx, mailTime)
	defer stop()
	if p.Server.Host == "" {
		return "", p.run(ctx, message)
	}
	said, err = p.tell(ctx, message)
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		err = fmt.Errorf("%w (%s)", err, p.Server.Host)
		if answer.Code >= 500 {
			err = fmt.Errorf("%w: %w", ErrUnwanted, err)
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) || err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("the mail server has not taken it within %v: %w", mailTime, err)
	}
	return said, err
}

// tell talks to the server. The connection is closed in any case, also by the end of the context.
func (p *Post) tell(ctx context.Context, message []byte) (said string, err error) {
	talking, done := context.WithCancel(ctx)
	defer done()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := p.dial(ctx, network, address)
		if err == nil { // the library looks at no context once it is connected
			context.AfterFunc(talking, func() { _ = conn.Close() })
		}
		return conn, err
	}
	password := ""
	if p.Server.User != "" {
		if password, err = p.Password(); err != nil {
			return "", fmt.Errorf("nothing is sent without the password: %w", err)
		}
	}
	client, err := p.client(dial, password)
	if err != nil {
		return "", err
	}
	connected, err := client.DialToSMTPClientWithContext(ctx)
	if answer, ok := errors.AsType[*textproto.Error](err); ok && answer.Code == wrongPassword && p.Server.User != "" {
		return "", &secretRefused{sha256.Sum256([]byte(password)), "the mail server refuses the password", err}
	}
	if err != nil {
		return "", fmt.Errorf("the mail server cannot be asked: %w", err)
	}
	if said, err = hand(connected, p.Envelope, message); err != nil {
		return "", err
	}
	_ = connected.Quit() // it has the letter, whatever comes now
	return said, nil
}

// wrongPassword is what a server answers to a log-in that it refuses (RFC 4954, section 6).
const wrongPassword = 535

// dial connects, with TLS where that is spoken from the first byte on.
func (p *Post) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	dial := p.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, network, net.JoinHostPort(p.Server.Host, strconv.Itoa(int(p.Server.Port))))
	if err != nil || !p.Server.TLS {
		return conn, err
	}
	secure := tls.Client(conn, p.tls())
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

func (p *Post) tls() *tls.Config {
	return &tls.Config{ServerName: p.Server.Host, RootCAs: p.Roots, MinVersion: tls.VersionTLS12}
}

// mechanisms are the ways to log in, the best first. Those that show the password are for connections with TLS and for this machine.
var mechanisms = []mail.SMTPAuthType{mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlain, mail.SMTPAuthLogin, mail.SMTPAuthCramMD5}

// client is a client for one letter. On this machine the server may go without TLS: its certificate is hardly ever one for its name.
func (p *Post) client(dial mail.DialContextFunc, password string) (*mail.Client, error) {
	policy := mail.TLSMandatory
	if p.Server.Local() {
		policy = mail.NoTLS
	}
	options := []mail.Option{mail.WithPort(int(p.Server.Port)), mail.WithTimeout(mailTime), mail.WithTLSPolicy(policy), mail.WithTLSConfig(p.tls()),
		mail.WithDialContextFunc(dial), mail.WithoutSMTPUTF8()}
	if p.Server.TLS {
		options = append(options, mail.WithSSL())
	}
	if p.Server.User != "" {
		options = append(options, mail.WithOpportunisticSMTPAuth(mechanisms...), mail.WithUsername(p.Server.User), mail.WithPassword(password))
	}
	return mail.NewClient(p.Server.Host, options...)
}

// hand hands over a letter. Where one recipient is refused nobody gets it: it comes again for all, or somebody mends the address.
func hand(c *smtp.Client, e Envelope, message []byte) (said string, err error) {
	if err := c.Mail("<" + e.From + ">"); err != nil {
		return "", fmt.Errorf("the mail server does not take mail from %s: %w", e.From, err)
	}
	var refused error // of those that are, the first for good
	code := 0
	for _, to := range e.To {
		err := c.Rcpt("<" + to + ">")
		if err == nil {
			continue
		}
		err = fmt.Errorf("the mail server does not take mail for %s: %w", to, err)
		answer, ok := errors.AsType[*textproto.Error](err)
		if !ok {
			return "", err
		}
		if refused == nil || code < 500 && answer.Code >= 500 {
			refused, code = err, answer.Code
		}
	}
	if refused != nil {
		return "", refused
	}
	w, err := c.Data()
	if err == nil {
		_, err = io.Copy(w, bytes.NewReader(message))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", fmt.Errorf("the mail server does not take the mail: %w", err)
	}
	if d, ok := w.(*smtp.DataCloser); ok {
		said = d.ServerResponse()
	}
	return said, nil
}

// The exit codes of sendmail that say that trying again is of no use (sysexits.h): bad usage, data, user or host, no permission.
var refusals = []int{64, 65, 67, 68, 77}

// run hands a letter to the program, which queues it.
func (p *Post) run(ctx context.Context, message []byte) error {
	command := exec.CommandContext(ctx, p.Program, append([]string{"-i", "-f", p.Envelope.From, "--"}, p.Envelope.To...)...)
	command.Stdin = bytes.NewReader(bytes.ReplaceAll(message, []byte("\r\n"), []byte("\n")))
	command.WaitDelay = time.Second // for the output of what it has started and left
	said, err := command.CombinedOutput()
	if err == nil {
		return nil
	}
	words, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	err = fmt.Errorf("%s: %w: %.200s", p.Program, err, words)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		for _, code := range refusals {
			if exit.ExitCode() == code {
				return fmt.Errorf("%w: %w", ErrUnwanted, err)
			}
		}
	}
	return err
}
