package folder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"recrawld/export"
)

// listName is the list of all pages, for programs.
const listName = ours + "/pages.ndjson"

// line is a line of the list: a page with its file, or one that leads elsewhere.
type line struct {
	URL     string `json:"url"`
	File    string `json:"file,omitempty"`
	Version int32  `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Type    string `json:"type,omitempty"`
	FoundAt string `json:"found_at,omitempty"`
	To      string `json:"redirect_to,omitempty"`
}

func (r *run) listPage(a export.Answer, e entry) error {
	return r.listLine(line{URL: a.URL, File: e.file, Version: e.number, Digest: a.Digest.String(), Type: a.ContentType,
		FoundAt: a.At.UTC().Format(time.RFC3339)})
}

// listRedirects lists the pages that lead elsewhere, to a page in the folder.
func (r *run) listRedirects(ctx context.Context) error {
	for entry, err := range r.names.redirects.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		url, to, _ := strings.Cut(string(entry), "\x00")
		file, err := r.names.held(url)
		if err == nil && file != "" {
			r.sum.Redirects++
			err = r.listLine(line{URL: url, File: file, To: to})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) listLine(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return r.listed.Add(append(append([]byte(l.URL), 0), text...))
}

// writeList writes the list by URL.
func (r *run) writeList(ctx context.Context) error {
	path := filepath.Join(r.draft.path, filepath.FromSlash(listName))
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	for entry, err := range r.listed.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(err, file.Close())
		}
		_, text, _ := bytes.Cut(entry, []byte{0})
		out.Write(text) // an error is that of Flush
		out.WriteByte('\n')
		r.draft.bytes += int64(len(text) + 1)
	}
	return errors.Join(out.Flush(), file.Close())
}
