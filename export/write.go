package export

import (
	"cmp"
	"context"
	"io"
	"time"

	"recrawld/archive"
	"recrawld/internal/sorter"
	"recrawld/models"
)

// writeIndex writes a CDXJ index of the segments.
func (e *Exporter) writeIndex(ctx context.Context, captures *sorter.Sorter, out io.Writer) (Summary, error) {
	lines := sorter.New(e.o.Temp)
	defer lines.Close()
	b, whole := e.newBodies(), false // whether the body's own record is in the index
	err := b.each(ctx, captures, func(f found) error {
		if f.first {
			whole = f.original()
		}
		l := Line{URL: f.url, At: f.date, MIME: mediaType(f.head.Header("Content-Type")), Status: f.head.Status(), Digest: f.digest, Record: f.capture.body}
		if whole && f.place.File != "" && !f.original() {
			l.MIME, l.Record = revisitType, f.place
		}
		return lines.Add(l.append(nil))
	})
	if err != nil {
		return b.sum, err
	}
	return b.sum, writeSorted(ctx, lines, out)
}

// writeSorted writes entries in order.
func writeSorted(ctx context.Context, lines *sorter.Sorter, out io.Writer) error {
	for line, err := range lines.All() {
		if err == nil {
			_, err = out.Write(line)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a WARC file.
func (e *Exporter) writeFile(ctx context.Context, captures *sorter.Sorter, out io.Writer) (Summary, error) {
	return e.writeRecords(ctx, captures, out, cmp.Or(e.o.Name, "export.warc.gz"), func(found, Line) error { return nil })
}

// writeRecords writes the records of captures to a WARC file of this name, and calls written with each and its line in an index of that
// file.
func (e *Exporter) writeRecords(ctx context.Context, captures *sorter.Sorter, out io.Writer, name string, written func(found, Line) error) (Summary, error) {
	w, err := archive.NewWriter(out, name, e.o.Software, e.o.About, e.o.Now)
	if err != nil {
		return Summary{}, err
	}
	b := e.newBodies()
	r := recordWriter{Writer: w, session: b.session, infos: make(map[string]string)}
	err = b.each(ctx, captures, func(f found) error {
		l := Line{URL: f.url, At: f.date, MIME: mediaType(f.head.Header("Content-Type")), Status: f.head.Status(), Digest: f.digest}
		place, revisit, err := r.write(f)
		if err != nil {
			return err
		}
		if revisit {
			l.MIME = revisitType
		}
		l.Record = models.Record{File: name, Offset: place.Offset, Length: place.Length}
		return written(f, l)
	})
	return b.sum, err
}

// recordWriter writes captures so that every revisit record refers to a response before it.
type recordWriter struct {
	*archive.Writer
	session *archive.Session
	infos   map[string]string // IDs of the warcinfo records that were written, by segment

	url  string // of the response that has the body
	at   time.Time
	here bool // it is the body's own record
}

// write writes a capture, with its request where there is one, and says where it lies and whether it is a revisit record.
func (r *recordWriter) write(f found) (place archive.Place, revisit bool, err error) {
	again := archive.Capture{URL: f.url, At: f.date, Head: f.head, Body: f.body}
	id := ""
	switch {
	case f.first:
		r.url, r.at, r.here = f.url, f.date, f.original()
		if r.here {
			place, err = r.copy(f)
		} else {
			place, id, err = r.Whole(again)
		}
	case r.here && f.place.File != "" && !f.original():
		revisit = true
		place, err = r.copy(f)
	default:
		revisit = true
		place, id, err = r.Revisit(again, r.url, r.at)
	}
	if err != nil || f.place.File == "" {
		return place, revisit, err
	}
	if request, ok := r.session.Request(f.place, f.head); ok && id == "" {
		_, err = r.Copy(request)
	} else if ok {
		err = r.Writer.Request(request, id)
	}
	return place, revisit, err
}

// copy writes a record as it is, after the warcinfo record of its segment. Where a segment was begun while the record was written, it names
// that of the one before; then it is made to name the file's.
func (r *recordWriter) copy(f found) (archive.Place, error) {
	segment := f.place.File
	if _, written := r.infos[segment]; !written {
		info, ok := r.session.Info(segment)
		if ok {
			if _, err := r.Copy(info); err != nil {
				return archive.Place{}, err
			}
		}
		r.infos[segment] = info.ID()
	}
	if f.head.Info() != r.infos[segment] {
		return r.Adopt(f.head)
	}
	return r.Copy(f.head)
}
