package models

import (
	"errors"

	"zombiezen.com/go/sqlite"
)

// ErrLeaseLost says that a host was claimed by somebody else before the result of a visit was committed: the result
// is discarded.
var ErrLeaseLost = errors.New("lease lost")

// ErrNotFound says that no such row exists.
var ErrNotFound = errors.New("not found")

// ErrNoSchema says that a database exists and has none of our tables.
var ErrNoSchema = errors.New("database has none of recrawld's tables")

// ErrOlderSchema says that the database was written by an older binary and is read once it is brought up to date.
var ErrOlderSchema = errors.New("database is of an earlier release")

// ErrNewerSchema says that the database was written by a newer binary.
var ErrNewerSchema = errors.New("database schema is newer than this binary")

// IsDamaged tells whether an error says that a SQLite file is damaged, or is none.
func IsDamaged(err error) bool {
	code := sqlite.ErrCode(err)
	var plain interface {
		error
		Code() int
	}
	if errors.As(err, &plain) { // of database/sql
		code = sqlite.ResultCode(plain.Code())
	}
	return code.ToPrimary() == sqlite.ResultCorrupt || code.ToPrimary() == sqlite.ResultNotADB
}
