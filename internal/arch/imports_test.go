package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "recrawld"

// arrows lists, for each package, the packages of this module that it may import; tests are free. A package that is
// not listed has no place in the house yet. "*" is every package.
var arrows = map[string][]string{
	"cmd/recrawld": {"*"},

	"web":      {"report", "models", "config"},
	"report":   {"models", "config", "scheduler/changerate", "scheduler/slo", "internal/sorter", "report/rhythm"},
	"diff":     {"models", "report", "recrawl/content"},
	"digest":   {"models", "report"},
	"sink":     {"models", "archive", "config", "clock", "digest", "internal/filename"},
	"verify":   {"models", "archive", "internal/sorter"},
	"simulate": {"scheduler", "scheduler/policy", "scheduler/changerate", "models", "config", "clock"},

	"scheduler": {"models", "config", "clock", "scheduler/policy", "scheduler/changerate", "scheduler/load",
		"recrawl/fingerprint"},
	"scheduler/policy":     {"models", "config", "scheduler/changerate"},
	"scheduler/storetest":  {"scheduler", "models"},
	"scheduler/changerate": {},
	"scheduler/load":       {"models"},

	"recrawl": {"models", "config", "clock", "recrawl/canon", "recrawl/robots", "recrawl/fingerprint",
		"recrawl/extract", "recrawl/scope", "recrawl/sitemap", "recrawl/content", "recrawl/pdf"},
	"recrawl/resolve":     {"clock"},
	"recrawl/canon":       {},
	"recrawl/robots":      {},
	"recrawl/fingerprint": {},
	"recrawl/content":     {"models", "config", "recrawl/canon", "recrawl/extract", "recrawl/fingerprint", "recrawl/pdf"},
	"recrawl/pdf":         {},
	"recrawl/css":         {},
	"recrawl/script":      {},
	"recrawl/extract":     {"recrawl/canon", "recrawl/css", "recrawl/fingerprint", "recrawl/script"},
	"recrawl/scope":       {"config", "recrawl/canon"},
	"recrawl/sitemap":     {"recrawl/canon"},

	"importance":    {},
	"report/rhythm": {},
	"scheduler/slo": {"scheduler/changerate"},

	"archive":       {"models"},
	"intake":        {"archive", "recrawl/canon", "recrawl/extract", "recrawl/sitemap"},
	"export":        {"models", "archive", "internal/sorter"},
	"export/folder": {"models", "export", "recrawl/canon", "recrawl/css", "recrawl/extract", "internal/filename", "internal/leftover", "internal/sorter"},
	"models":        {"models/migrations"},
	"config":        {},
	"clock":         {},

	"models/migrations":   {},
	"internal/smtptest":   {},
	"internal/shared":     {},
	"internal/solo":       {},
	"internal/prefilled":  {},
	"internal/sorter":     {},
	"internal/leftover":   {},
	"internal/filename":   {},
	"internal/freshbench": {"clock", "models", "scheduler/changerate", "simulate"},
	"internal/arch":       {},
	"internal/pgtest":     {},
	"internal/hostile":    {"clock"},
	"internal/sitefarm":   {"clock"},
	"internal/pagebench":  {"models", "recrawl/canon", "recrawl/content", "recrawl/extract"},
	"internal/bench":      {"clock", "internal/pgtest"},
	"systemd":             {},

	"internal/origin":       {"clock"},
	"internal/origin/story": {"internal/origin"},
	"e2e":                   {},
}

// outside lists the modules and packages that only some of our packages may import: what each of them wraps.
var outside = map[string][]string{
	"gorm.io/":                        {"models"},
	"database/sql":                    {"models", "internal/pgtest"},
	"github.com/jackc/pgx":            {"models", "internal/pgtest"},
	"modernc.org/sqlite":              {"models"},
	"zombiezen.com/go/sqlite":         {"models"},
	"github.com/alecthomas/kong":      {"cmd/recrawld"},
	"github.com/coreos/go-systemd":    {"cmd/recrawld"},
	"github.com/jedib0t/go-pretty":    {"cmd/recrawld", "report", "diff"},
	"github.com/goccy/go-yaml":        {"config"},
	"github.com/wneessen/go-mail":     {"sink"},
	"github.com/robfig/cron":          {"config", "scheduler"},
	"github.com/nlnwa/gowarc":         {"archive"},
	"github.com/nlnwa/whatwg-url":     {"recrawl/canon"},
	"github.com/jimsmart/grobotstxt":  {"recrawl/robots"},
	"code.dny.dev/ssrf":               {"recrawl"},
	"github.com/pquerna/cachecontrol": {"recrawl"},
	"golang.org/x/net/html":           {"recrawl/content", "recrawl/extract", "recrawl/fingerprint", "recrawl/sitemap", "intake", "internal/origin", "diff", "export/folder"},
	"github.com/andybalholm/cascadia": {"config", "recrawl/content"},
	"github.com/prometheus/":          {"web", "scheduler", "recrawl", "recrawl/resolve", "sink", "archive", "cmd/recrawld"},
	"net/http": {"recrawl", "recrawl/extract", "scheduler/load", "web", "sink", "archive", "cmd/recrawld", "internal/origin", "internal/origin/story",
		"internal/hostile", "internal/sitefarm"},
	"github.com/google/go-cmp":          {"scheduler/storetest"},
	"pgregory.net/rapid":                {"scheduler/storetest"},
	"log":                               {"cmd/recrawld"}, // to silence it: libraries write there, we have slog
	"github.com/stretchr/testify":       {},
	"github.com/mattn/go-sqlite3":       {},
	"math/rand":                         {},
	"github.com/remyoudompheng/bigfft":  {},
	"github.com/prometheus/prometheus/": {},
}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string
	Imports    []string
}

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	for _, pkg := range list(t) {
		name := strings.TrimPrefix(pkg.ImportPath, module+"/")
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s is not in the table of arrows: say what it may import", name)
			continue
		}
		for _, imported := range pkg.Imports {
			target, own := strings.CutPrefix(imported, module+"/")
			if own && !slices.Contains(allowed, "*") && !slices.Contains(allowed, target) {
				t.Errorf("%s imports %s; it may import %v", name, target, allowed)
			}
		}
	}
}

// TestTheDaemonCarriesTheTimeZones holds that a window in Europe/Berlin is understood on a machine without time zones of its own.
func TestTheDaemonCarriesTheTimeZones(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(list(t), func(p listed) bool { return p.ImportPath == module+"/config" })
	if i < 0 || !slices.Contains(list(t)[i].Imports, "time/tzdata") {
		t.Error("package config does not import time/tzdata")
	}
}

func TestLibrariesStayBehindTheirPackage(t *testing.T) {
	t.Parallel()
	for _, pkg := range list(t) {
		name := strings.TrimPrefix(pkg.ImportPath, module+"/")
		for _, imported := range pkg.Imports {
			for library, homes := range outside {
				if under(imported, library) && !slices.Contains(homes, name) {
					t.Errorf("%s imports %s, which belongs to %v", name, imported, homes)
				}
			}
		}
	}
}

// under tells whether path is the library or a package below it; a library that ends in "/" is any path below it.
func under(path, library string) bool {
	return path == library || strings.HasPrefix(path, strings.TrimSuffix(library, "/")+"/") && library != "log" &&
		library != "net/http"
}

func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}
