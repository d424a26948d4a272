package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/diff"
	"recrawld/models"
)

// manualOfJSON is docs/json.md: by the title of a section, which is the beginning of a command line or the name of a type, the fields that it
// lists, with their types.
var manualOfJSON = sync.OnceValue(func() map[string]map[string]string {
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		panic(err) // a test without the file it is about
	}
	sections, field := make(map[string]map[string]string), regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\| [^|]+ \\|$")
	var titles []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			titles = strings.Split(title, ", ")
			for _, title := range titles {
				sections[title] = make(map[string]string)
			}
		}
		if m := field.FindStringSubmatch(line); m != nil {
			for _, title := range titles {
				sections[title][m[1]] = m[2]
			}
		}
	}
	return sections
})

// inTheManualOfJSON fails where an answer has a field that the manual does not list for the command.
func inTheManualOfJSON(t *testing.T, line string, paths []string) {
	t.Helper()
	sections, best := manualOfJSON(), ""
	for title := range sections {
		if strings.HasPrefix(line+" ", title+" ") && len(title) > len(best) {
			best = title
		}
	}
	for _, path := range paths {
		if !listsField(best, path) {
			t.Errorf("docs/json.md does not list %s of recrawld %s (section %q)", path, line, best)
		}
	}
}

// listsField tells whether a section lists a field: by itself, or as one of a type that another one of its fields is of.
func listsField(title, path string) bool {
	fields := manualOfJSON()[title]
	if fields[path] != "" {
		return true
	}
	for field, of := range fields {
		_, anchor, linked := strings.Cut(of, "(#")
		anchor, _, _ = strings.Cut(anchor, ")")
		rest, within := strings.CutPrefix(path, field)
		if field == "." {
			rest, within = "."+path, true
		}
		if linked && within {
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, "[]"), ".")
			if listsField(typeOf(anchor), rest) {
				return true
			}
		}
	}
	return false
}

// typeOf is the title of the section that an anchor leads to: "A page" for a-page.
func typeOf(anchor string) string {
	title := strings.ReplaceAll(anchor, "-", " ")
	return strings.ToUpper(title[:1]) + title[1:]
}

// pathsIn are the fields of an answer: a.b is in a, a[].b in each of a list, and what stands under names that are data is a.*.
func pathsIn(prefix string, value any) (paths []string) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if isData(prefix) {
				key = "*"
			}
			path := strings.TrimPrefix(prefix+"."+key, ".")
			paths = append(append(paths, path), pathsIn(path, inner)...)
		}
	case []any:
		for _, inner := range v {
			paths = append(paths, pathsIn(prefix+"[]", inner)...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// isData tells whether the keys of an object are data: the names of states, sinks, headers.
func isData(path string) bool {
	return slices.ContainsFunc([]string{"states", "sinks_withhold", "sinks_passed", "sinks_trouble", "rows[].fr_max"}, func(name string) bool {
		return path == name || strings.HasSuffix(path, "."+name)
	})
}

// pathsOf are the fields that answers of a type may have, those that are left out when they say nothing included. A type within itself has its
// own once.
func pathsOf(prefix string, of reflect.Type, within ...reflect.Type) (paths []string) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	text := reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
	itself := reflect.TypeFor[json.Marshaler]()
	switch {
	case of == reflect.TypeFor[time.Time]() || of.Implements(text) || of.Implements(itself) || reflect.PointerTo(of).Implements(text):
		return nil
	case of.Kind() == reflect.Slice || of.Kind() == reflect.Array:
		return pathsOf(prefix+"[]", of.Elem(), within...)
	case of.Kind() == reflect.Map:
		path := strings.TrimPrefix(prefix+".*", ".")
		return append(pathsOf(path, of.Elem(), within...), path)
	case of.Kind() != reflect.Struct || slices.Contains(within, of):
		return nil
	}
	within = append(slices.Clone(within), of)
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported() && !field.Anonymous:
		case field.Anonymous && name == "":
			paths = append(paths, pathsOf(prefix, field.Type, within...)...)
		default:
			if name == "" {
				name = field.Name
			}
			path := strings.TrimPrefix(prefix+"."+name, ".")
			paths = append(append(paths, path), pathsOf(path, field.Type, within...)...)
		}
	}
	return paths
}

// TestTheManualOfJSONListsEveryField: also those that are left out where they say nothing, which the answers of tests may never have.
func TestTheManualOfJSONListsEveryField(t *testing.T) {
	t.Parallel()
	for line, of := range map[string]reflect.Type{
		"status": reflect.TypeFor[status](), "show": reflect.TypeFor[shownPage](), "show --text": reflect.TypeFor[shownText](),
		"why": reflect.TypeFor[shownWhy](), "why (not known)": reflect.TypeFor[unknown](), "diff": reflect.TypeFor[diff.Difference](),
		"sink list": reflect.TypeFor[[]sinkState](), "sink redirects": reflect.TypeFor[[]redirect](), "verify": reflect.TypeFor[verified](), "plan": reflect.TypeFor[planAnswer](),
		"add": reflect.TypeFor[survey](), "import": reflect.TypeFor[importCounts](), "export": reflect.TypeFor[exported](),
		"visit": reflect.TypeFor[visitAnswer](), "db distribute": reflect.TypeFor[models.Distribution](), "db rewind": reflect.TypeFor[models.Rewound](),
	} {
		inTheManualOfJSON(t, line, pathsOf("", of))
	}
}

// notAnswered are the files, or names in files, whose fields no command answers with, and why.
var notAnswered = map[string]string{
	"archives.go": "a note in the database", "goesby.go": "a note in the database",
	"bench_measure.go": "a measurement", "bench_evidence.go": "a measurement", "bench_origin.go": "a measurement",
	"bench_significance.go": "a measurement",
	"chore_note.go":         "a note in the database", "importance_chore.go": "a note in the database", "requisites_chore.go": "a note in the database",
	"unnamed_chore.go": "a note in the database", "unusual.go: site_id": "a note in the database", "unusual_sampled.go": "a note in the database",
	"web.go":         "an answer of /v1 (docs/feeding.md)",
	"plan.go: cycle": "a setting", "daemon.go: listen": "a setting",
}

// TestTheManualOfJSONKnowsEveryName: of all columns of tables and all fields of structs in the sources, so that one of a new command, or of one
// whose answers no test has in full, is not forgotten.
func TestTheManualOfJSONKnowsEveryName(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for _, fields := range manualOfJSON() {
		for path := range fields {
			for name := range strings.SplitSeq(path, ".") {
				known[strings.TrimSuffix(name, "[]")] = true
			}
		}
	}
	named := regexp.MustCompile("`json:\"([a-z0-9_]+)|\\{Key: \"([a-z0-9_]+)\"")
	var files []string
	for _, pattern := range []string{"*.go", "../../report/*.go", "../../diff/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || notAnswered[file] != "" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			name, at := m[1]+m[2], filepath.Base(file)
			if !known[name] && notAnswered[at+": "+name] == "" {
				t.Errorf("docs/json.md does not list %s of %s", name, at)
			}
		}
	}
}
