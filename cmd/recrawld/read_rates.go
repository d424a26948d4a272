package main

import (
	"fmt"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler/changerate"
)

// changesWords says how often a page changes: its bytes, where they change more often than its content, and its content.
func (l *look) changesWords(p models.Page, rate changerate.Rate) string {
	words := l.changedWords(p.Stats, rate)
	if p.ByteChanges <= p.Stats.Changes || p.Stats.Records < 2 {
		return words
	}
	return fmt.Sprintf("its bytes %s, last seen %s; its content %s", bytesWords(p), report.Until(l.now, p.BytesAt.Time()), words)
}

// bytesWords says how often a page's bytes change.
func bytesWords(p models.Page) string {
	compared := p.Stats.Records - 1
	if p.ByteChanges >= compared {
		return fmt.Sprintf("at every visit (%s in a row)", report.Plural(p.ByteChanges, "time"))
	}
	return fmt.Sprintf("%s in %s (%s)", times(p.ByteChanges), report.Plural(compared, "visit"), report.Rate(byteRate(p)))
}

// byteRate is how often a page's bytes change, its gaps taken as equal.
func byteRate(p models.Page) changerate.Rate {
	n := int(p.Stats.Records) - 1
	if n < 1 {
		return changerate.Regular(0, 0, 0)
	}
	return changerate.Regular(n, min(int(p.ByteChanges), n), p.Stats.VisitedAt.Time().Sub(p.Stats.FirstAt.Time())/time.Duration(n))
}

// weighedWords says what was found of a version: "noise, 0.05 (counter, nav)".
func weighedWords(v models.Version) string {
	words := wordNoise
	if v.Significant {
		words = wordChanged
	}
	if v.Reasons == 0 && v.Significance == 0 {
		return words
	}
	return fmt.Sprintf("%s, %s (%s)", words, weight(v.Significance), strings.Join(v.Reasons.Words(), ", "))
}

// versionCells are what a version was weighed to be: what it is, its significance and the reasons. A version that was
// never weighed, as the first, has neither.
func versionCells(v models.Version) (what, significance, reasons report.Cell) {
	switch {
	case v.Number == 1:
		what = report.TextCell("first")
	case v.Significant:
		what = report.Cell{Value: wordChanged, Text: wordChanged, Tone: report.Good}
	default:
		what = report.Cell{Value: wordNoise, Text: wordNoise, Tone: report.Faint}
	}
	significance, reasons = weightCells(v.Significance, v.Reasons)
	return what, significance, reasons
}

// weightCells are a significance and its reasons; empty where nothing was weighed.
func weightCells(significance float32, reasons models.Reasons) (number, why report.Cell) {
	if reasons == 0 && significance == 0 {
		return report.Cell{}, report.Cell{Value: ""}
	}
	return report.Cell{Value: round(float64(significance)), Text: weight(significance)}, report.TextCell(reasons.String())
}

// failingWords says of a page in an error state how long it is in it: what the server answers instead of the page where
// it answers, else the class of the failure.
func failingWords(p models.Page) string {
	if p.Class.Transient() || p.Class == models.EmptyBody {
		return "in an error state (" + p.Class.String() + ", " + report.Plural(p.Failures, "visit") + " in a row)"
	}
	return fmt.Sprintf("failing: %s (%s in a row)", p.Class, report.Plural(p.Failures, "failure"))
}
