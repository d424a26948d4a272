package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/sink"
	"recrawld/verify"
)

// verifyCmd holds what lies on disk against what the database says.
type verifyCmd struct {
	Site   string        `placeholder:"NAME" help:"Only this site."`
	Sample verify.Sample `placeholder:"N" help:"Only a random part: a number of versions and files, or a share such as 5%."`
	Only   string        `enum:"archive,mirror," default:"" placeholder:"PART" help:"Only archive or mirror."`
	Mend   bool          `help:"Have what is lost stored anew, as far as it can be had again."`
	Gone   []string      `placeholder:"WORKER" help:"With --mend: the archive of this worker is gone for good. May be repeated."`
	Yes    bool          `short:"y" help:"Mend also where the archive holds nothing at all."`
	Limit  int           `default:"20" help:"Troubles listed of each part; 0 for all."`

	Upstream int           `placeholder:"N" help:"Instead, have the daemon ask the sites of N pages drawn at random whether our copies are what they serve now."`
	Wait     time.Duration `default:"1h" placeholder:"TIME" help:"With --upstream: how long to wait for their answers."`
}

// Help is the text below the flags.
func (verifyCmd) Help() string {
	return `Reads the record of each version in the archive, in the order of their places and each once, and the mirror's file of each page,
and compares their digests; files of the mirror that no page has are named as well. Without --site and --sample it looks through all segments,
too, for damaged records of requests and of what else has no answer, and for bytes that are no record, also behind the last one. It runs beside a daemon, where nobody else waits for
the disk; what differs is looked up in the database once more before it is called wrong. Ctrl-C ends it with what was found so far. Exit
code 1 says that something is wrong. A --sample says how much of the whole may be, with 95 % confidence (Clopper and Pearson 1934).

--mend points versions to another record of the same body, where there is one. What is lost it notes as that, so that nothing refers to it
any more, and the live pages whose newest version is lost are visited next, as politely as always and for the whole page: what comes is
stored, also where it has not changed. Older versions that nobody has any more stay listed as lost. A mirror with faults is made anew. Do it
again at will. What lies in the archive of a worker of another machine is that machine's to verify, unless --gone says that it is lost; a
mirror that waits for it goes on then. Segments that come back from a backup are found again by the next --mend.

--upstream says what all copies are worth, by a random sample of the live pages. They are visited next, as politely as always: 300 pages of a
host with a delay of 10 s take 50 minutes. The visits count for the budget, and what they find is stored and learned from as by any other. They are asked
conditionally where their hosts' validators are trusted (recrawld report hints). Copies that were out of date are no fault: the exit code is 0.`
}

// verified is what came of it; its JSON form is that of the command.
type verified struct {
	Archive  *archiveVerified  `json:"archive,omitempty"`
	Mirror   *mirrorVerified   `json:"mirror,omitempty"`
	Upstream *upstreamVerified `json:"upstream,omitempty"`
	Troubles []verifyTrouble   `json:"troubles"`
	Ended    bool              `json:"ended"` // early: not all was looked at
	Right    bool              `json:"right"`
}

// verifyTrouble is a version or a file that is not what it should be, or a page whose copy was out of date.
type verifyTrouble struct {
	Part    string `json:"part"` // archive, mirror or upstream
	URL     string `json:"url,omitempty"`
	Version int32  `json:"version,omitempty"`
	File    string `json:"file,omitempty"`
	Offset  *int64 `json:"offset,omitempty"`
	Length  int64  `json:"length,omitempty"` // bytes, of what is no record of a version
	Why     string `json:"why"`
	More    int64  `json:"more,omitempty"` // further versions in the same missing segment
}

// Run implements the command.
func (v verifyCmd) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(l *look) error {
		run := verifyRun{verifyCmd: v, look: l}
		if err := run.open(); err != nil {
			return err
		}
		err := run.parts(ctx)
		run.progress.clear()
		if err != nil {
			return err
		}
		if err := run.write(); err != nil {
			return err
		}
		return run.verdict()
	})
}

// verifyRun is a verifyCmd under way.
type verifyRun struct {
	verifyCmd
	*look
	site     int32
	out      verified
	notes    []string
	mender   *mender // nil: nothing is mended
	progress progress
}

