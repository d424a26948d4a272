package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"recrawld/config"
	"recrawld/models"
)

// The exit codes, as `recrawld --help` and the README list them.
const (
	exitDone     = 0
	exitFailed   = 1 // anything without a code of its own
	exitUsage    = 2 // the command line or the configuration is wrong, also by a file that is not there, or a place that is taken
	exitNotFound = 3 // no such page, site or version
	exitRefused  = 4 // the rules forbid it: no contact, robots.txt, an address that is not dialled
	exitLocked   = 7 // somebody else has what a daemon has alone: the data directory, the worker's name, the address to listen on
)

// coded is an error that ends the program with a code of its own.
type coded struct {
	code int
	err  error
}

// Error implements error.
func (e coded) Error() string { return e.err.Error() }

// Unwrap returns the error without its code.
func (e coded) Unwrap() error { return e.err }

// usagef, notFoundf and refusedf are fmt.Errorf with an exit code.
func usagef(format string, args ...any) error { return coded{exitUsage, fmt.Errorf(format, args...)} }

func notFoundf(format string, args ...any) error {
	return coded{exitNotFound, fmt.Errorf(format, args...)}
}

func refusedf(format string, args ...any) error {
	return coded{exitRefused, fmt.Errorf(format, args...)}
}

// named is the error of a file that the command line names: where it is not there, or is and must not be, the command line is wrong.
func named(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return coded{exitUsage, err}
	}
	return err
}

// exitCode is the code that an error ends the program with.
func exitCode(err error) int {
	var c coded
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &c):
		return c.code
	case errors.Is(err, models.ErrNotFound):
		return exitNotFound
	}
	return exitFailed
}

// runContext parses args, runs the command until it is done or ctx ends, and returns the exit code.
func runContext(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c cli
	helped := false // --help has printed what it has to say; what is wrong with the rest of the line is of no interest
	parser, err := newParser(&c, kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }))
	if err != nil {
		return complain(stderr, err)
	}
	if len(args) > 0 && args[0] == "--version" { // no flag of kong's: show has one of that name
		args = append([]string{"version"}, args[1:]...)
	}
	parsed, err := parser.Parse(args)
	if helped {
		return exitDone
	}
	if err != nil {
		return complain(stderr, usagef("%w (%s --help lists what there is)", err, commandOf(err)))
	}
	c.Globals.connect(stdin, stdout, stderr)
	parsed.BindTo(ctx, (*context.Context)(nil))
	return complain(stderr, plainly(ctx, parsed.Run(&c.Globals)))
}

// commandOf is the command of a line that cannot be read, as far as it names one.
func commandOf(err error) string {
	name := "recrawld"
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) {
		return name
	}
	for _, part := range wrong.Context.Path {
		if part.Command != nil {
			name = part.Command.FullPath()
		}
	}
	return name
}

// plainly is the error of a command, "interrupted" where the end of ctx is all that it has to say.
func plainly(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

// newParser reads the command line into c.
func newParser(c *cli, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append(more, kong.Name("recrawld"), kong.Description(description), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)))...)
}

// decodeDuration reads a time on the command line as the configuration writes it: "90m", "7d".
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("time", &text); err != nil {
		return err
	}
	d, err := config.ParseDuration(text)
	target.SetInt(int64(d))
	return err
}

// complain says what went wrong, if anything did, and returns the exit code.
func complain(stderr io.Writer, err error) int {
	if err != nil {
		fmt.Fprintf(stderr, "recrawld: %v%s\n", err, foreignHint(err))
	}
	return exitCode(err)
}

// foreignHint says what to do about a file that belongs to somebody else, as those of a daemon do that runs as its own user.
func foreignHint(err error) string {
	var file *fs.PathError
	if errors.Is(err, fs.ErrPermission) && errors.As(err, &file) && !strings.Contains(err.Error(), "with sudo") {
		return " (run it as the user whose " + filepath.Dir(file.Path) + " is, or with sudo)"
	}
	return ""
}

const description = `Keeps a known set of URLs fresh: visits them, learns how often each changes, visits each about that often.

Exit codes: 0 done · 1 failed · 2 wrong command line or configuration (also: a file that it names is not there,
or is there already) · 3 no such page, site or version · 4 refused by the rules (no contact, robots.txt, address not
dialled) · 7 the data directory, the worker's name or the address to listen on is in use.`
