package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/verify"
)

// mended is what --mend did.
type mended struct {
	Found int64 `json:"found"` // versions whose bodies lie elsewhere in the archive, or are there again
	Lost  int64 `json:"lost"`  // versions that were noted as lost
	Asked int64 `json:"asked"` // pages that are asked for anew
}

func (m mended) words() string {
	var parts []string
	if m.Found > 0 {
		parts = append(parts, fmt.Sprintf("%s found again", report.Plural(m.Found, "version")))
	}
	if m.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%s noted as lost", report.Plural(m.Lost, "version")))
	}
	if m.Asked > 0 {
		parts = append(parts, fmt.Sprintf("%s asked for anew: verify once more when they were visited", report.Plural(m.Asked, "page")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Mended: " + strings.Join(parts, ", ") + "."
}

// mender sees to it that what is lost can come again. First nothing may refer to the lost records any more, then their versions are noted
// as lost, with the pages whose newest they are, in the transaction that asks for these. Who dies in between finds the same damage again.
// All of it is done in batches, and each step once more changes nothing.
type mender struct {
	reader   verify.Reader
	now      time.Time
	writable func(context.Context, func(*config.Config, *models.Store) error) error
	done     mended

	lost  []models.Kept // whose record is bad, newly found and of before
	there []models.Kept // of before that are there again
}

// mendBatch is how many versions are held in memory until they are mended: each batch passes over all versions once.
const mendBatch = 500_000

// bad takes a version that has lost its body. A nil mender takes nothing.
func (m *mender) bad(ctx context.Context, k models.Kept) error {
	if m == nil {
		return nil
	}
	m.lost = append(m.lost, k)
	return m.mendFull(ctx)
}

// again takes versions that were lost and are there.
func (m *mender) again(ctx context.Context) func(models.Kept) error {
	return func(k models.Kept) error {
		m.there = append(m.there, k)
		return m.mendFull(ctx)
	}
}

func (m *mender) mendFull(ctx context.Context) error {
	if len(m.lost)+len(m.there) < mendBatch {
		return nil
	}
	return m.mend(ctx)
}

// mend mends what was taken.
func (m *mender) mend(ctx context.Context) error {
	if len(m.lost)+len(m.there) == 0 {
		return nil
	}
	err := m.writable(ctx, func(_ *config.Config, store *models.Store) error {
		for len(m.there) > 0 { // they come by their records
			first := m.there[0]
			same := func(k models.Kept) bool { return k.Record == first.Record && k.Digest == first.Digest }
			n := slices.IndexFunc(m.there, func(k models.Kept) bool { return !same(k) })
			if n < 0 {
				n = len(m.there)
			}
			if _, err := m.find(ctx, store, m.there[:n], placeOf(first.Record)); err != nil {
				return err
			}
			m.there = m.there[n:]
		}
		if err := m.replace(ctx, store); err != nil {
			return err
		}
		return mendedSelfChecks(ctx, store)
	})
	m.lost, m.there = nil, nil
	return err
}

// placeOf is where a record lies, or lay.
func placeOf(r models.Record) models.Record {
	r.Length = max(r.Length, -r.Length)
	return r
}

// find points versions to a record, if that holds their body.
func (m *mender) find(ctx context.Context, store *models.Store, some []models.Kept, at models.Record) (found bool, err error) {
	answer, right, err := verify.Look(m.reader, at, some[0].Digest)
	if err != nil || !right {
		return false, err
	}
	to := models.Content{Digest: some[0].Digest, Record: at, URL: answer.URL, At: models.At(answer.At)}
	m.done.Found += int64(len(some))
	return true, store.FindVersions(ctx, some, to)
}

// body is one that was lost, with the versions that had it, the records that do not hold it, and some that may.
type body struct {
	versions []models.Kept
	bad      map[models.Record]bool
	maybe    []models.Record
	found    bool
}

// mostMaybe is how many records are looked at for a body that is lost.
const mostMaybe = 4

func (b *body) hint(at models.Record) {
	if at = placeOf(at); !b.bad[at] && len(b.maybe) < mostMaybe && !slices.Contains(b.maybe, at) {
		b.maybe = append(b.maybe, at)
	}
}

// replace looks for other records of the bodies that are lost, and notes as lost what has none.
func (m *mender) replace(ctx context.Context, store *models.Store) error {
	bodies := make(map[models.Digest]*body)
	for _, k := range m.lost {
		b := bodies[k.Digest]
		if b == nil {
			b = &body{bad: make(map[models.Record]bool)}
			bodies[k.Digest] = b
		}
		b.versions, b.bad[placeOf(k.Record)] = append(b.versions, k), true
	}
	for _, step := range []func(context.Context, *models.Store, map[models.Digest]*body) error{m.noted, m.others, m.tries} {
		if err := step(ctx, store, bodies); err != nil {
			return err
		}
	}
	var lost []models.Kept
	for _, b := range bodies {
		for _, k := range b.versions {
			if !b.found && !k.Record.Lost() {
				lost = append(lost, k)
			}
		}
	}
	asked, err := store.LoseVersions(ctx, m.now, lost)
	m.done.Lost, m.done.Asked = m.done.Lost+int64(len(lost)), m.done.Asked+int64(asked)
	return err
}

// noted looks where the database says that the bodies lie, and has it forget the records that do not hold them.
func (m *mender) noted(ctx context.Context, store *models.Store, bodies map[models.Digest]*body) error {
	const slice = 1000
	for digests := range slices.Chunk(slices.Collect(maps.Keys(bodies)), slice) {
		seen, err := store.Contents(ctx, digests)
		if err != nil {
			return err
		}
		for d, content := range seen {
			bodies[d].hint(content.Record)
		}
	}
	return store.LoseContents(ctx, m.lost)
}

// others looks at the other versions of the bodies: their records may hold them, or be the lost ones, where a visit has referred to these
// meanwhile.
func (m *mender) others(ctx context.Context, store *models.Store, bodies map[models.Digest]*body) error {
	type key struct {
		page   int64
		number int32
	}
	known := make(map[key]bool, len(m.lost))
	for _, k := range m.lost {
		known[key{k.PageID, k.Number}] = true
	}
	for k, err := range store.KeptVersions(ctx, 0) {
		if err != nil {
			return err
		}
		b := bodies[k.Digest]
		switch {
		case b == nil || k.Record.Lost() || known[key{k.PageID, k.Number}]:
		case b.bad[k.Record]:
			b.versions = append(b.versions, k)
		default:
			b.hint(k.Record)
		}
	}
	return nil
}

// tries points versions to a record that holds their body, where there is one.
func (m *mender) tries(ctx context.Context, store *models.Store, bodies map[models.Digest]*body) error {
	for _, b := range bodies {
		for _, at := range b.maybe {
			found, err := m.find(ctx, store, b.versions, at)
			if err != nil {
				return err
			}
			if b.found = found; found {
				break
			}
		}
	}
	return nil
}