func (r *verifyRun) open() (err error) {
	if r.Limit < 0 {
		return usagef("--limit is not negative")
	}
	if len(r.Gone) > 0 && (!r.Mend || r.Only == "mirror") {
		return usagef("--gone says what of the archive is lost, and needs --mend, without --only mirror")
	}
	if r.Only == "mirror" && r.force.config.Mirror.Dir == "off" {
		return usagef("there is no mirror: the configuration has mirror.dir: off")
	}
	if r.Upstream < 0 || r.Upstream > mostUpstream {
		return usagef("--upstream is a number of pages from 1 to %d", mostUpstream)
	}
	if r.Upstream > 0 && (r.Mend || r.Only != "" || r.Sample != (verify.Sample{})) {
		return usagef("--upstream asks the sites, and looks at neither archive nor mirror: leave out --mend, --only and --sample")
	}
	r.site, err = r.siteID(r.Site)
	r.progress = progressOn(r.Stderr)
	r.out.Troubles = []verifyTrouble{}
	return err
}

// parts looks at the archive and the mirror, and mends them where that is asked for, or asks upstream.
func (r *verifyRun) parts(ctx context.Context) error {
	if r.Upstream > 0 {
		return r.upstream(ctx)
	}
	if r.Only != "mirror" {
		if err := r.archive(ctx); err != nil {
			return err
		}
	}
	if r.Only != "archive" && r.force.config.Mirror.Dir != "off" && ctx.Err() == nil {
		if err := r.mirror(ctx); err != nil {
			return err
		}
	}
	a, m := r.out.Archive, r.out.Mirror
	r.out.Ended = ctx.Err() != nil || a != nil && a.Ended || m != nil && m.Ended
	r.out.Right = !r.out.Ended && (a == nil || a.Bad == 0 && (a.Rest == nil || a.Rest.Flaws == 0)) && (m == nil || m.wrong() == 0)
	return nil
}

// writable runs f with the database open for writing.
func (r *verifyRun) writable(ctx context.Context, f func(*config.Config, *models.Store) error) error {
	return r.withStore(ctx, r.openExisting, f)
}

// trouble keeps one for the list.
func (r *verifyRun) trouble(listed *int, t verifyTrouble) {
	if r.Limit == 0 || *listed < r.Limit {
		r.out.Troubles = append(r.out.Troubles, t)
	}
	*listed++
}

// write prints what came of it.
func (r *verifyRun) write() error {
	if r.JSON {
		return r.printJSON(r.out)
	}
	var lines []string
	if r.out.Archive != nil {
		lines = append(lines, r.out.Archive.words())
	}
	if r.out.Mirror != nil {
		lines = append(lines, r.out.Mirror.words())
	}
	if r.out.Upstream != nil {
		lines = append(lines, r.out.Upstream.words())
	}
	parts := len(lines)
	for _, t := range r.out.Troubles {
		lines = append(lines, t.words(r.style))
	}
	for i, line := range append(lines, r.notes...) {
		indent := ""
		if i >= parts && i < len(lines) {
			indent = "  "
		}
		for _, text := range r.style.Wrap(line, len(indent)) {
			if _, err := fmt.Fprintln(r.Stdout, indent+text); err != nil {
				return err
			}
		}
	}
	return nil
}

// words are a trouble in a line: what is wrong, of what, and where it lies.
func (t verifyTrouble) words(style report.Style) string {
	what, where := t.File, ""
	if t.Length > 0 {
		where = fmt.Sprintf(" (%s at %d)", report.Plural(t.Length, "byte"), *t.Offset)
	}
	if t.URL != "" {
		what, where = style.Address(t.URL), " ("+t.File
		if t.Version > 0 {
			what += ", version " + strconv.Itoa(int(t.Version))
		}
		if t.Offset != nil {
			where += fmt.Sprintf(" at %d", *t.Offset)
		}
		if where += ")"; t.File == "" {
			where = ""
		}
	}
	why := t.Why
	if t.More > 0 {
		why += ", with " + report.Plural(t.More, "version") + " more"
	}
	return report.Printable(what + ": " + why + where)
}

// verdict is the error that ends the command with exitFailed where something is wrong.
func (r *verifyRun) verdict() error {
	var wrong []string
	if a := r.out.Archive; a != nil && a.Bad > 0 {
		wrong = append(wrong, "archive: the bodies of "+report.Plural(a.Bad, "version")+" are not there, or not whole")
	}
	if a := r.out.Archive; a != nil && a.Rest != nil && a.Rest.Flaws > 0 {
		wrong = append(wrong, "archive: "+report.Plural(a.Rest.Flaws, "flaw")+" beside the records of versions")
	}
	if m := r.out.Mirror; m != nil && m.wrong() > 0 {
		wrong = append(wrong, "mirror: "+report.Plural(m.wrong(), "file")+" not as it should be")
	}
	if r.out.Ended {
		wrong = append(wrong, "ended early: the rest was not looked at")
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "; "))
}

