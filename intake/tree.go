package intake

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"strings"

	"recrawld/recrawl/canon"
)

// lists are files of a mirror that tell its pages better than its names do.
var lists = []struct {
	name   string
	format Format
}{
	{"hts-cache/new.txt", HTTrack},
	{".recrawl/manifest.ndjson", JSONL},
}

// readTree reads a mirror: by a list of its pages in it, or by the names of its files. name is that of the directory itself.
func readTree(root fs.FS, name string, o Options) (*Source, error) {
	for _, list := range lists {
		if o.Format == Tree {
			break
		}
		file, err := root.Open(list.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return read(file, Options{Format: list.format}, file.Close)
	}
	if _, err := fs.Stat(root, "hts-cache"); o.Format == HTTrack || err == nil && o.Format == Auto {
		return nil, fmt.Errorf("%w: a mirror of HTTrack without hts-cache/new.txt, which lists its URLs; --format tree goes by its names", ErrFormat)
	}
	hosts, err := hostDirectories(root, name, o)
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%w: a directory in which none is named for a host, as wget has it", ErrFormat)
	}
	return &Source{Format: Tree, close: func() error { return nil }, items: func(yield func(Item, error) bool) {
		for _, host := range hosts {
			if !host.each(root, yield) {
				return
			}
		}
	}}, nil
}

// hostDirectory is a directory of the files of one host.
type hostDirectory struct{ dir, origin string }

// hostDirectories are those of a tree: the directory itself, or those in it, below one for each scheme where there are such.
func hostDirectories(root fs.FS, name string, o Options) ([]hostDirectory, error) {
	scheme := o.Scheme
	if scheme == "" {
		scheme = "https"
	}
	if origin := originOf(scheme, name); origin != "" && !mirroredInto(root, name) {
		return []hostDirectory{{".", origin}}, nil
	}
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return nil, err
	}
	var hosts []hostDirectory
	for _, entry := range entries {
		if origin := originOf(scheme, entry.Name()); origin != "" && entry.IsDir() {
			hosts = append(hosts, hostDirectory{entry.Name(), origin})
		}
	}
	for _, scheme := range []string{"http", "https"} {
		below, err := fs.ReadDir(root, scheme)
		if err != nil {
			continue // there is none
		}
		for _, entry := range below {
			if origin := originOf(scheme, entry.Name()); origin != "" && entry.IsDir() {
				hosts = append(hosts, hostDirectory{path.Join(scheme, entry.Name()), origin})
			}
		}
	}
	return hosts, nil
}

// mirroredInto tells whether a directory that is named for a host is where wget was run for it, and not what wget made: in what it made lie
// the host's root page and robots.txt.
func mirroredInto(root fs.FS, name string) bool {
	if within, err := fs.Stat(root, name); err != nil || !within.IsDir() {
		return false
	}
	for _, file := range []string{"index.html", "robots.txt"} {
		if _, err := fs.Stat(root, file); err == nil {
			return false
		}
	}
	return true
}

// originOf is the origin that a directory is named for; "": its name is none of a host. A port stands behind a colon, or behind a plus sign
// where a colon cannot stand in a name.
func originOf(scheme, name string) string {
	host, port, found := strings.Cut(strings.Replace(name, "+", ":", 1), ":")
	if found && port == "" {
		return ""
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	_, err := netip.ParseAddr(host)
	if host != "localhost" && err != nil && (len(labels) < 2 || len(last) < 2 || strings.Trim(last, "0123456789") != last) {
		return ""
	}
	if port != "" {
		host += ":" + port
	}
	u, err := canon.Parse(scheme + "://" + host + "/")
	if err != nil || u.Path() != "/" {
		return ""
	}
	return u.Origin()
}

// each gives the files of a host; false: no more are wanted.
func (h hostDirectory) each(root fs.FS, yield func(Item, error) bool) bool {
	more := true
	err := fs.WalkDir(root, h.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		below := strings.TrimPrefix(strings.TrimPrefix(name, h.dir), "/")
		if h.dir == "." {
			below = name
		}
		item := Item{URL: h.origin + "/" + requestOf(below), Skip: leftBehind(below), Place: Place{File: name}}
		if more = yield(item, nil); !more {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		yield(Item{}, err)
		return false
	}
	return more
}

// leftBehind tells the files that wget writes for itself.
func leftBehind(name string) bool {
	return name == "robots.txt" || path.Base(name) == ".listing" || strings.HasSuffix(name, ".orig")
}

// requestOf is the path and query of a file's name. index.html is what wget calls a directory's page; what it adds behind a query so that
// browsers show it goes.
func requestOf(name string) string {
	place, query, asked := strings.Cut(name, "?")
	if !asked {
		if dir, file := path.Split(place); file == "index.html" {
			place = dir
		}
		return escaped(place)
	}
	if dir, file := path.Split(place); file == "index.html" {
		place = dir
	}
	return escaped(place) + "?" + escaped(strings.TrimSuffix(query, ".html"))
}

// escaped is a part of a name as it stands in a URL: what a URL parser would take for something else is escaped. Escapes that are there stay.
func escaped(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '#' || c == '\\' || c <= ' ' || c == 0x7F, c == '%' && !isEscape(name[i:]):
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isEscape(s string) bool {
	return len(s) >= 3 && strings.Trim(s[1:3], "0123456789abcdefABCDEF") == ""
}
