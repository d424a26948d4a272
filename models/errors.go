package models

import "errors"

// ErrLeaseLost says that a host was claimed by somebody else before the result of a visit was committed: the result
// is discarded.
var ErrLeaseLost = errors.New("lease lost")

// ErrNotFound says that no such row exists.
var ErrNotFound = errors.New("not found")

// ErrNoSchema says that a database exists and has none of our tables.
var ErrNoSchema = errors.New("database has none of recrawld's tables")

// ErrNewerSchema says that the database was written by a newer binary.
var ErrNewerSchema = errors.New("database schema is newer than this binary")
