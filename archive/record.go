package archive

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	gowarc "github.com/nlnwa/gowarc/v2"

	"recrawld/models"
)

const (
	revisitProfile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	dateFormat     = "2006-01-02T15:04:05.000Z" // WARC/1.1 allows fractions; ours are those of models.Instant
)

// field is a header field of a WARC record.
type field struct{ name, value string }

// records builds and serialises WARC records; safe for concurrent use.
type records struct {
	marshaler gowarc.Marshaler
	options   []gowarc.WarcRecordOption
}

func newRecords() records {
	return records{
		marshaler: gowarc.NewMarshaler(),
		options: []gowarc.WarcRecordOption{
			gowarc.WithStrictValidation(), gowarc.WithFixDigest(false), gowarc.WithFixContentLength(false),
			gowarc.WithFixSyntaxErrors(false), gowarc.WithBlockErrorPolicy(gowarc.ErrIgnore),
			gowarc.WithDefaultDigestAlgorithm("sha256"), gowarc.WithDefaultDigestEncoding(gowarc.Base16),
			gowarc.WithBufferMaxMemBytes(1 << 40), // bodies are in memory and bounded already: never a temporary file
		},
	}
}

// marshal appends one record to out, as it stands in a segment before compression.
func (r records) marshal(out *bytes.Buffer, kind gowarc.RecordType, fields []field, block ...[]byte) error {
	builder := gowarc.NewRecordBuilder(kind, r.options...)
	defer builder.Close()
	for _, f := range fields {
		if f.value == "" {
			continue
		}
		if strings.ContainsAny(f.value, "\r\n\x00") {
			return fmt.Errorf("control character in %s %q", f.name, f.value)
		}
		builder.AddWarcHeader(f.name, f.value)
	}
	for _, part := range block {
		if _, err := builder.Write(part); err != nil {
			return fmt.Errorf("%s record: %w", kind, err)
		}
	}
	record, _, err := builder.Build()
	if err != nil {
		return fmt.Errorf("%s record: %w", kind, err)
	}
	if _, _, err := r.marshaler.Marshal(out, record, 0); err != nil {
		return fmt.Errorf("%s record: %w", kind, err)
	}
	return nil
}

// info appends the warcinfo record that begins a segment and returns its ID.
func (r records) info(out *bytes.Buffer, name string, now time.Time, o Options) (string, error) {
	text := "software: " + oneLine(o.Software) + "\r\nformat: WARC file version 1.1\r\n" +
		"conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n" +
		"robots: obey\r\noperator-worker: " + o.Worker + "\r\n"
	if o.Agent != "" {
		text += "http-header-user-agent: " + oneLine(o.Agent) + "\r\n"
	}
	id := newID()
	return id, r.marshal(out, gowarc.Warcinfo, []field{
		{gowarc.WarcRecordID, id},
		{gowarc.WarcDate, now.UTC().Format(dateFormat)},
		{gowarc.WarcFilename, name},
		{gowarc.ContentType, gowarc.ApplicationWarcFields},
	}, []byte(text))
}

// answer appends the response record of a capture, or its revisit record where the body was seen before.
func (r records) answer(out *bytes.Buffer, c models.Capture, id, info string) error {
	o := c.Outcome
	head := append(statusLine(o), headBlock(o.Header)...)
	fields := append(commonFields(c, id, info), field{gowarc.ContentType, "application/http;msgtype=response"})
	if c.Seen == nil {
		return r.marshal(out, gowarc.Response, append(fields, field{gowarc.WarcPayloadDigest, digestField(o.Digest)}),
			head, o.Body)
	}
	return r.marshal(out, gowarc.Revisit, append(fields,
		field{gowarc.WarcPayloadDigest, digestField(c.Seen.Digest)},
		field{gowarc.WarcProfile, revisitProfile},
		field{gowarc.WarcRefersToTargetURI, c.Seen.URL},
		field{gowarc.WarcRefersToDate, c.Seen.At.Time().Format(dateFormat)},
	), head)
}

// request appends the request record of a capture.
func (r records) request(out *bytes.Buffer, c models.Capture, answerID, info string) error {
	fields := append(commonFields(c, newID(), info),
		field{gowarc.ContentType, "application/http;msgtype=request"}, field{gowarc.WarcConcurrentTo, answerID})
	return r.marshal(out, gowarc.Request, fields, headBlock(c.Outcome.Request))
}

func commonFields(c models.Capture, id, info string) []field {
	return []field{
		{gowarc.WarcRecordID, id},
		{gowarc.WarcDate, models.At(c.Outcome.At).Time().Format(dateFormat)},
		{gowarc.WarcTargetURI, c.URL},
		{gowarc.WarcIPAddress, c.Outcome.RemoteIP},
		{gowarc.WarcWarcinfoID, info},
	}
}

func digestField(d models.Digest) string {
	if d.IsZero() {
		return ""
	}
	return "sha256:" + d.String()
}

func statusLine(o models.Outcome) []byte {
	proto := o.Proto
	if proto == "" {
		proto = "HTTP/1.1"
	}
	return []byte(proto + " " + strconv.Itoa(o.Status) + " " + http.StatusText(o.Status) + "\r\n")
}

// headBlock is a header block with CRLF lines, no empty line inside and exactly one at its end, so that no header can
// move the border between header and body.
func headBlock(raw []byte) []byte {
	block := make([]byte, 0, len(raw)+4)
	for line := range bytes.Lines(raw) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 {
			block = append(append(block, line...), "\r\n"...)
		}
	}
	return append(block, "\r\n"...)
}

func newID() string { return "<urn:uuid:" + uuid.NewString() + ">" }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
