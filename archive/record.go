package archive

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"recrawld/models"
)

const (
	revisitProfile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	dateFormat     = "2006-01-02T15:04:05.000Z" // WARC/1.1 allows fractions; ours are those of models.Instant
)

// recordEnd is what every record ends in.
const recordEnd = "\r\n\r\n"

// field is a header field of a WARC record.
type field struct{ name, value string }

// marshal appends one record to out, as it stands in a segment before compression. Fields without a value are left out.
func marshal(out *bytes.Buffer, kind string, fields []field, block ...[]byte) error {
	length := 0
	for _, part := range block {
		length += len(part)
	}
	head := out.AvailableBuffer()
	head = append(append(append(head, "WARC/1.1\r\nWARC-Type: "...), kind...), "\r\n"...)
	for _, f := range append(fields, field{"Content-Length", strconv.Itoa(length)}) {
		if hasControl(f.value) {
			return fmt.Errorf("control character in %s %q", f.name, f.value)
		}
		if f.value == "" {
			continue
		}
		head = append(append(append(append(head, f.name...), ": "...), f.value...), "\r\n"...)
	}
	out.Write(append(head, "\r\n"...))
	for _, part := range block {
		out.Write(part)
	}
	out.WriteString(recordEnd)
	return nil
}

// hasControl tells whether a control character stands in a value, which is nearly always plain ASCII.
func hasControl(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' {
			return strings.ContainsFunc(value[i:], unicode.IsControl)
		}
	}
	return false
}

// blockDigest is the field that says what a record's block is, in parts.
func blockDigest(block ...[]byte) field {
	sum := sha256.New()
	for _, part := range block {
		sum.Write(part)
	}
	return field{"WARC-Block-Digest", digestField(models.Digest(sum.Sum(nil)))}
}

// infoText is what every warcinfo record of ours says.
func infoText(software string) string {
	return "software: " + oneLine(software) + "\r\nformat: WARC file version 1.1\r\n" +
		"conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
}

// segmentInfo is what the warcinfo record of a segment says.
func segmentInfo(o Options) string {
	text := infoText(o.Software) + "robots: obey\r\noperator-worker: " + o.Worker + "\r\n"
	if o.Agent != "" {
		text += "http-header-user-agent: " + oneLine(o.Agent) + "\r\n"
	}
	return text
}

// marshalInfo appends the warcinfo record that begins a file and returns its ID.
func marshalInfo(out *bytes.Buffer, name string, now time.Time, text string) (string, error) {
	id := newID()
	return id, marshal(out, "warcinfo", []field{
		{"WARC-Record-ID", id},
		{"WARC-Date", now.UTC().Format(dateFormat)},
		{"WARC-Filename", name},
		{"Content-Type", "application/warc-fields"},
		blockDigest([]byte(text)),
	}, []byte(text))
}

// marshalAnswer appends the response record of a capture, or its revisit record where the body was seen before.
func marshalAnswer(out *bytes.Buffer, c models.Capture, id, info string) error {
	o := c.Outcome
	head := append(statusLine(o), headBlock(o.Header)...)
	fields := append(commonFields(c, id), field{"WARC-Warcinfo-ID", info},
		field{"Content-Type", "application/http;msgtype=response"})
	if c.Seen == nil {
		digest, err := payloadDigest(&o)
		if err != nil {
			return err
		}
		return marshal(out, "response", append(fields, field{"WARC-Payload-Digest", digestField(digest)},
			blockDigest(head, o.Body)), head, o.Body)
	}
	return marshal(out, "revisit", append(fields,
		field{"WARC-Payload-Digest", digestField(c.Seen.Digest)},
		field{"WARC-Profile", revisitProfile},
		field{"WARC-Refers-To-Target-URI", c.Seen.URL},
		field{"WARC-Refers-To-Date", c.Seen.At.Time().Format(dateFormat)},
		blockDigest(head),
	), head)
}

// payloadDigest is the SHA-256 of an outcome's body, which is still the one that it was found out of.
func payloadDigest(o *models.Outcome) (models.Digest, error) {
	if o.BodySum != 0 && !o.Digest.IsZero() {
		if sum := crc32.ChecksumIEEE(o.Body); sum != o.BodySum {
			return o.Digest, fmt.Errorf("the body's CRC-32 is %08x, not %08x", sum, o.BodySum)
		}
		return o.Digest, nil
	}
	digest := models.DigestOf(o.Body)
	if !o.Digest.IsZero() && o.Digest != digest {
		return digest, fmt.Errorf("the body's SHA-256 is %s, not %s", digest, o.Digest)
	}
	return digest, nil
}

// marshalRequest appends the request record of a capture. It is short, because it is hardly compressed: what software wrote
// it is said in the answer that it belongs to.
func marshalRequest(out *bytes.Buffer, c models.Capture, answerID string) error {
	block := headBlock(c.Outcome.Request)
	fields := append(commonFields(c, newID()), field{"Content-Type", "application/http;msgtype=request"},
		field{"WARC-Concurrent-To", answerID}, blockDigest(block))
	return marshal(out, "request", fields, block)
}

// commonFields are those of every record of a capture, with room for its others.
func commonFields(c models.Capture, id string) []field {
	return append(make([]field, 0, 12),
		field{"WARC-Record-ID", id},
		field{"WARC-Date", models.At(c.Outcome.At).Time().Format(dateFormat)},
		field{"WARC-Target-URI", c.URL},
		field{"WARC-IP-Address", c.Outcome.RemoteIP},
	)
}

func digestField(d models.Digest) string { return "sha256:" + d.String() }

func statusLine(o models.Outcome) []byte {
	return []byte(protoOf(&o) + " " + strconv.Itoa(o.Status) + " " + http.StatusText(o.Status) + "\r\n")
}

func protoOf(o *models.Outcome) string {
	if o.Proto == "" {
		return "HTTP/1.1"
	}
	return o.Proto
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

// newID is a random UUID (RFC 9562, version 4) as WARC wants it.
func newID() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	text := make([]byte, 0, len("<urn:uuid:>")+36)
	text = hex.AppendEncode(append(text, "<urn:uuid:"...), id[:4])
	for from := 4; from < 10; from += 2 {
		text = hex.AppendEncode(append(text, '-'), id[from:from+2])
	}
	return string(append(hex.AppendEncode(append(text, '-'), id[10:]), '>'))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
