package sink

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/internal/filename"
	"recrawld/models"
)

// ledger is what a database says of some pages, by URL: their newest copies, and events that are not delivered.
type ledger struct {
	pages    map[string]models.Event
	pending  []models.Event
	withheld string
	meta     map[string]string // other rows
	gone     map[string]bool
}

// EventHeads implements Source.
func (l *ledger) EventHeads(context.Context) (map[int16]models.EventRef, error) { return nil, nil }

// Current implements Source.
func (l *ledger) Current(context.Context) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		for _, e := range l.pages {
			if !l.gone[e.URL] && !yield(e, nil) {
				return
			}
		}
	}
}

// Page implements Ledger.
func (l *ledger) Page(_ context.Context, _ int16, id int64) (models.Page, error) {
	for url, e := range l.pages {
		if models.PageID(url) != id {
			continue
		}
		state := models.StateLive
		if l.gone[url] {
			state = models.StateGone
		}
		return models.Page{Bucket: e.Bucket, ID: id, URL: url, State: state, Version: e.Version}, nil
	}
	return models.Page{}, models.ErrNotFound
}

// Version implements Ledger.
func (l *ledger) Version(_ context.Context, _ int16, id int64, number int32) (models.Version, error) {
	for url, e := range l.pages {
		if models.PageID(url) == id && e.Version == number {
			return models.Version{Number: number, Digest: e.Digest, Record: e.Record}, nil
		}
	}
	return models.Version{}, models.ErrNotFound
}

// Events implements Ledger.
func (l *ledger) Events(_ context.Context, bucket int16, after int64, _ int) (events []models.Event, err error) {
	for _, e := range l.pending {
		if e.Bucket == bucket && e.Seq > after {
			events = append(events, e)
		}
	}
	return events, nil
}

// Cursor implements Ledger.
func (l *ledger) Cursor(context.Context, string, int16) (int64, error) { return 7, nil }

// Meta implements Ledger.
func (l *ledger) Meta(_ context.Context, key string) (string, error) {
	if key == WithheldKey(mirrorName) {
		return l.withheld, nil
	}
	return l.meta[key], nil
}

// audited makes a mirror of three pages, changes it, and holds it against what the database says.
func audited(t *testing.T, change func(l *ledger, dir string)) (Audited, []AuditTrouble) {
	t.Helper()
	dir, l := filepath.Join(t.TempDir(), "mirror"), &ledger{pages: map[string]models.Event{}, gone: map[string]bool{}}
	s := newShelf(t)
	m := openMirror(t, dir, s)
	for _, url := range []string{"https://example.org/a", "https://example.org/b", "https://example.org:8443/c?d=e"} {
		e := s.event(models.EventNew, url, "body of "+url, 1)
		at, _, _ := filename.SplitURL(url)
		e.Bucket, e.PageID = models.BucketOf("example.org"), models.PageID(url)
		if at.Port != "" {
			e.Bucket = models.BucketOf("example.org:" + at.Port)
		}
		l.pages[url] = e
		deliver(t, m, e)
	}
	deliver(t, m, s.event(models.EventNew, "https://example.org/was", "of a page that was removed", 1))
	if err := errors.Join(os.Remove(filepath.Join(dir, m.tree.fileOf("https://example.org/was"))), m.Close()); err != nil {
		t.Fatal(err)
	}
	change(l, dir)
	var troubles []AuditTrouble
	a := Audit{Ledger: l, Bad: func(trouble AuditTrouble) error { troubles = append(troubles, trouble); return nil }}
	found, err := a.Run(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(troubles, func(x, y AuditTrouble) int { return len(x.File) - len(y.File) })
	return found, troubles
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// touch is what somebody did to a mirror, or to its database, and what is to be found then.
type touch struct {
	name   string
	change func(l *ledger, dir string)
	want   Audited
	says   []AuditTrouble
}

// TestFault_084_FilesThatOthersTouched are found, those that the mirror has not made are named, and what is under way is no fault.
func TestFault_084_FilesThatOthersTouched(t *testing.T) {
	t.Parallel()
	for _, test := range touches(t) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, says := audited(t, test.change)
			got.Bytes = 0
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.says, says); diff != "" {
				t.Errorf("says (-want +got):\n%s", diff)
			}
		})
	}
}

