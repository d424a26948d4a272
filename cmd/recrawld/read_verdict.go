package main

import (
	"context"
	"math"
	"strconv"

	"recrawld/diff"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
)

// The words for what a difference is, where it is no answer without content.
const (
	wordChanged = "changed"
	wordNoise   = "noise"
	wordSame    = "same"
)

// verdict says what was found when the later of two versions came, where it followed the other, and what would be found
// today; and of each block whether it counts. Versions that did not follow each other are judged now.
func (b library) verdict(ctx context.Context, page models.Page, u canon.URL, before, after side) (*diff.Verdict, []content.BlockChange, error) {
	if before.row.Digest == after.row.Digest {
		return nil, nil, nil
	}
	threshold := b.force.config.SettingsOf(page.SiteID).Significance
	judged, err := b.judge(ctx, page, u, before, after, threshold)
	if err != nil {
		return nil, nil, err
	}
	today := diff.Verdict{Kind: kindWord(judged), Significance: round(judged.Significance), Threshold: threshold, Reasons: judged.Reasons,
		Words: judged.Reasons.Words()}
	then, told := toldOf(after.row, threshold)
	if !told || after.row.Number != before.row.Number+1 {
		return &today, judged.Blocks, nil
	}
	if then.Kind != today.Kind {
		then.Today = &today
	}
	return &then, judged.Blocks, nil
}

// judge holds two versions against each other by what is remembered of the page and its host. Nothing of it is kept.
func (b library) judge(ctx context.Context, page models.Page, u canon.URL, before, after side, threshold float64) (content.Verdict, error) {
	var bodies [3][]byte
	for i, key := range []int64{page.ID, models.HostMemoryID, models.OrdersID} {
		var err error
		if bodies[i], err = b.store.Memory(ctx, page.Bucket, page.HostID, key); err != nil {
			return content.Verdict{}, err
		}
	}
	return content.Judge(content.Case{Before: before.View, After: after.View, Page: content.DecodePage(bodies[0]), Host: content.DecodeHost(bodies[1]),
		Orders: content.DecodeOrders(bodies[2]), Threshold: threshold, Now: after.At, Held: before.At, PageID: page.ID, URL: u, Kept: true}), nil
}

func kindWord(v content.Verdict) string {
	switch v.Kind {
	case content.Same:
		return wordSame
	case content.Noise:
		return wordNoise
	case content.Change:
		return wordChanged
	case content.Transient:
		return v.Class.String()
	}
	return v.Kind.String()
}

// toldOf is what a version's row says of it; false where it was never weighed, as by a release before this.
func toldOf(v models.Version, threshold float64) (diff.Verdict, bool) {
	told := diff.Verdict{Kind: wordNoise, Significance: round(float64(v.Significance)), Threshold: threshold, Reasons: v.Reasons,
		Words: v.Reasons.Words()}
	if v.Significant {
		told.Kind = wordChanged
	}
	return told, v.Reasons != 0 || v.Significance > 0
}

// round leaves two digits of a significance.
func round(significance float64) float64 { return math.Round(100*significance) / 100 }

// weight writes a significance: "0.83".
func weight(significance float32) string {
	return strconv.FormatFloat(round(float64(significance)), 'f', 2, 64)
}
