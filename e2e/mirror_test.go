package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"recrawld/sink"
)

// checkMirror makes sure that the mirror holds, for every page, what the origin served at the page's last visit, and no
// temporary file.
func (r *rehearsal) checkMirror(s state, visits []matched) {
	r.t.Helper()
	last := map[string]matched{}
	for _, m := range visits {
		if at, known := last[m.url]; !known || m.visit.number > at.visit.number {
			last[m.url] = m
		}
	}
	var troubles []string
	same := 0
	for url, m := range last {
		if m.entry.Digest == "" || !m.visit.kind.Observed() {
			continue
		}
		switch got, err := fileDigest(mirrored(r.data(), url)); {
		case err != nil:
			troubles = append(troubles, err.Error())
		case got != m.entry.Digest:
			troubles = append(troubles, fmt.Sprintf("%s has digest %.12s, the origin served %.12s", url, got, m.entry.Digest))
		default:
			same++
		}
	}
	complain(r.t, "files that are not what the origin served last", troubles)
	complain(r.t, "temporary files", temporaries(r.data()))
	r.report("mirror: %d of %d files equal what the origin served at the last visit; no temporary file", same, same+len(troubles))
}

// mirrored is the file of a URL in the mirror.
func mirrored(data, url string) string {
	return filepath.Join(data, "mirror", filepath.FromSlash(sink.Name(url)))
}

func fileDigest(path string) (string, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:]), nil
}

// temporaries lists the files of a data directory that look half-made, or lie where half-made ones do.
func temporaries(data string) (found []string) {
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := strings.ToLower(entry.Name())
		if strings.Contains(name, "tmp") || strings.HasSuffix(name, ".part") || filepath.Base(filepath.Dir(path)) == "tmp" {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		found = append(found, err.Error())
	}
	return found
}

// checkMirrored makes sure that the mirror holds the good copy of a fault's page.
func (h *hostileRun) checkMirrored(f fault, url string) {
	h.t.Helper()
	body, err := os.ReadFile(mirrored(h.data(), url))
	if err != nil || string(body) != goodBody+f.name {
		h.t.Errorf("%s: the mirror holds %.60q (%v), want the good copy", f.name, body, err)
	}
}
