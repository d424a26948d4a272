package archive

import (
	"bytes"

	"recrawld/models"
)

// parcel is a capture as it goes into a segment: two gzip members, the answer and its request. It is used again, for its
// room.
type parcel struct {
	packed       bytes.Buffer
	answerLength int64 // compressed

	answer, request bytes.Buffer // before compression
}

// mostStored is the length in bytes of the longest request record that is stored as it is.
const mostStored = 1 << 10

// pack fills the parcel.
func (p *parcel) pack(m *members, c models.Capture, id, info string) error {
	p.packed.Reset()
	p.answer.Reset()
	p.answer.Grow(len(c.Outcome.Body) + len(c.Outcome.Header) + 2048)
	if err := marshalAnswer(&p.answer, c, id, info); err != nil {
		return err
	}
	if err := m.append(&p.packed, p.answer.Bytes()); err != nil {
		return err
	}
	p.answerLength = int64(p.packed.Len())
	if len(c.Outcome.Request) == 0 {
		return nil
	}
	p.request.Reset()
	if err := marshalRequest(&p.request, c, id); err != nil {
		return err
	}
	if p.request.Len() > mostStored {
		return m.append(&p.packed, p.request.Bytes())
	}
	return m.store(&p.packed, p.request.Bytes())
}

// held is the answer of a capture as Read would return it. It shares the capture's body, or has a copy where that lies in
// much more room than it needs, since whoever holds the answer holds all of it.
func held(c models.Capture) Answer {
	o := &c.Outcome
	body := o.Body[:len(o.Body):len(o.Body)]
	if body == nil || cap(o.Body)-len(o.Body) > heldOverhead {
		body = append([]byte{}, body...)
	}
	a := Answer{URL: c.URL, At: models.At(o.At).Time(), Proto: protoOf(o), Status: o.Status, Body: body, Digest: o.Digest}
	if a.Digest.IsZero() {
		a.Digest = models.DigestOf(a.Body)
	}
	if header := headBlock(o.Header); len(header) > len("\r\n") {
		a.Header = header[:len(header)-len("\r\n")]
	}
	return a
}
