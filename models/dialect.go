package models

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"zombiezen.com/go/sqlite"
)

// dialect is what the two engines say differently. Statements are written for PostgreSQL, with $1 for parameters.
type dialect string

const (
	sqliteDialect   dialect = "sqlite"
	postgresDialect dialect = "postgres"
)

var (
	anyList = regexp.MustCompile(`= ANY\((\$\d+)\)`)
	limit   = regexp.MustCompile(`LIMIT (\$\d+)`)
)

// statement turns a statement for PostgreSQL into one for the engine. SQLite has no row locks and needs none: its
// writers hold the whole file. A parameter that stands alone as a limit may change its plan, so it would prepare the
// statement anew each time another value is bound, which takes longer than to run it; a sum is not looked at. No column is
// NULL for zero.
func (d dialect) statement(query string) string {
	if d == postgresDialect {
		return query
	}
	query = anyList.ReplaceAllString(query, "IN (SELECT value FROM json_each($1))")
	query = limit.ReplaceAllString(query, "LIMIT $1 + 0")
	query = zeroForms.ReplaceAllString(query, "$1")
	return strings.TrimSuffix(strings.ReplaceAll(query, "FOR UPDATE SKIP LOCKED", ""), "FOR UPDATE")
}

// arguments turns lists of numbers into what the engine takes for = ANY($n).
func (d dialect) arguments(args []any) []any {
	if d == postgresDialect {
		return args
	}
	for i, arg := range args {
		switch list := arg.(type) {
		case []int64:
			args[i] = mustJSON(list)
		case []int32:
			args[i] = mustJSON(list)
		case []int16:
			args[i] = mustJSON(list)
		}
	}
	return args
}

// mustJSON is for lists of integers, which always have a JSON form.
func mustJSON(list any) string {
	b, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// transient tells whether a transaction failed only because of others that ran beside it.
func transient(err error) bool {
	if errors.Is(err, errCrossed) || errors.Is(err, errVisited) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "40001" || pg.Code == "40P01"
	}
	primary := sqlite.ErrCode(err).ToPrimary()
	return primary == sqlite.ResultBusy || primary == sqlite.ResultLocked
}

// isMissingTable tells whether a statement failed because it names a table that the database does not have.
func isMissingTable(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "42P01"
	}
	return err != nil && strings.Contains(err.Error(), "no such table")
}
