// Package smtptest is a mail server on this machine for tests: it keeps what it takes, and answers as it is told to.
package smtptest

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Taken is a mail that was taken.
type Taken struct {
	From string
	To   []string
	Data []byte // with line ends of CR LF
	TLS  bool
	User string // who had logged in; "": nobody
}

// Hang, as an answer, ends the connection without one.
const Hang = "hang up"

// Options sets up a Server.
type Options struct {
	TLS      *tls.Config // for STARTTLS; nil: it is not offered
	AtOnce   bool        // TLS from the first byte on
	User     string      // who must log in, by PLAIN or LOGIN; "": nobody may
	Password string

	// Answer says what is answered at a stage (connect, login, mail, rcpt, data, end), where end comes when a mail was read and noted. asked is what was
	// said there, and n how often the stage was reached, from 1 on. "" is the usual answer. nil: all are usual.
	Answer func(stage, asked string, n int) string
}

// Server is a mail server.
type Server struct {
	Address string // host:port
	options Options
	line    net.Listener

	mu    sync.Mutex
	taken []Taken        // guarded by mu; also those whose answer was another one than usual
	came  map[string]int // guarded by mu
	some  chan struct{}
}

// Start serves until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	line, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Address: line.Addr().String(), options: o, line: line, came: map[string]int{}, some: make(chan struct{}, 1000)}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := line.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { s.Serve(conn) })
		}
	})
	t.Cleanup(func() { _ = line.Close(); serving.Wait() })
	return s
}

// Idle is a server that listens nowhere: see Serve.
func Idle(o Options) *Server {
	return &Server{options: o, came: map[string]int{}, some: make(chan struct{}, 1000)}
}

// Taken are the mails that came so far.
func (s *Server) Taken() []Taken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

// Wait waits for so many mails.
func (s *Server) Wait(t testing.TB, n int) []Taken {
	t.Helper()
	for len(s.Taken()) < n {
		select {
		case <-s.some:
		case <-t.Context().Done():
			t.Fatalf("%d mails came, want %d", len(s.Taken()), n)
		}
	}
	return s.Taken()
}

// session is a connection.
type session struct {
	*Server
	conn   net.Conn
	text   *textproto.Conn
	mail   Taken
	secure bool
	user   string
}

// Serve answers a connection until that ends.
func (s *Server) Serve(conn net.Conn) {
	c := &session{Server: s, conn: conn}
	defer func() { _ = c.conn.Close() }()
	if s.options.AtOnce {
		c.conn, c.secure = tls.Server(conn, s.options.TLS), true
	}
	c.text = textproto.NewConn(c.conn)
	for ok := c.answer("connect", "", "220 mail.example.net ESMTP"); ok; {
		line, err := c.text.ReadLine()
		if err != nil {
			return
		}
		ok = c.command(line)
	}
}

// answer answers as it is told to, and tells whether the usual was.
func (c *session) answer(stage, asked, usual string) bool {
	c.mu.Lock()
	c.came[stage]++
	n := c.came[stage]
	c.mu.Unlock()
	said := ""
	if c.options.Answer != nil {
		said = c.options.Answer(stage, asked, n)
	}
	if said == Hang {
		return false
	}
	if said == "" {
		said = usual
	}
	return c.text.PrintfLine("%s", said) == nil
}

func (c *session) command(line string) bool {
	verb, rest, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO":
		return c.hello()
	case "HELO", "RSET", "NOOP":
		return c.text.PrintfLine("250 ok") == nil
	case "STARTTLS":
		if c.options.TLS == nil || c.text.PrintfLine("220 go on") != nil {
			return false
		}
		c.conn, c.secure = tls.Server(c.conn, c.options.TLS), true
		c.text = textproto.NewConn(c.conn)
		return true
	case "AUTH":
		return c.login(rest)
	case "MAIL":
		if c.options.User != "" && c.user == "" {
			return c.text.PrintfLine("530 5.7.0 log in first") == nil
		}
		c.mail = Taken{From: bare(rest), TLS: c.secure, User: c.user}
		return c.answer("mail", rest, "250 ok")
	case "RCPT":
		c.mail.To = append(c.mail.To, bare(rest))
		return c.answer("rcpt", rest, "250 ok")
	case "DATA":
		return c.data()
	case "QUIT":
		_ = c.text.PrintfLine("221 bye")
		return false
	}
	return c.text.PrintfLine("502 what?") == nil
}

func (c *session) hello() bool {
	lines := []string{"mail.example.net", "8BITMIME", "SMTPUTF8"}
	if c.options.TLS != nil && !c.secure {
		lines = append(lines, "STARTTLS")
	}
	if c.options.User != "" {
		lines = append(lines, "AUTH PLAIN LOGIN")
	}
	for i, line := range lines {
		sign := "-"
		if i == len(lines)-1 {
			sign = " "
		}
		if c.text.PrintfLine("250%s%s", sign, line) != nil {
			return false
		}
	}
	return true
}

// login takes AUTH PLAIN with what it needs in the same line.
func (c *session) login(rest string) bool {
	_, word, _ := strings.Cut(rest, " ")
	said, err := base64.StdEncoding.DecodeString(word)
	parts := strings.Split(string(said), "\x00")
	if err != nil || len(parts) != 3 || parts[1] != c.options.User || parts[2] != c.options.Password {
		return c.answer("login", rest, "535 5.7.8 no such user or password")
	}
	c.user = parts[1]
	return c.answer("login", rest, "235 welcome")
}

func (c *session) data() bool {
	if !c.answer("data", "", "354 go on") {
		return false
	}
	var b bytes.Buffer
	r := bufio.NewReader(c.text.R)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return false
		}
		if string(line) == ".\r\n" {
			break
		}
		b.Write(bytes.TrimPrefix(line, []byte(".")))
	}
	c.mail.Data = b.Bytes()
	c.mu.Lock()
	c.taken = append(c.taken, c.mail)
	c.mu.Unlock()
	c.some <- struct{}{}
	return c.answer("end", "", "250 2.0.0 queued as 4711")
}

// bare is the address of "FROM:<a@b> …".
func bare(text string) string {
	_, text, _ = strings.Cut(text, "<")
	address, _, _ := strings.Cut(text, ">")
	return address
}

// Certificate makes a certificate for a name and the authority that signed it.
func Certificate(t testing.TB, name string) (*tls.Config, *x509.CertPool) {
	t.Helper()
	config, pool, err := certificate(name)
	if err != nil {
		t.Fatal(err)
	}
	return config, pool
}

func certificate(name string) (*tls.Config, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("read what was made: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool, nil
}
