package report

import (
	"testing"
	"time"

	"recrawld/models"
)

// tried is a host whose validators were tried three hours ago.
func tried(name string, by map[models.Hint]models.Trial) models.Host {
	h := models.Host{Name: name, Trials: models.Trials{AuditedAt: models.At(testNow.Add(-3 * time.Hour)), Visits: 41,
		ProbedAt: models.At(testNow.Add(-9 * day))}}
	for hint, trial := range by {
		trial.Since = models.At(testNow.Add(-40 * day))
		h.Trials.By[hint] = trial
	}
	return h
}

func TestHints(t *testing.T) {
	t.Parallel()
	lied := models.At(testNow.Add(-2 * day))
	hosts := []models.Host{
		tried("docs.example.org", map[models.Hint]models.Trial{models.HintETag: {Hits: 1204}, models.HintLastModified: {Hits: 1190, FalseAlarms: 3},
			models.HintNotModified: {Hits: 31}}),
		tried("static.a-rather-long-name.example.net", map[models.Hint]models.Trial{
			models.HintNotModified:  {Hits: 4, Misses: 3, DistrustedAt: lied},
			models.HintLastModified: {Misses: 2, Late: 19, DistrustedAt: models.At(testNow.Add(-400 * day))}}),
		tried("ever-new.example", map[models.Hint]models.Trial{models.HintETag: {FalseAlarms: 65535, DistrustedAt: lied},
			models.HintExpires: {Hits: 12, Late: 1}}),
		tried("silent.example", nil),
		tried("restored.example", map[models.Hint]models.Trial{models.HintETag: {DistrustedAt: lied}}),
	}
	goldenDocument(t, "hints", hintDocument(hosts, 17, testOptions))
}

func TestHintsOfNothing(t *testing.T) {
	t.Parallel()
	goldenDocument(t, "hints-none", hintDocument(nil, 0, testOptions))
	goldenDocument(t, "hints-silent", hintDocument([]models.Host{tried("silent.example", nil), tried("a.example", nil)}, 0, testOptions))
}