func touches(t *testing.T) []touch {
	const a, b = "https://example.org/a", "https://example.org/b"
	fileA, fileB, was := Name(a), Name(b), Name("https://example.org/was")
	pending := func(url string) models.Event {
		return models.Event{Bucket: models.BucketOf("example.org"), PageID: models.PageID(url), Seq: 8, URL: url}
	}
	return []touch{
		{"whole", func(*ledger, string) {}, Audited{All: 3, Files: 3, Whole: true}, nil},
		{"changed", func(_ *ledger, dir string) { write(t, dir, fileA, "something else") },
			Audited{All: 3, Files: 3, Changed: 1, Whole: true}, []AuditTrouble{{a, 1, fileA, "the file has another content (14 bytes)"}}},
		{"that the cursors are not of", func(l *ledger, dir string) {
			l.meta = map[string]string{"sink-place:" + mirrorName: "another"}
			os.Remove(filepath.Join(dir, fileA))
		}, Audited{All: 3, Files: 3, Missing: 1, Whole: true, Anew: true}, []AuditTrouble{{a, 1, fileA, "the file is missing"}}},
		{"missing", func(_ *ledger, dir string) { os.Remove(filepath.Join(dir, fileA)) },
			Audited{All: 3, Files: 3, Missing: 1, Whole: true}, []AuditTrouble{{a, 1, fileA, "the file is missing"}}},
		{"a link in its place", func(_ *ledger, dir string) {
			os.Rename(filepath.Join(dir, fileA), filepath.Join(dir, own, "kept"))
			if err := os.Symlink(filepath.Join(dir, own, "kept"), filepath.Join(dir, fileA)); err != nil {
				t.Error(err)
			}
		}, Audited{All: 3, Files: 3, Missing: 1, Whole: true}, []AuditTrouble{{a, 1, fileA, "something else stands in its place"}}},
		{"its event is not delivered", func(l *ledger, dir string) {
			write(t, dir, fileA, "something else")
			l.pending = []models.Event{pending(b), pending(a)}
		}, Audited{All: 3, Files: 3, Waiting: 1, Whole: true}, nil},
		{"another's event is not delivered", func(l *ledger, dir string) {
			write(t, dir, fileA, "something else")
			l.pending = []models.Event{pending(b)}
		}, Audited{All: 3, Files: 3, Changed: 1, Whole: true}, []AuditTrouble{{a, 1, fileA, "the file has another content (14 bytes)"}}},
		{"withheld", func(l *ledger, dir string) {
			write(t, dir, fileA, "something else")
			l.withheld = `[{"url":"` + a + `","why":"x","since":1}]`
		}, Audited{All: 3, Files: 3, Withheld: 1, Whole: true}, nil},
		{"its body is lost", func(l *ledger, dir string) {
			write(t, dir, fileA, "an older one")
			e := l.pages[a]
			e.Record.Length = -e.Record.Length
			l.pages[a] = e
		}, Audited{All: 2, Files: 2, Lost: 1, Whole: true}, nil},
		{"files of others", func(_ *ledger, dir string) {
			write(t, dir, "README", "of mine")
			write(t, dir, own+"/trash/2026-03-01/"+fileA, "what was")
		}, Audited{All: 3, Files: 3, Others: 1, Whole: true}, []AuditTrouble{{"", 0, "README", "the mirror has not made this file, and leaves it alone"}}},
		{"a file of a page that was removed", func(_ *ledger, dir string) { write(t, dir, was, "it stayed") },
			Audited{All: 3, Files: 3, Stray: 1, Whole: true}, []AuditTrouble{{"https://example.org/was", 0, was, "no page has this file any more"}}},
		{"a file of a page that was removed, as told", func(_ *ledger, dir string) {
			write(t, dir, was, "it stayed")
			m := openMirror(t, dir, newShelf(t))
			deliver(t, m, plain(models.EventRemoved, "https://example.org/was", 3))
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}, Audited{All: 3, Files: 3, Whole: true}, nil},
		{"a file of a page that is gone", func(l *ledger, _ string) { l.gone[b] = true },
			Audited{All: 2, Files: 2, Stray: 1, Whole: true}, []AuditTrouble{{b, 0, fileB, "no page has this file any more"}}},
		{"a file of a page that has just gone", func(l *ledger, _ string) { l.gone[b], l.pending = true, []models.Event{pending(b)} },
			Audited{All: 2, Files: 2, Whole: true}, nil},
	}
}

func TestAnAuditOfNoMirror(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := new(Audit).Run(t.Context(), dir); !errors.Is(err, ErrNoMirror) {
			t.Errorf("an audit of %s: %v, want ErrNoMirror", dir, err)
		}
	}
}
