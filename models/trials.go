package models

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
)

// Hint is a promise of a server about its pages that can prove false.
type Hint int

// The hints.
const (
	HintETag         Hint = iota // the same entity tag means the same content, another one another content
	HintLastModified             // likewise
	HintExpires                  // the page is current until then
	HintNotModified              // a 304 means the same content
	hints
)

var hintWords = []string{"etag", "last-modified", "expires", "not-modified"}

// String is the hint's word.
func (h Hint) String() string { return word(hintWords, int(h)) }

// Verdict is what a visit showed of a hint.
type Verdict int

// The verdicts.
const (
	HintHit        Verdict = iota // it said what was so
	HintMiss                      // it said unchanged where the content had changed
	HintFalseAlarm                // it said changed where the bytes were the same
	HintLate                      // it promised what did not hold as long, or named a time of change that cannot be
)

// Finding is what one visit showed of one hint.
type Finding struct {
	Hint    Hint
	Verdict Verdict
}

// Trial is the ledger of one hint. Counts saturate.
type Trial struct {
	Hits, Misses, FalseAlarms, Late uint16
	Since                           Instant // the first finding since it was last trusted anew; 0: none
	DistrustedAt                    Instant // when it was last found lying; 0: it is trusted
}

// Trials is what a host's hints proved to be worth. The zero Trials trust everything.
type Trials struct {
	By        [hints]Trial // by Hint
	AuditedAt Instant      // the last visit without conditions that was made to find out; 0: none
	Visits    uint32       // conditional visits since then
	ProbedAt  Instant      // when a name that does not exist was last asked for; 0: never
}

// IsZero tells whether nothing is known.
func (t *Trials) IsZero() bool { return *t == Trials{} }

// trialsForm is the first byte of stored Trials.
const trialsForm = 1

var errTrials = errors.New("trials are damaged")

// Value implements driver.Valuer: some twenty bytes, NULL where nothing is known.
func (t *Trials) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil
	}
	b := []byte{trialsForm}
	for _, v := range []int64{int64(t.AuditedAt), int64(t.Visits), int64(t.ProbedAt)} {
		b = binary.AppendVarint(b, v)
	}
	for i := range t.By {
		tr := &t.By[i]
		for _, v := range []int64{int64(tr.Hits), int64(tr.Misses), int64(tr.FalseAlarms), int64(tr.Late), int64(tr.Since),
			int64(tr.DistrustedAt)} {
			b = binary.AppendVarint(b, v)
		}
	}
	return b, nil
}

// Scan implements sql.Scanner.
func (t *Trials) Scan(src any) error {
	*t = Trials{}
	b, ok := src.([]byte)
	switch {
	case src == nil || ok && len(b) == 0:
		return nil
	case !ok:
		return fmt.Errorf("trials from %T", src)
	case b[0] != trialsForm:
		return fmt.Errorf("trials of form %d", b[0])
	}
	b = b[1:]
	next := func() (v int64) {
		v, n := binary.Varint(b)
		if n <= 0 {
			ok = false
			return 0
		}
		b = b[n:]
		return v
	}
	t.AuditedAt, t.Visits, t.ProbedAt = Instant(next()), uint32(next()), Instant(next())
	for i := range t.By {
		t.By[i] = Trial{Hits: uint16(next()), Misses: uint16(next()), FalseAlarms: uint16(next()), Late: uint16(next()),
			Since: Instant(next()), DistrustedAt: Instant(next())}
	}
	if !ok || len(b) > 0 {
		return errTrials
	}
	return nil
}
