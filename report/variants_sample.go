package report

import (
	"cmp"
	"context"
	"math"
	"slices"

	"recrawld/models"
)

const (
	// variantsPerSite is how many pages of a site are looked at.
	variantsPerSite = 4096
	// variantsDrawn is how many pages are drawn at most of all, as many of each bucket, but no more than variantsPerSite. Where there are no
	// more than that, a site is looked at as far as it may be.
	variantsDrawn = models.Buckets * 1024
)

// variantSample is a uniform sample of the pages of a site: all those up to an ID, since IDs are as good as random.
type variantSample struct {
	pages []models.Sampled
	upTo  int64
}

func (s *variantSample) add(p models.Sampled) {
	if s.pages = append(s.pages, p); len(s.pages) >= 2*variantsPerSite {
		s.cut()
	}
}

// cut leaves the first variantsPerSite pages up to the ID to which all are known.
func (s *variantSample) cut() {
	s.pages = slices.DeleteFunc(s.pages, func(p models.Sampled) bool { return p.ID > s.upTo })
	slices.SortFunc(s.pages, func(a, b models.Sampled) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Bucket, b.Bucket)) })
	if len(s.pages) > variantsPerSite {
		s.pages = s.pages[:variantsPerSite]
		s.upTo = s.pages[variantsPerSite-1].ID
	}
}

// drawVariants draws a sample of the pages of each site that are no requisites, and not gone or excluded. Pause is called between buckets.
func drawVariants(ctx context.Context, store *models.Store, perBucket int, pause func(context.Context) error) (map[int32]*variantSample, error) {
	sites := make(map[int32]*variantSample)
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
				sites[p.SiteID] = &variantSample{upTo: math.MaxInt64}
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

// LookForVariants draws a sample of all pages and finds the sites that have many variants, in their order. It reads a few rows of each bucket by
// the primary key, and rests by pause in between. Whoever looks finds the same.
func LookForVariants(ctx context.Context, store *models.Store, sites []VariantsOf, pause func(context.Context) error) ([]Unusual, error) {
	pages, err := store.PagesKnown(ctx)
	if err != nil {
		return nil, err
	}
	perBucket := variantsPerSite
	if pages > variantsDrawn {
		perBucket = variantsDrawn / models.Buckets
	}
	drawn, err := drawVariants(ctx, store, perBucket, pause)
	if err != nil {
		return nil, err
	}
	var found []Unusual
	for _, of := range sites {
		if drawn[of.Site] == nil {
			continue
		}
		sample := of.kept(drawn[of.Site].pages)
		known, err := readBases(ctx, store, VariantBases(sample))
		if err != nil {
			return nil, err
		}
		if u, is := FindVariants(of, sample, known); is {
			found = append(found, u)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// kept are those of a sample that the site keeps; Pages are so many less.
func (of *VariantsOf) kept(sample []models.Sampled) []models.Sampled {
	kept := slices.DeleteFunc(slices.Clone(sample), func(p models.Sampled) bool { return !of.Keeps(p.URL) })
	of.Pages = int64(math.Round(float64(of.Pages) * float64(len(kept)) / float64(len(sample))))
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
