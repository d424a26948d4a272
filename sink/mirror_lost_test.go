package sink

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func TestABodyThatIsLostHoldsNothingUp(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m, told := openMirror(t, dir, s), new(logged)
	m.options.Log = told.logger()
	lost := s.event(models.EventChanged, "https://a.org/a.html", "two", 2)
	lost.Record.Length--
	missing := s.event(models.EventNew, "https://a.org/b.html", "bee", 1)
	missing.Record.File = "recrawld-w9-20260101000000-00001.warc.gz"
	deliver(t, m, s.event(models.EventNew, "https://a.org/a.html", "one", 1), lost, missing,
		s.event(models.EventNew, "https://a.org/c.html", "sea", 1))
	if d := cmp.Diff(map[string]string{"a.org/a.html": "one", "a.org/c.html": "sea"}, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
	if told.count("\n") != 1 || told.count("level=ERROR") != 1 || told.count("pages=2 first=https://a.org/a.html") != 1 {
		t.Errorf("want one error for both pages, got:\n%s", told.text.String())
	}
	known := missing
	known.Record.Length = -known.Record.Length
	deliver(t, m, known)
	if told.count("level=ERROR") != 1 || told.count("level=INFO") != 1 {
		t.Errorf("want what was known to be lost told as information:\n%s", told.text.String())
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, dir); rows["https://a.org/b.html"].State != "lost" {
		t.Errorf("row = %+v, want state lost", rows["https://a.org/b.html"])
	}
}
