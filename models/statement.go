package models

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
)

// statement is a prepared statement of SQLite. It is prepared with parameters without names: for each of those with one,
// and $1 is a name to SQLite, the driver copies the name at every execution.
type statement struct {
	*sql.Stmt
	order []int // the argument of each parameter
}

var dollar = regexp.MustCompile(`\$(\d+)`)

// positional turns $1, $2, … into parameters without names, and tells which argument belongs to each.
func positional(query string) (text string, order []int) {
	text = dollar.ReplaceAllStringFunc(query, func(name string) string {
		n, _ := strconv.Atoi(name[1:]) // they are digits
		order = append(order, n-1)
		return "?"
	})
	return text, order
}

// arrange is the arguments in the order of the parameters.
func (s *statement) arrange(args []any) []any {
	arranged := make([]any, len(s.order))
	for i, n := range s.order {
		arranged[i] = args[n]
	}
	return arranged
}

// exec and rows run the statement. It is short, so the driver need not listen, in a goroutine made for each, whether the
// context ends meanwhile.
func (s *statement) exec(ctx context.Context, args []any) (sql.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.ExecContext(context.WithoutCancel(ctx), s.arrange(args)...)
}

func (s *statement) rows(ctx context.Context, args []any) (*sql.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.QueryContext(context.WithoutCancel(ctx), s.arrange(args)...)
}