// sampleWords say what a sample proves of the whole.
func sampleWords(s verify.Sample, bad, n, all int64, what string) string {
	if s == (verify.Sample{}) || n == all || n == 0 {
		return ""
	}
	low, high := verify.Interval(bad, n)
	if bad == 0 {
		return fmt.Sprintf("; with 95 %% confidence at most %s of all %s (Clopper and Pearson 1934)", percentOf(high), what)
	}
	return fmt.Sprintf("; with 95 %% confidence %s to %s of all %s (Clopper and Pearson 1934)", percentOf(low), percentOf(high), what)
}

// percentOf is a share with two digits that count.
func percentOf(share float64) string { return fmt.Sprintf("%.2g %%", 100*share) }

// mirrorVerified is what came of the mirror.
type mirrorVerified struct {
	sink.Audited
	Where string `json:"where"`
	None  bool   `json:"none,omitempty"` // there is no mirror there

	Unmade int64 `json:"unmade,omitempty"` // pages whose bodies the archive had lost when the mirror was made anew

	sample verify.Sample
}

func (m *mirrorVerified) wrong() int64 {
	n := m.Changed + m.Missing + m.Stray
	if m.None {
		n += max(m.All, 1)
	}
	return n
}

func (m *mirrorVerified) words() string {
	if m.None {
		return "mirror: there is none in " + m.Where
	}
	words := "mirror: " + report.Count(m.Files)
	if m.sample != (verify.Sample{}) {
		words += " of " + report.Count(m.All)
	}
	words += fmt.Sprintf(" files, %s changed, %s missing", report.Count(m.Changed), report.Count(m.Missing))
	if m.Whole {
		words += fmt.Sprintf(", %s that no page has any more", report.Count(m.Stray))
	}
	for _, part := range []struct {
		n    int64
		what string
	}{{m.Waiting, "wait for their events to be delivered"}, {m.Withheld, "cannot be taken (recrawld sink list)"}, {m.Lost, "of lost bodies not looked at"},
		{m.Others, "that the mirror has not made"}} {
		if part.n > 0 {
			words += fmt.Sprintf("; %s %s", report.Count(part.n), part.what)
		}
	}
	if m.Ended {
		return words
	}
	return words + sampleWords(m.sample, m.Changed+m.Missing, m.Files, m.All, "are changed or missing")
}

// mirror looks at the files of the mirror.
func (r *verifyRun) mirror(ctx context.Context) error {
	out := &mirrorVerified{Where: r.force.config.Mirror.Dir, sample: r.Sample}
	r.out.Mirror = out
	listed := 0
	r.progress.begin("mirror", "files")
	audit := sink.Audit{Ledger: r.store, Site: r.site, Done: func(n int64) { r.progress.tell(n, 0, 0) },
		Bad: func(t sink.AuditTrouble) error {
			r.trouble(&listed, verifyTrouble{Part: "mirror", URL: t.URL, Version: t.Version, File: t.File, Why: t.Why})
			return nil
		}}
	if r.Sample != (verify.Sample{}) {
		draw := verify.NewDraw[models.Event](r.Sample)
		audit.Draw, audit.Drawn = draw.Take, draw.Held
	}
	err := gently(func() (err error) {
		if out.Audited, err = audit.Run(ctx, out.Where); err != nil {
			return err
		}
		wish, err := r.store.Meta(ctx, replayKey(mirrorSink))
		out.Anew = out.Anew || strings.HasPrefix(wish, replayAsked)
		return err
	})
	if out.None = errors.Is(err, sink.ErrNoMirror); out.None {
		err = nil
	}
	if more := listed - r.Limit; r.Limit > 0 && more > 0 {
		r.notes = append(r.notes, fmt.Sprintf("… and %s more of the mirror (--limit 0 lists all)", report.Plural(more, "file")))
	}
	if err != nil || out.wrong() == 0 || out.Ended {
		return err
	}
	if !r.Mend && out.Anew {
		r.notes = append(r.notes, "The daemon makes the mirror anew from the archive when it runs next, as after a restore.")
		return nil
	}
	if !r.Mend {
		r.notes = append(r.notes, "recrawld sink replay mirror makes the mirror anew from the archive, as does recrawld verify --mend.")
		return nil
	}
	return r.writable(ctx, func(c *config.Config, store *models.Store) error {
		lost, err := r.replay(ctx, c, store, mirrorSink)
		if out.Unmade = lost; err == nil {
			r.notes = append(r.notes, "The mirror is made anew"+lostWords(lost)+".")
		}
		return err
	})
}
