package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/mattn/go-isatty"
)

// globals is what every command has: the flags that all share and the streams of the process. Only stdin, stdout and
// stderr given here are used, so a test runs a command in its own process.
type globals struct {
	ConfigPath string `name:"config" short:"c" type:"path" placeholder:"FILE" help:"Configuration; default /etc/recrawld/recrawld.yaml, or else recrawld.yaml in the data directory, where one exists; a command beside a daemon goes by the daemon's."`
	Data       string `name:"data" type:"path" placeholder:"DIR" help:"Directory of all state; default ./recrawld-data, under systemd $$STATE_DIRECTORY."`
	StoreURL   string `name:"store" placeholder:"URL" help:"\"sqlite\" (a file in the data directory, the default) or postgres://…"`
	JSON       bool   `name:"json" help:"Print JSON instead of a table."`
	LogFormat  string `name:"log" enum:"auto,text,json" default:"auto" help:"Form of the log on standard error: text, json, auto (json under systemd)."`
	Verbose    bool   `name:"verbose" short:"v" help:"Log every visit."`

	Stdin  io.Reader    `kong:"-"`
	Stdout io.Writer    `kong:"-"` // what a command answers
	Stderr io.Writer    `kong:"-"` // log, progress, complaints
	Log    *slog.Logger `kong:"-"`

	followed bool   // it was looked for the daemon's configuration
	fileDir  string // from which relative directories of the file go; "": from here
}

// connect attaches the streams and builds the log once the flags are known.
func (g *globals) connect(stdin io.Reader, stdout, stderr io.Writer) {
	g.Stdin, g.Stdout, g.Stderr = stdin, stdout, stderr
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if g.Verbose {
		options.Level = slog.LevelDebug
	}
	if g.LogFormat == "json" || g.LogFormat == "auto" && underSystemd() {
		g.Log = slog.New(slog.NewJSONHandler(stderr, options))
		return
	}
	if g.LogFormat == "auto" && isTerminal(stderr) {
		g.Log = slog.New(newConsole(stderr, g.Verbose, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"))
		return
	}
	g.Log = slog.New(slog.NewTextHandler(stderr, options))
}

// underSystemd tells whether the process is a service whose log goes to the journal.
func underSystemd() bool {
	return os.Getenv("INVOCATION_ID") != "" && os.Getenv("JOURNAL_STREAM") != ""
}

// isTerminal tells whether a stream is one that a person looks at.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
