package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// A change happened by the visit that found it, or when the date of the content says, or its publisher did, where they are believed.
func TestWhenAChangeHappened(t *testing.T) {
	t.Parallel()
	seen := noon.Add(time.Second)
	for name, test := range map[string]struct {
		modified, announced time.Time
		trials              func(*models.Trials)
		kind                models.OutcomeKind
		want                time.Time
	}{
		"nothing says":              {want: seen},
		"dated":                     {modified: noon.Add(-5 * time.Hour), want: noon.Add(-5 * time.Hour)},
		"dated before it was seen":  {modified: noon.Add(-50 * time.Hour), want: seen},
		"dated by who is doubted":   {modified: noon.Add(-5 * time.Hour), trials: distrusts(models.HintLastModified), want: seen},
		"dated by when it was made": {modified: noon, want: seen},
		"announced":                 {announced: noon.Add(-time.Hour), trials: believes(models.HintAnnounced), want: noon.Add(-time.Hour)},
		"announced and dated": {announced: noon.Add(-time.Hour), modified: noon.Add(-2 * time.Hour), trials: believes(models.HintAnnounced),
			want: noon.Add(-2 * time.Hour)},
		"announced by who is on trial":   {announced: noon.Add(-time.Hour), want: seen},
		"announced before it was seen":   {announced: noon.Add(-25 * time.Hour), trials: believes(models.HintAnnounced), want: seen},
		"dated, but nothing that counts": {modified: noon.Add(-5 * time.Hour), kind: models.Noise, want: seen},
	} {
		p := livePage()
		p.AnnouncedAt = models.At(test.announced)
		lease := testLease(p)
		if test.trials != nil {
			test.trials(&lease.Host.Trials)
		}
		if test.kind == 0 {
			test.kind = models.Changed
		}
		body := []byte("two")
		out := models.Outcome{Kind: test.kind, Status: 200, Sent: 1, Body: body, Digest: models.DigestOf(body), At: noon, ModifiedAt: test.modified}
		r := testPlanner(t, testConfig()).Plan(lease, p, &out, seen)
		if got := r.Events[0].NotAfter; got != models.At(test.want) || r.Events[0].NotBefore != p.Stats.VisitedAt {
			t.Errorf("%s: the change happened by %v, want %v", name, got, models.At(test.want))
		}
	}
}

func distrusts(h models.Hint) func(*models.Trials) {
	return func(t *models.Trials) { t.By[h].DistrustedAt = models.At(noon) }
}

func believes(h models.Hint) func(*models.Trials) {
	return func(t *models.Trials) { t.By[h].Hits = 20 }
}
