package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/report"
	"recrawld/verify"
)

// restVerified is what came of what lies in the segments beside the records of versions: requests, revisits, what says what a segment is,
// and bytes that are no record.
type restVerified struct {
	Records int64 `json:"records"` // other than answers
	Flaws   int64 `json:"flaws"`   // that begin elsewhere than at the record of a version that has lost its body
}

func (r restVerified) words() string {
	return fmt.Sprintf("; %s without an answer, %s", report.Plural(r.Records, "record"), report.Plural(r.Flaws, "flaw"))
}

// spot is where a record begins.
type spot struct {
	file   string
	offset int64
}

func spotOf(at models.Record) spot { return spot{at.File, at.Offset} }

// rest looks through the segments for what no version leads to. A part of the versions says nothing of the rest, so then it does not.
func (r *verifyRun) rest(ctx context.Context, reader verify.Reader, told map[spot]bool, listed *int) error {
	segments, ok := reader.(*archive.Reader)
	if !ok || r.Sample != (verify.Sample{}) || r.site != 0 || r.out.Archive.Ended {
		return nil
	}
	all, err := segments.Segments()
	if err != nil {
		return err
	}
	out := &restVerified{}
	r.out.Archive.Rest = out
	r.progress.begin("archive", "segments looked through")
	for i, segment := range all {
		r.progress.tell(int64(i), int64(len(all)), 0)
		records, err := segments.Flaws(segment.Name, func(f archive.Flaw) bool {
			if !told[spot{segment.Name, f.Offset}] {
				out.Flaws++
				r.trouble(listed, verifyTrouble{Part: "archive", File: segment.Name, Offset: &f.Offset, Length: f.Length, Why: f.Why})
			}
			return ctx.Err() == nil
		})
		if out.Records += records; err != nil && !errors.Is(err, fs.ErrNotExist) { // brought elsewhere meanwhile
			return err
		}
		if ctx.Err() != nil {
			r.out.Archive.Ended = true
			return nil
		}
	}
	return nil
}
