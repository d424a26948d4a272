package archive

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"recrawld/models"
)

// Writer writes a WARC file that stands for itself: records of segments as they are, and new ones where those would refer to what is
// not in it. It is not safe for concurrent use.
type Writer struct {
	out     io.Writer
	end     int64 // of what was written
	info    string
	members members
	plain   bytes.Buffer
	packed  bytes.Buffer
}

// Place is where a record lies in what a Writer wrote.
type Place struct{ Offset, Length int64 }

// NewWriter begins a file with a warcinfo record: the file's name, what software wrote it, and for a person what is in it.
func NewWriter(out io.Writer, name, software, about string, now time.Time) (*Writer, error) {
	w := &Writer{out: out}
	text := infoText(software) + "description: " + oneLine(about) + "\r\n"
	var err error
	if w.info, err = marshalInfo(&w.plain, name, now, text); err == nil {
		_, err = w.pack()
	}
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", name, err)
	}
	return w, nil
}

// Copy writes a record as it is.
func (w *Writer) Copy(s Stored) (Place, error) { return w.write(s.packed) }

// Adopt writes a record as it is, but for the warcinfo record that it names: that becomes the file's own.
func (w *Writer) Adopt(s Stored) (Place, error) {
	fields := make([]field, 0, len(s.record.fields))
	for _, f := range s.record.fields {
		switch f.name {
		case "WARC-Type", "Content-Length": // marshal writes them
			continue
		case "WARC-Warcinfo-ID":
			f.value = w.info
		}
		fields = append(fields, f)
	}
	if err := marshal(&w.plain, s.record.field("WARC-Type"), fields, s.record.block); err != nil {
		return Place{}, err
	}
	return w.pack()
}

// Capture is an answer that is written anew: its own header where that is known, and a body.
type Capture struct {
	URL  string
	At   time.Time
	Head Stored // whose status line, header and address are taken
	Body Stored // whose body is taken
}

// Whole writes a capture as a response record with its body.
func (w *Writer) Whole(c Capture) (at Place, id string, err error) {
	head, body, id := c.Head.head(), c.Body.Body(), newID()
	err = marshal(&w.plain, "response", append(w.fields(c, id), field{"WARC-Payload-Digest", digestField(models.DigestOf(body))},
		blockDigest(head, body)), head, body)
	if err == nil {
		at, err = w.pack()
	}
	return at, id, err
}

// Revisit writes a capture as a revisit record that refers to the response of another, which was written before.
func (w *Writer) Revisit(c Capture, url string, at time.Time) (place Place, id string, err error) {
	head, id := c.Head.head(), newID()
	err = marshal(&w.plain, "revisit", append(w.fields(c, id),
		field{"WARC-Payload-Digest", digestField(models.DigestOf(c.Body.Body()))},
		field{"WARC-Profile", revisitProfile},
		field{"WARC-Refers-To-Target-URI", url},
		field{"WARC-Refers-To-Date", at.UTC().Format(dateFormat)},
		blockDigest(head)), head)
	if err == nil {
		place, err = w.pack()
	}
	return place, id, err
}

// Request writes the request of an answer that was written anew and now has this ID.
func (w *Writer) Request(s Stored, answerID string) error {
	fields := make([]field, 0, len(s.record.fields)+1)
	kept := map[string]bool{"WARC-Date": true, "WARC-Target-URI": true, "WARC-IP-Address": true, "Content-Type": true}
	fields = append(fields, field{"WARC-Record-ID", newID()})
	for _, f := range s.record.fields {
		if kept[f.name] {
			fields = append(fields, f)
		}
	}
	err := marshal(&w.plain, "request", append(fields, field{"WARC-Concurrent-To", answerID}, blockDigest(s.record.block)), s.record.block)
	if err == nil {
		_, err = w.pack()
	}
	return err
}

// fields are those of every new record, with room for its others.
func (w *Writer) fields(c Capture, id string) []field {
	return append(make([]field, 0, 12),
		field{"WARC-Record-ID", id},
		field{"WARC-Date", c.At.UTC().Format(dateFormat)},
		field{"WARC-Target-URI", c.URL},
		field{"WARC-IP-Address", c.Head.record.field("WARC-IP-Address")},
		field{"WARC-Warcinfo-ID", w.info},
		field{"Content-Type", "application/http;msgtype=response"},
	)
}

// pack compresses what was serialised and writes it.
func (w *Writer) pack() (Place, error) {
	defer w.plain.Reset()
	w.packed.Reset()
	if err := w.members.append(&w.packed, w.plain.Bytes()); err != nil {
		return Place{}, err
	}
	return w.write(w.packed.Bytes())
}

func (w *Writer) write(packed []byte) (Place, error) {
	at := Place{Offset: w.end, Length: int64(len(packed))}
	n, err := w.out.Write(packed)
	w.end += int64(n)
	return at, err
}
