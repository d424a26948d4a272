package models

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"reflect"

	"zombiezen.com/go/sqlite"
)

// answer is the rows of a query, from either engine: Scan reads one that Next found, and Close may be called at any time.
type answer interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close() error
}

// liteStatement is a prepared statement of a connection to SQLite.
type liteStatement struct {
	*sqlite.Stmt
	conn      *liteConn
	once      bool // it is not kept
	answering bool // its rows are being read
}

// exec runs a statement and returns how many rows it wrote.
func (s *liteStatement) exec(args []any) (int64, error) {
	if err := s.bind(args); err != nil {
		return 0, err
	}
	return s.execBound()
}

// execRow is exec with the values of fields, given by their pointers.
func (s *liteStatement) execRow(fields []any) (int64, error) {
	for i, field := range fields {
		s.bindField(i+1, field)
	}
	return s.execBound()
}

func (s *liteStatement) execBound() (int64, error) {
	for {
		more, err := s.Step()
		if err != nil || !more {
			n := s.conn.Changes()
			if reset := s.end(); err == nil {
				err = reset
			}
			return int64(n), err
		}
	}
}

// rows runs a query.
func (s *liteStatement) rows(args []any) (*liteRows, error) {
	if err := s.bind(args); err != nil {
		return nil, err
	}
	s.answering = true
	return &liteRows{statement: s}, nil
}

// end makes the statement ready for another time.
func (s *liteStatement) end() error {
	s.answering = false
	if s.once {
		return s.Finalize()
	}
	return s.Reset()
}

func (s *liteStatement) bind(args []any) error {
	wanted := s.BindParamCount()
	if len(args) < wanted {
		return fmt.Errorf("%d arguments for a statement of %d parameters", len(args), wanted)
	}
	for i, arg := range args[:wanted] {
		if err := s.bindValue(i+1, arg); err != nil {
			return err
		}
	}
	return nil
}

// bindValue binds a value, which may be of any kind that a column has.
func (s *liteStatement) bindValue(n int, value any) error {
	switch v := value.(type) {
	case nil:
		s.BindNull(n)
	case int64:
		s.BindInt64(n, v)
	case int16:
		s.BindInt64(n, int64(v))
	case int:
		s.BindInt64(n, int64(v))
	case string:
		s.BindText(n, v)
	case []byte:
		s.bindBlob(n, v)
	case bool:
		s.BindBool(n, v)
	case float64:
		s.BindFloat(n, v)
	case driver.Valuer:
		plain, err := v.Value()
		if err != nil {
			return err
		}
		return s.bindValue(n, plain)
	default:
		return s.bindOther(n, reflect.ValueOf(value))
	}
	return nil
}

// bindOther binds a value of a type with a name of its own.
func (s *liteStatement) bindOther(n int, value reflect.Value) error {
	switch {
	case value.CanInt():
		s.BindInt64(n, value.Int())
	case value.Kind() == reflect.String:
		s.BindText(n, value.String())
	case value.Kind() == reflect.Bool:
		s.BindBool(n, value.Bool())
	case value.CanFloat():
		s.BindFloat(n, value.Float())
	default:
		return fmt.Errorf("no column takes a %s", value.Type())
	}
	return nil
}

// bindField binds the value of a field, given by its pointer: valueOf, without the memory that this takes.
func (s *liteStatement) bindField(n int, field any) {
	if number, ok := numberOf(field); ok {
		s.BindInt64(n, number)
		return
	}
	switch f := field.(type) {
	case *string:
		s.BindText(n, Clean(*f))
	case *bool:
		s.BindBool(n, *f)
	case *Digest:
		if f.IsZero() {
			s.BindNull(n)
		} else {
			s.BindBytes(n, f[:])
		}
	case *Print:
		if f.IsZero() {
			s.BindNull(n)
		} else {
			s.BindBytes(n, f[:])
		}
	default:
		if err := s.bindValue(n, valueOf(field)); err != nil {
			panic(err) // valueOf gives what every column takes
		}
	}
}

// bindBlob binds bytes. SQLite's other driver reads an empty blob as NULL: let no engine tell them apart.
func (s *liteStatement) bindBlob(n int, b []byte) {
	if len(b) == 0 {
		s.BindNull(n)
		return
	}
	s.BindBytes(n, b)
}

// liteRows is the rows of a query of SQLite. When they are read or closed their connection is given back, where it came from
// a pool.
type liteRows struct {
	statement *liteStatement // nil: all is read
	pool      *litePool
	ended     func() error // why it was to end before all is read, if it was; nil: it never is
	err       error
}

// Next implements answer.
func (r *liteRows) Next() bool {
	if r.statement == nil {
		return false
	}
	more, err := r.statement.Step()
	if r.err = err; err != nil && r.ended != nil {
		r.err = cmp.Or(r.ended(), err)
	}
	if !more || err != nil {
		if err := r.Close(); r.err == nil {
			r.err = err
		}
	}
	return more && err == nil
}

// Err implements answer.
func (r *liteRows) Err() error { return r.err }

// Close implements answer.
func (r *liteRows) Close() error {
	if r.statement == nil {
		return nil
	}
	conn := r.statement.conn
	err := r.statement.end()
	r.statement = nil
	if r.pool != nil {
		r.pool.give(conn)
	}
	return err
}

// Scan implements answer.
func (r *liteRows) Scan(into ...any) error {
	if got := r.statement.ColumnCount(); got != len(into) {
		return fmt.Errorf("%d columns for %d fields", got, len(into))
	}
	for i, field := range into {
		if err := r.statement.read(i, field); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}
