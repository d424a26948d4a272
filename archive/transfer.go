package archive

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"recrawld/models"
)

// Stored is one record as it lies in a segment, whole and with the digests that it names.
type Stored struct {
	packed []byte
	record warcRecord
}

// ID is the record's own name, "<urn:uuid:…>".
func (s Stored) ID() string { return s.record.field("WARC-Record-ID") }

// Info is the ID of the warcinfo record that it names.
func (s Stored) Info() string { return s.record.field("WARC-Warcinfo-ID") }

// URL is what was asked for.
func (s Stored) URL() string { return s.record.field("WARC-Target-URI") }

// At is when the request was sent, to the millisecond.
func (s Stored) At() time.Time {
	at, _ := time.Parse(time.RFC3339, s.record.field("WARC-Date")) // it was looked at when the record was read
	return at.UTC()
}

// head is the status line and the header of an answer, with the empty line behind them.
func (s Stored) head() []byte {
	head, _, _ := bytes.Cut(s.record.block, []byte("\r\n\r\n"))
	return append(bytes.TrimSuffix(head[:len(head):len(head)], []byte("\r\n")), "\r\n\r\n"...)
}

// Body is the decoded body of an answer; empty for a revisit.
func (s Stored) Body() []byte {
	_, body, _ := bytes.Cut(s.record.block, []byte("\r\n\r\n"))
	return body
}

// Status is that of an answer, 0 where its status line has none.
func (s Stored) Status() int {
	line, _, _ := bytes.Cut(s.record.block, []byte("\r\n"))
	words := strings.SplitN(string(line), " ", 3)
	if len(words) < 2 {
		return 0
	}
	status, _ := strconv.Atoi(words[1])
	return status
}

// Header is the first value of a field of an answer's header, "" for none.
func (s Stored) Header(name string) string { return Field(s.head(), name) }

// Fields are all values of a field of an answer's header, in order.
func (s Stored) Fields(name string) []string { return Fields(s.head(), name) }

// Field is the first value of a field of a header as it was received, with or without a status line; "" for none.
func Field(header []byte, name string) string {
	for _, value := range Fields(header, name) {
		return value
	}
	return ""
}

// Fields are all values of a field of a header as it was received, in order, whatever case its name is written in.
func Fields(header []byte, name string) []string {
	var values []string
	for line := range bytes.Lines(header) {
		key, value, _ := strings.Cut(string(line), ":")
		if strings.EqualFold(key, name) {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

// Session reads many records one after the other and keeps the segment open that it read last. It is not safe for concurrent use.
type Session struct {
	reader *Reader
	name   string
	file   *os.File // nil: none
}

// NewSession begins a session. The caller closes it.
func (r *Reader) NewSession() *Session { return &Session{reader: r} }

// Close gives the segment back.
func (s *Session) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file, s.name = nil, ""
	return err
}

// Answer reads a response or a revisit record and has checked its digests. The errors are those of Reader.Read.
func (s *Session) Answer(at models.Record) (Stored, error) {
	stored, err := s.read(at)
	if err == nil {
		err = stored.checkAnswer()
	}
	if err != nil {
		return Stored{}, fmt.Errorf("read %s at %d: %w", at.File, at.Offset, err)
	}
	return stored, nil
}

// Request reads the request record of the answer at a place: the one behind it. ok is false where there is none.
func (s *Session) Request(at models.Record, answer Stored) (request Stored, ok bool) {
	request, err := s.readAt(at.File, at.Offset+at.Length)
	return request, err == nil && request.record.field("WARC-Type") == "request" &&
		request.record.field("WARC-Concurrent-To") == answer.ID()
}

// Info reads the warcinfo record that begins a segment. ok is false where it cannot be read.
func (s *Session) Info(segment string) (info Stored, ok bool) {
	info, err := s.readAt(segment, 0)
	return info, err == nil && info.record.field("WARC-Type") == "warcinfo"
}

// readAt reads a record of which the offset alone is known.
func (s *Session) readAt(segment string, offset int64) (Stored, error) {
	if err := s.open(segment); err != nil {
		return Stored{}, err
	}
	stat, err := s.file.Stat()
	if err != nil {
		return Stored{}, err
	}
	length, err := memberLength(s.file, offset, stat.Size())
	if err != nil {
		return Stored{}, err
	}
	stored, err := s.read(models.Record{File: segment, Offset: offset, Length: length})
	if err != nil {
		return Stored{}, err
	}
	return stored, checkDigest(stored.record.field("WARC-Block-Digest"), stored.record.block)
}

func (s *Session) read(at models.Record) (Stored, error) {
	if err := s.open(at.File); err != nil {
		return Stored{}, err
	}
	record, packed, err := s.reader.recordIn(s.file, at)
	return Stored{packed: packed, record: record}, err
}

func (s *Session) open(segment string) error {
	if s.file != nil && s.name == segment {
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	file, err := s.reader.open(segment)
	if err != nil {
		return err
	}
	s.file, s.name = file, segment
	return nil
}

// checkAnswer tells what is wrong with a record that should be an answer.
func (s Stored) checkAnswer() error {
	switch s.record.field("WARC-Type") {
	case "response":
		if _, err := s.record.answer(); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil
	case "revisit":
		_, err := time.Parse(time.RFC3339, s.record.field("WARC-Date"))
		if err == nil && s.Status() == 0 {
			err = errors.New("no status")
		}
		if err == nil {
			err = checkDigest(s.record.field("WARC-Block-Digest"), s.record.block)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil
	}
	return fmt.Errorf("%w: record of type %q", ErrDamaged, s.record.field("WARC-Type"))
}
