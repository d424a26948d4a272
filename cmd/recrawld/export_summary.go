package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"recrawld/clock"
	"recrawld/export/folder"
	"recrawld/report"
)

// exported is the JSON form of what came of an export.
type exported struct {
	File     string `json:"file"`
	Versions int64  `json:"versions"`
	Pages    int64  `json:"pages"`
	Needed   int64  `json:"requisites,omitempty"` // of them
	Bytes    int64  `json:"bytes"`
	Lost     int64  `json:"lost"`
	Refused  int64  `json:"asked_not_to_be_archived"` // pages

	// Of a folder.
	Redirects int64 `json:"redirects,omitempty"`
	Reused    int64 `json:"unchanged_files,omitempty"`
	Away      int64 `json:"references_elsewhere,omitempty"`
	Needs     int64 `json:"requisites_elsewhere,omitempty"`
}

// finish says what came of it: on standard output, unless that is where the export went.
func (r *exportRun) finish(c exportCmd, s *selection, sum folder.Summary) error {
	for _, segment := range slices.Sorted(maps.Keys(r.missing)) {
		hint := ""
		if r.force.config.Store != "sqlite" {
			hint = "; if another machine's worker wrote it, export there as well"
		}
		fmt.Fprintf(r.Stderr, "left out: %s: segment %s is not in %s%s\n", report.Plural(r.missing[segment], "version"), segment,
			archiveDir(&r.force.config), hint)
	}
	var err error
	switch {
	case c.Output != "" && r.JSON:
		err = r.printJSON(exported{File: c.Output, Versions: sum.Versions, Pages: s.pages, Needed: s.needed, Bytes: sum.Bytes, Lost: sum.Lost,
			Refused: s.refused, Redirects: sum.Redirects, Reused: sum.Reused, Away: sum.Away, Needs: sum.Needs})
	case c.Output != "":
		_, err = fmt.Fprintf(r.Stdout, "%s: %s of %s%s, %s, in %s%s%s\n", c.Output, report.Plural(sum.Versions, "version"),
			report.Plural(s.pages, "page"), s.requisites(), report.Bytes(sum.Bytes), report.Span(clock.System{}.Now().Sub(r.began)), s.refusals(), lacks(sum))
	}
	if err == nil && sum.Lost > 0 {
		err = fmt.Errorf("%s cannot be read any more and had to be left out, as said above; all else was exported to %s",
			report.Plural(sum.Lost, "version"), cmp.Or(c.Output, "standard output"))
	}
	if err == nil && r.unread > 0 {
		err = fmt.Errorf("%s cannot be read, as said above: versions whose own records are there were exported with the header of "+
			"another answer that has their body", report.Plural(r.unread, "segment"))
	}
	return err
}

// lacks says what pages of a folder need to be shown that is not in it.
func lacks(sum folder.Summary) string {
	if sum.Needs == 0 {
		return ""
	}
	return fmt.Sprintf("; %s to images, styles and the like that are not in it", report.Plural(sum.Needs, "reference"))
}
