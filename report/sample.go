package report

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"recrawld/config"
	"recrawld/models"
)

// SampledSite is a site of whose pages a sample is looked at.
type SampledSite struct {
	Site   int32
	Pages  int64                 // that are no requisites, and not gone or excluded
	Filter config.Filter         // that it has
	Keeps  func(url string) bool // what its rules keep now: what they leave out waits for its turn to be excluded

	Waiting int64 // those of Pages that no visit has reached yet
	First   int64 // visits in the last BacklogDays that are over which may have been first ones; -1: its pages have not piled up for so long, or it fails

	HadVariants, HadBacklog bool // when was looked before
}

const (
	// sampledPerSite is how many pages of a site are looked at.
	sampledPerSite = 4096
	// sampledOfAll is how many pages are drawn at most of all, as many of each bucket, but no more than sampledPerSite. Where there are no
	// more than that, a site is looked at as far as it may be.
	sampledOfAll = models.Buckets * 1024
	// longestSampled is the length in bytes of the longest URL that is looked at: without each of eight parameters, 4,096 of 16 KiB took 449 MiB.
	longestSampled = 2 << 10
)

// siteSample is a uniform sample of the pages of a site: all those up to an ID, since IDs are as good as random.
type siteSample struct {
	pages []models.Sampled
	upTo  int64
}

func (s *siteSample) add(p models.Sampled) {
	if len(p.URL) > longestSampled {
		return
	}
	if s.pages = append(s.pages, p); len(s.pages) >= 2*sampledPerSite {
		s.cut()
	}
}

// cut leaves the first sampledPerSite pages up to the ID to which all are known.
func (s *siteSample) cut() {
	s.pages = slices.DeleteFunc(s.pages, func(p models.Sampled) bool { return p.ID > s.upTo })
	slices.SortFunc(s.pages, func(a, b models.Sampled) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Bucket, b.Bucket)) })
	if len(s.pages) > sampledPerSite {
		s.pages = s.pages[:sampledPerSite]
		s.upTo = s.pages[sampledPerSite-1].ID
	}
}

// drawSamples draws a sample of the pages of each site that are no requisites, and not gone or excluded. Pause is called between buckets.
func drawSamples(ctx context.Context, store *models.Store, perBucket int, pause func(context.Context) error) (map[int32]*siteSample, error) {
	sites := make(map[int32]*siteSample)
	for bucket := range int16(models.Buckets) {
		pages, err := store.Sample(ctx, bucket, perBucket)
		if err != nil {
			return nil, err
		}
		here := make(map[int32]bool)
		for _, p := range pages {
			if p.Requisite || p.State == models.StateGone || p.State == models.StateExcluded {
				continue
			}
			if sites[p.SiteID] == nil {
				sites[p.SiteID] = &siteSample{upTo: math.MaxInt64}
			}
			here[p.SiteID] = true
			sites[p.SiteID].add(p)
		}
		if len(pages) == perBucket {
			for site := range here {
				sites[site].upTo = min(sites[site].upTo, pages[perBucket-1].ID)
			}
		}
		if len(pages) == 0 {
			continue
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	for _, s := range sites {
		s.cut()
	}
	return sites, nil
}

// LookAtSamples draws a sample of all pages and finds the sites that have many variants or a backlog, in their order. It reads a few rows of each bucket by
// the primary key, and rests by pause in between. Whoever looks finds the same.
func LookAtSamples(ctx context.Context, store *models.Store, sites []SampledSite, pause func(context.Context) error) ([]Unusual, error) {
	pages, err := store.PagesKnown(ctx)
	if err != nil {
		return nil, err
	}
	perBucket := sampledPerSite
	if pages > sampledOfAll {
		perBucket = sampledOfAll / models.Buckets
	}
	drawn, err := drawSamples(ctx, store, perBucket, pause)
	if err != nil {
		return nil, err
	}
	var found []Unusual
	for _, of := range sites {
		if drawn[of.Site] == nil {
			continue
		}
		sample := of.kept(drawn[of.Site].pages)
		bases := VariantBases(sample)
		maps.Copy(bases, BacklogBases(of, sample))
		known, err := readBases(ctx, store, bases)
		if err != nil {
			return nil, err
		}
		if u, is := FindVariants(of, sample, known); is {
			found = append(found, u)
		}
		if u, is := FindBacklog(of, sample, known); is {
			found = append(found, u)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// kept are those of a sample that the site keeps; Pages and Waiting are so many less.
func (of *SampledSite) kept(sample []models.Sampled) []models.Sampled {
	if len(sample) == 0 { // all of their URLs are too long
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(sample), func(p models.Sampled) bool { return !of.Keeps(p.URL) })
	of.Pages = int64(math.Round(float64(of.Pages) * float64(len(kept)) / float64(len(sample))))
	waits := 0
	for i := range sample {
		if isNew(&sample[i]) {
			waits++
		}
	}
	if waits > 0 {
		of.Waiting = int64(math.Round(float64(of.Waiting) * float64(len(waitingOf(kept))) / float64(waits)))
	}
	return kept
}

// readBases reads those of the pages that are known.
func readBases(ctx context.Context, store *models.Store, bases map[string]int16) (map[string]models.Sampled, error) {
	ids, known := make(map[int16][]int64), make(map[string]models.Sampled, len(bases))
	for url, bucket := range bases {
		ids[bucket] = append(ids[bucket], models.PageID(url))
	}
	for bucket, some := range ids {
		pages, err := store.SampledByID(ctx, bucket, some)
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			known[p.URL] = p
		}
	}
	return known, nil
}
