// Command recrawld keeps a known set of URLs fresh: it visits them, learns how often each changes, and visits each
// about as often as that. Run `recrawld --help` for its commands.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

// cli is the command line. A command is a struct of its flags with a method Run(*globals) error, or
// Run(context.Context, *globals) error where it waits for something; a new one is a file and a line here.
type cli struct {
	Globals globals `embed:""`

	Run      runCmd      `cmd:"" help:"Run the daemon: visit what is due, learn, keep what changed."`
	Worker   workerCmd   `cmd:"" help:"Run one more worker on a PostgreSQL that several share."`
	Demo     demoCmd     `cmd:"" help:"Show what the daemon does, on a made-up site that lives fast."`
	Add      addCmd      `cmd:"" help:"Look at a site, say what keeping it fresh costs, and add it."`
	Import   importCmd   `cmd:"" help:"Add the pages of a list, a sitemap, an archive or another crawler's mirror."`
	Status   statusCmd   `cmd:"" help:"One screen: sites, pages, the daemon, today."`
	Due      dueCmd      `cmd:"" help:"What will be visited, and when."`
	Why      whyCmd      `cmd:"" help:"When a page is visited next and why then, or why it is not."`
	Changes  changesCmd  `cmd:"" help:"What happened to pages, the newest first."`
	Show     showCmd     `cmd:"" help:"A page and its versions, or the body of one."`
	Diff     diffCmd     `cmd:"" help:"What changed between two versions of a page."`
	Noise    noiseCmd    `cmd:"" help:"What was learned of a site's noise: parts that change and do not count. Pin it, or clear it."`
	Report   reportCmd   `cmd:"" help:"Change rates, days, hosts, hints, responses, calibration: as text, CSV or JSON."`
	Plan     planCmd     `cmd:"" help:"What a service level takes, or what a budget reaches."`
	Simulate simulateCmd `cmd:"" help:"Try policies and budgets on change histories, made-up worlds, or the visits recorded here."`
	Pause    pauseCmd    `cmd:"" help:"Stop visiting a site, or --all, for the time being."`
	Resume   resumeCmd   `cmd:"" help:"Go on visiting a site, or --all."`
	Approve  approveCmd  `cmd:"" help:"Let pages of a site count as gone that are held back because too many are lost at once."`
	Remove   removeCmd   `cmd:"" help:"Forget a site with all its pages."`
	Visit    visitCmd    `cmd:"" help:"Give a page its turn now."`
	Export   exportCmd   `cmd:"" help:"Versions for other tools, a CDXJ index, a WARC file or a WACZ package; or a folder that opens in a browser."`
	Backup   backupCmd   `cmd:"" help:"Take a checkpoint of the database while it is used."`
	Restore  restoreCmd  `cmd:"" help:"Go back to a checkpoint."`
	Sink     sinkCmd     `cmd:"" help:"The mirror and other sinks: how far they are, and making one anew."`
	Verify   verifyCmd   `cmd:"" help:"Read the archive and the mirror again: does what lies on disk still say what the database says?"`
	DB       dbCmd       `cmd:"" name:"db" help:"The database itself: spreading it over servers, checking its counts, undoing what a clock that was ahead wrote."`
	Config   configCmd   `cmd:"" help:"Check, show, compare and begin configurations."`
	Filter   filterCmd   `cmd:"" help:"Try scopes and filters on URLs."`
	Bench    benchCmd    `cmd:"" help:"Measure what visits cost on this machine, on made-up sites."`
	Version  versionCmd  `cmd:"" help:"Print the version; so does recrawld --version."`

	Completion completionCmd `cmd:"" help:"Print what has a shell complete these commands and their flags."`
	Complete   completeCmd   `cmd:"" hidden:""`
	Manual     manualCmd     `cmd:"" hidden:""`
}

func main() {
	// net/http quotes there what servers send unasked, as often as they like. What came of a visit is in our own log.
	log.SetOutput(io.Discard)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: it parses args, runs the command and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal()
	defer stop()
	return runContext(ctx, args, stdin, stdout, stderr)
}

// untilSignal returns a context that the first SIGINT or SIGTERM ends. The second ends the process at once, as it would
// have without us, however soon it comes after the first. stop ends the listening.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan os.Signal, 2)
	signal.Notify(heard, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for s := range heard {
			if ctx.Err() != nil {
				signal.Reset(s)
				_ = syscall.Kill(os.Getpid(), s.(syscall.Signal)) // it cannot fail on ourselves
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(heard)
		close(heard)
		cancel()
	}
}
