package report

import (
	"context"
	"fmt"
	"math"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// makeCalibration reads how well changes were foreseen.
func makeCalibration(ctx context.Context, store *models.Store, o Options) (Document, error) {
	body, err := store.Note(ctx, models.NoteCalibration)
	if err != nil {
		return Document{}, fmt.Errorf("report calibration: %w", err)
	}
	var c changerate.Calibration
	if len(body) > 0 {
		if err := c.UnmarshalBinary(body); err != nil {
			return Document{}, fmt.Errorf("report calibration: %w", err)
		}
	}
	return calibrationDocument(c, o), nil
}

// calibrationDocument compares the predicted with the found share of visits that saw a change, by tenths of the predicted
// probability.
func calibrationDocument(c changerate.Calibration, o Options) Document {
	d := Document{
		Name: "calibration", Title: "Calibration", At: o.Now,
		Columns: []Column{
			{Key: "from", Head: "foreseen", Right: true},
			{Key: "visits", Head: "visits", Right: true},
			{Key: "predicted", Head: "mean foreseen", Right: true},
			{Key: "changed", Head: "changed", Right: true},
			{Key: "found", Head: "share changed", Right: true},
			{Key: "off", Head: "off by", Right: true},
			{Key: "error", Head: "95 % chance", Right: true, Drop: 1},
		},
	}
	if c.Visits() == 0 {
		d.Lead = []string{"No visit was foreseen yet: the policy adaptive does so from a page's second visit on."}
		return d
	}
	d.Lead = []string{fmt.Sprintf("%s; Brier score %.3f (0: all foreseen; %.3f: always the mean)", Plural(c.Visits(), "visit"),
		c.Brier(), always(&c))}
	for i, tenth := range c.Deciles {
		if tenth.Visits > 0 {
			d.Rows = append(d.Rows, calibrationRow(i, tenth))
		}
	}
	d.Notes = []string{"Off by: share changed less mean foreseen, in points. By chance alone it lies within ± the last column 95 times of 100."}
	return d
}

// always is the Brier score of who foresees the mean of all visits for each.
func always(c *changerate.Calibration) float64 {
	var changed int64
	for _, d := range c.Deciles {
		changed += d.Changed
	}
	p := float64(changed) / float64(c.Visits())
	return p * (1 - p)
}

// oddPoints is how many points a tenth may be off by until it is marked, where chance does not explain it.
const oddPoints = 3

func calibrationRow(i int, tenth changerate.Decile) Row {
	n := float64(tenth.Visits)
	predicted, found := tenth.Predicted/n, float64(tenth.Changed)/n
	off, chance := found-predicted, 1.96*math.Sqrt(max(0, predicted*(1-predicted))/n)
	points := Cell{Value: off, Text: fmt.Sprintf("%+.1f", 100*off)}
	if math.Abs(off) > max(oddPoints/100.0, chance) {
		points.Tone = Warn
	}
	return Row{
		{Value: float64(i) / 10, Text: fmt.Sprintf("%d–%d %%", 10*i, 10*i+10)}, CountCell(tenth.Visits),
		{Value: predicted, Text: fmt.Sprintf("%.1f %%", 100*predicted)}, CountCell(tenth.Changed),
		{Value: found, Text: fmt.Sprintf("%.1f %%", 100*found)}, points,
		{Value: chance, Text: fmt.Sprintf("± %.1f", 100*chance), Tone: Faint},
	}
}
