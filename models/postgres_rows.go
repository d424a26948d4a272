package models

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// postgresRows is the rows of a query of PostgreSQL. A claim reads fifty columns a page: it takes the kinds of field that the
// tables have from the bytes that came, without a value in between, and leaves the others to pgx.
type postgresRows struct {
	pgx.Rows
	types   *pgtype.Map
	fields  []pgconn.FieldDescription
	results pgx.BatchResults // which they are the last of; nil: they are by themselves
}

// answerOf is what a query of PostgreSQL gave.
func answerOf(rows pgx.Rows, err error) (answer, error) {
	if err != nil {
		return nil, err
	}
	return &postgresRows{Rows: rows}, nil
}

// Close implements answer.
func (r *postgresRows) Close() error {
	r.Rows.Close()
	if r.results != nil {
		_ = r.results.Close() // an error is that of the rows
	}
	return nil
}

// Scan implements answer.
func (r *postgresRows) Scan(into ...any) error { return r.scan(into, false) }

// scan reads a row; a NULL is zero where that is said, and else an error where the field has no place for it.
func (r *postgresRows) scan(into []any, nullIsZero bool) error {
	if r.fields == nil {
		r.fields, r.types = r.FieldDescriptions(), r.Conn().TypeMap()
	}
	raw := r.RawValues()
	if len(raw) != len(into) {
		return fmt.Errorf("%d fields for %d columns", len(into), len(raw))
	}
	for i, field := range into {
		var done bool
		var err error
		switch of := &r.fields[i]; {
		case raw[i] == nil && nullIsZero:
			done = setZero(field)
		case raw[i] != nil:
			done, err = setField(field, raw[i], of.DataTypeOID, of.Format == pgtype.BinaryFormatCode)
		}
		if !done && err == nil {
			err = r.types.Scan(r.fields[i].DataTypeOID, r.fields[i].Format, raw[i], field)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", r.fields[i].Name, err)
		}
	}
	return nil
}

// setZero is setField for a NULL that stands for zero.
func setZero(field any) (done bool) {
	switch f := field.(type) {
	case *int64:
		*f = 0
	case *int32:
		*f = 0
	case *int16:
		*f = 0
	case *Instant:
		*f = 0
	case *time.Duration:
		*f = 0
	case *PageState:
		*f = 0
	case *ErrorClass:
		*f = 0
	case *Rule:
		*f = 0
	case *bitsField:
		*f = 0
	case *string:
		*f = ""
	case *bool:
		*f = false
	case *float32:
		*f = 0
	case *Digest:
		*f = Digest{}
	case *Print:
		*f = Print{}
	case *chainField:
		*f = nil
	default:
		return false
	}
	return true
}

// setField sets a field of a kind that it knows, and tells whether it does.
func setField(field any, raw []byte, oid uint32, inBinary bool) (done bool, err error) {
	switch f := field.(type) {
	case *string:
		if done = oid == pgtype.TextOID; done {
			*f = string(raw)
		}
		return done, nil
	case *[]byte:
		if done = inBinary && oid == pgtype.ByteaOID; done {
			*f = bytes.Clone(raw)
		}
		return done, nil
	case *Digest:
		if done = inBinary && oid == pgtype.ByteaOID && len(raw) == len(f); done {
			copy(f[:], raw)
		}
		return done, nil
	case *bool:
		if done = inBinary && oid == pgtype.BoolOID && len(raw) == 1; done {
			*f = raw[0] != 0
		}
		return done, nil
	case *float32:
		if done = inBinary && oid == pgtype.Float4OID && len(raw) == 4; done {
			*f = math.Float32frombits(binary.BigEndian.Uint32(raw))
		}
		return done, nil
	}
	if n, ok := wholeOf(raw, oid); ok && inBinary {
		return setWhole(field, n)
	}
	return false, nil
}

// wholeOf is a number as the binary format has it.
func wholeOf(raw []byte, oid uint32) (n int64, ok bool) {
	switch {
	case oid == pgtype.Int8OID && len(raw) == 8:
		return int64(binary.BigEndian.Uint64(raw)), true
	case oid == pgtype.Int4OID && len(raw) == 4:
		return int64(int32(binary.BigEndian.Uint32(raw))), true
	case oid == pgtype.Int2OID && len(raw) == 2:
		return int64(int16(binary.BigEndian.Uint16(raw))), true
	}
	return 0, false
}

// setWhole is setField for a number.
func setWhole(field any, n int64) (done bool, err error) {
	switch f := field.(type) {
	case *int64:
		*f = n
	case *Instant:
		*f = Instant(n)
	case *time.Duration:
		*f = time.Duration(n)
	case *bitsField:
		*f = bitsField(n)
	case *int32:
		return true, narrow(f, n)
	case *int16:
		return true, narrow(f, n)
	case *PageState:
		return true, narrow(f, n)
	case *ErrorClass:
		return true, narrow(f, n)
	case *Rule:
		return true, narrow(f, n)
	case *OutcomeKind:
		return true, narrow(f, n)
	default:
		return false, nil
	}
	return true, nil
}

// narrow sets a field of fewer bits than the number has.
func narrow[N ~int8 | ~int16 | ~int32 | ~uint8](f *N, n int64) error {
	if *f = N(n); int64(*f) != n {
		return fmt.Errorf("%d is out of range for %T", n, *f)
	}
	return nil
}
