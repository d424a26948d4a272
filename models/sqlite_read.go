package models

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"zombiezen.com/go/sqlite"
)

var (
	errNull  = errors.New("is NULL")
	errLarge = errors.New("is too large")
)

// read reads a column into a field, given by its pointer.
func (s *liteStatement) read(n int, field any) (err error) {
	switch f := field.(type) {
	case *int64:
		*f, err = s.integer(n)
	case *Instant:
		var v int64
		v, err = s.integer(n)
		*f = Instant(v)
	case *int32:
		var v int64
		v, err = s.integer(n)
		if *f = int32(v); int64(*f) != v {
			return errLarge
		}
	case *int16:
		var v int64
		v, err = s.integer(n)
		if *f = int16(v); int64(*f) != v {
			return errLarge
		}
	case *bool:
		var v int64
		v, err = s.integer(n)
		*f = v != 0
	case *string:
		*f, err = s.text(n)
	case *[]byte:
		*f = s.blob(n)
	case *float32:
		*f = float32(s.ColumnFloat(n))
	case *Digest:
		return s.digest(n, f)
	case sql.Scanner:
		return f.Scan(s.value(n))
	default:
		return s.readOther(n, reflect.ValueOf(field).Elem())
	}
	return err
}

// readOther reads a column into a field of a type with a name of its own.
func (s *liteStatement) readOther(n int, field reflect.Value) error {
	switch {
	case field.CanInt():
		v, err := s.integer(n)
		if field.OverflowInt(v) {
			return errLarge
		}
		field.SetInt(v)
		return err
	case field.Kind() == reflect.String:
		v, err := s.text(n)
		field.SetString(v)
		return err
	case field.CanFloat():
		field.SetFloat(s.ColumnFloat(n))
		return nil
	}
	return fmt.Errorf("no column is a %s", field.Type())
}

func (s *liteStatement) integer(n int) (int64, error) {
	v := s.ColumnInt64(n)
	if v == 0 && s.ColumnIsNull(n) {
		return 0, errNull
	}
	return v, nil
}

func (s *liteStatement) text(n int) (string, error) {
	v := s.ColumnText(n)
	if v == "" && s.ColumnIsNull(n) {
		return "", errNull
	}
	return v, nil
}

// blob is the bytes of a column; nil where there are none.
func (s *liteStatement) blob(n int) []byte {
	size := s.ColumnLen(n)
	if size == 0 {
		return nil
	}
	b := make([]byte, size)
	s.ColumnBytes(n, b)
	return b
}

func (s *liteStatement) digest(n int, d *Digest) error {
	switch size := s.ColumnLen(n); size {
	case 0:
		*d = Digest{}
	case len(d):
		s.ColumnBytes(n, d[:])
	default:
		return fmt.Errorf("digest of %d bytes", size)
	}
	return nil
}

// value is a column as a sql.Scanner takes it.
func (s *liteStatement) value(n int) any {
	switch s.ColumnType(n) {
	case sqlite.TypeInteger:
		return s.ColumnInt64(n)
	case sqlite.TypeFloat:
		return s.ColumnFloat(n)
	case sqlite.TypeText:
		return s.ColumnText(n)
	case sqlite.TypeBlob:
		return s.blob(n)
	}
	return nil
}
