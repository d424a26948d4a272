package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"recrawld/digest"
	"recrawld/report"
)

// oddity is what is unusual of a site, as the memo of a digest has it.
type oddity struct {
	Site int32         `json:"site"`
	Kind report.Oddity `json:"kind"`
}

// unusual adds what became unusual of the sites since the last digest and what is as usual again, each told once, and returns the memo for
// the next one. Where nobody has looked for a day nothing is known, and nothing said.
func (w *digestWriter) unusual(ctx context.Context, d *digest.Digest, before string) (memo string, err error) {
	found, err := lastUnusual(ctx, w.parts.store)
	if err != nil || w.parts.clock.Now().Sub(found.At.Time()) > 24*time.Hour {
		return before, err
	}
	var was, is []oddity
	if before != "" {
		if err := json.Unmarshal([]byte(before), &was); err != nil {
			return "", fmt.Errorf("read what the last digest told: %w", err)
		}
	}
	for _, u := range found.Sites {
		name := w.names[u.Site]
		if name == "" || len(w.digest.Sites) > 0 && !slices.Contains(w.digest.Sites, name) {
			continue
		}
		odd := oddity{u.Site, u.Kind}
		if is = append(is, odd); !slices.Contains(was, odd) {
			d.Unusual = append(d.Unusual, name+" is unusual: "+u.Words)
		}
	}
	for _, odd := range was {
		if name := w.names[odd.Site]; name != "" && !slices.Contains(is, odd) {
			d.Unusual = append(d.Unusual, fmt.Sprintf("%s is as usual again (%s)", name, odd.Kind))
		}
	}
	if len(is) == 0 {
		return "", nil
	}
	slices.SortFunc(is, func(a, b oddity) int { return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Kind, b.Kind)) })
	text, err := json.Marshal(is)
	return string(text), err
}
