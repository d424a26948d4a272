package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// maxPrepared is the most statements that a connection to SQLite keeps; there are about fifty, and some for pages with odd
// columns.
const maxPrepared = 300

// liteConn is a connection to SQLite for the hot statements, which database/sql would make half as fast again: a row of fifty
// columns is read in a fifth of the time without it. It is used by one goroutine at a time.
type liteConn struct {
	*sqlite.Conn
	statements map[string]*liteStatement // by their text for PostgreSQL
	listens    <-chan struct{}           // whose end interrupts what runs; nil: nothing does
}

// sqliteSettings are those of every connection. NORMAL in place of FULL may lose the newest commits on power loss.
var sqliteSettings = []string{"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-65536)",
	"temp_store(MEMORY)"}

// sqliteWait is how long a connection waits for another process that writes.
const sqliteWait = 30 * time.Second

// checkpointWait is how long a checkpoint, for which those who write wait, itself waits for those who read, in milliseconds.
const checkpointWait = "busy_timeout(250)"

// openLite opens a connection that runs further settings.
func openLite(path string, settings ...string) (*liteConn, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(sqliteWait) // first: the settings may have to wait
	c := &liteConn{Conn: conn, statements: make(map[string]*liteStatement)}
	for _, setting := range slices.Concat(sqliteSettings, settings) {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA "+setting, nil); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// run runs a statement without arguments and answers.
func (c *liteConn) run(query string) error {
	_, err := c.exec(query, nil)
	return err
}

// script runs several statements.
func (c *liteConn) script(statements string) error {
	return sqlitex.ExecuteScript(c.Conn, statements, nil)
}

// listen lets a context's end interrupt what runs from now on.
func (c *liteConn) listen(ctx context.Context) {
	if done := ctx.Done(); c.listens != done {
		c.SetInterrupt(done)
		c.listens = done
	}
}

// rollback ends a transaction, unless SQLite did so itself.
func (c *liteConn) rollback() error {
	if c.AutocommitEnabled() {
		return nil
	}
	return c.run("ROLLBACK")
}

var dollar = regexp.MustCompile(`\$(\d+)`)

// numberParameters turns $1, $2, …, which are mere names to SQLite, into its numbered parameters.
func numberParameters(query string) string { return dollar.ReplaceAllString(query, "?$1") }

// statement is the prepared form of a statement. One that is still being answered is prepared once more, for this time.
func (c *liteConn) statement(query string) (*liteStatement, error) {
	if s := c.statements[query]; s != nil && !s.answering {
		return s, nil
	}
	text := numberParameters(sqliteDialect.statement(query))
	keep := c.statements[query] == nil && len(c.statements) < maxPrepared
	if keep {
		stmt, err := c.Prepare(text)
		if err != nil {
			return nil, err
		}
		c.statements[query] = &liteStatement{Stmt: stmt, conn: c}
		return c.statements[query], nil
	}
	stmt, rest, err := c.PrepareTransient(text)
	if err != nil {
		return nil, err
	}
	if rest > 0 {
		return nil, errors.Join(fmt.Errorf("more than one statement: %s", query), stmt.Finalize())
	}
	return &liteStatement{Stmt: stmt, conn: c, once: true}, nil
}

// exec runs a statement and returns how many rows it wrote.
func (c *liteConn) exec(query string, args []any) (int64, error) {
	stmt, err := c.statement(query)
	if err != nil {
		return 0, err
	}
	return stmt.exec(args)
}

// rows runs a query.
func (c *liteConn) rows(query string, args []any) (*liteRows, error) {
	stmt, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	return stmt.rows(args)
}

// errClosed is what a closed store gives.
var errClosed = errors.New("database is closed")

// litePool is a bounded set of connections. It is safe for concurrent use.
type litePool struct {
	open func() (*liteConn, error)
	room chan struct{} // as many as may be in use

	mu     sync.Mutex
	idle   []*liteConn // guarded by mu; the last one is taken first
	closed bool        // guarded by mu
}

func newLitePool(conns int, open func() (*liteConn, error)) *litePool {
	return &litePool{open: open, room: make(chan struct{}, conns)}
}

// take takes a connection, for which it may wait. It is to be given back.
func (p *litePool) take(ctx context.Context) (*liteConn, error) {
	select {
	case p.room <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := p.free()
	if err != nil {
		<-p.room
	}
	return c, err
}

// free is a connection that nobody uses.
func (p *litePool) free() (*liteConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil
	}
	return p.open()
}

// give gives a connection back.
func (p *litePool) give(c *liteConn) {
	p.put(c)
	<-p.room
}

// put is give for who goes on having room for one.
func (p *litePool) put(c *liteConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close() // there is nothing left to be done with it
		return
	}
	p.idle = append(p.idle, c)
}

// rows runs a query on a connection of its own, which the rows give back. What is under way when the context ends, ends with
// its error.
func (p *litePool) rows(ctx context.Context, query string, args []any) (answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	c.listen(ctx)
	rows, err := c.rows(query, args)
	if err != nil {
		p.give(c)
		return nil, cmp.Or(ctx.Err(), err)
	}
	rows.pool, rows.ended = p, ctx.Err
	return rows, nil
}

// moment runs f with a connection to whose queries the database stays as it is.
func (p *litePool) moment(ctx context.Context, f func(*liteConn) error) error {
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer p.give(c)
	c.listen(context.WithoutCancel(ctx)) // its statements are short
	return c.moment(f)
}

// moment runs f in one transaction that only reads. Where each of many look-ups began its own, that took as long as to find the row.
func (c *liteConn) moment(f func(*liteConn) error) (err error) {
	if err := c.run("BEGIN"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.rollback()) }() // it wrote nothing
	return f(c)
}

// close closes the connections, those in use when they are given back.
func (p *litePool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.Close())
	}
	p.idle = nil
	return errors.Join(errs...)
}
