package storetest

import (
	"pgregory.net/rapid"

	"recrawld/models"
)

// keptVersions reads what was kept of all versions, or of a site's.
func (p *pair) keptVersions(site int32) []models.Kept {
	return both(p, "KeptVersions", func(s Store) (all []models.Kept, err error) {
		for k, err := range s.KeptVersions(p.ctx, site) {
			if err != nil {
				return nil, err
			}
			all = append(all, k)
		}
		return all, nil
	})
}

// lose finds the bodies of some versions lost, or lost ones somewhere else.
func (p *pair) lose(t *rapid.T) {
	p.keptVersions(p.drawSite(t))
	var lost, there []models.Kept
	for _, k := range p.keptVersions(0) {
		if k.Record.Lost() {
			lost = append(lost, k)
		} else if rapid.Bool().Draw(t, "loses") {
			there = append(there, k)
		}
	}
	if len(lost) > 0 && rapid.Bool().Draw(t, "finds") {
		to := models.Content{Digest: lost[0].Digest, URL: "https://a.example/", At: models.At(p.now)}
		to.Record = models.Record{File: "found", Offset: int64(to.At), Length: 9}
		p.each("FindVersions", func(s Store) error { return s.FindVersions(p.ctx, lost, to) })
	}
	p.each("LoseContents", func(s Store) error { return s.LoseContents(p.ctx, there) })
	both(p, "LoseVersions", func(s Store) (int, error) { return s.LoseVersions(p.ctx, p.now, there) })
	both(p, "LostPages", func(s Store) (int64, error) { return s.LostPages(p.ctx) })
}
