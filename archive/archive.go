package archive

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"recrawld/models"
)

// ErrClosed says that the archive was closed.
var ErrClosed = errors.New("archive is closed")

// Options sets up an Archive.
type Options struct {
	Worker     string           // part of every segment's name: letters, digits, dot, dash, underscore; required
	MaxSegment int64            // bytes from which on a segment is closed; default 1 GiB
	MaxAge     time.Duration    // age from which on a segment is closed at the next append; 0: never by age
	Software   string           // for the warcinfo record; default "recrawld"
	Agent      string           // the User-Agent in force, for the warcinfo record
	Recent     int64            // bytes of answers that are held in memory for Take; default 0: none
	Now        func() time.Time // the clock that names segments; required
	Log        *slog.Logger     // told of cut tails; default: nobody
}

// Archive appends records to the segments of one worker and reads those of all workers. It is safe for concurrent use.
type Archive struct {
	*Reader
	opts     Options
	members  members
	parcels  sync.Pool // of *parcel
	recent   recent
	openFile func(root *os.Root, name string) (file, error)

	mu      sync.Mutex // guards what is below
	current *segment   // nil: the next append begins one
	serial  int
	failed  error // final
}

// Open opens the archive in a directory, which it makes where there is none, and repairs what a crash of the same
// worker left: its open segments are cut after their last whole record and closed. The first Append begins a new one.
// There must be no other writer of the same worker name.
func Open(dir string, opts Options) (*Archive, error) {
	if !workerName.MatchString(opts.Worker) {
		return nil, fmt.Errorf("open archive: worker name %q: want 1 to 100 of A-Z a-z 0-9 . _ -", opts.Worker)
	}
	if opts.Now == nil {
		return nil, errors.New("open archive: no clock")
	}
	if opts.MaxSegment <= 0 {
		opts.MaxSegment = 1 << 30
	}
	if opts.Software == "" {
		opts.Software = "recrawld"
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	reader, err := OpenReader(dir)
	if err != nil {
		return nil, err
	}
	a := &Archive{Reader: reader, opts: opts, openFile: openFile, recent: recent{limit: opts.Recent}}
	if err := errors.Join(a.identify(), a.recover()); err != nil {
		return nil, errors.Join(fmt.Errorf("open archive: %w", err), reader.Close())
	}
	return a, nil
}

// Append writes the answer of a capture, and its request where there is one, and says where the body lies: for a
// capture that was seen before that is Seen.Record, the first record of the same body, unless its segment is gone; then the body
// is stored again. Nothing is durable before Sync.
// On an error nothing was written, and unless an fsync failed the next Append may succeed. With Options.Recent the body may
// be held, so it must stay as it is.
func (a *Archive) Append(c models.Capture) (models.Record, error) {
	id, info := newID(), ""
	if c.Seen != nil && !a.has(c.Seen.Record.File) {
		c.Seen = nil
	}
	a.mu.Lock()
	err := a.begin()
	if err == nil {
		info = a.current.infoID
	}
	a.mu.Unlock()
	if err != nil {
		return models.Record{}, err
	}
	// Building and compressing is nearly all of the work, so it is done outside the lock. Should the segment rotate
	// meanwhile, the record names the warcinfo of the segment before, which is still true of it.
	p, _ := a.parcels.Get().(*parcel)
	if p == nil {
		p = new(parcel)
	}
	defer a.parcels.Put(p)
	if err := p.pack(&a.members, c, id, info); err != nil {
		return models.Record{}, fmt.Errorf("append %s: %w", c.URL, err)
	}
	at, err := a.write(p)
	if err != nil {
		return models.Record{}, err
	}
	if c.Seen != nil {
		return c.Seen.Record, nil
	}
	if a.opts.Recent > 0 {
		a.recent.put(at, held(c))
	}
	return at, nil
}

// write appends a parcel to the segment and says where its answer lies.
func (a *Archive) write(p *parcel) (models.Record, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.begin(); err != nil {
		return models.Record{}, err
	}
	at := models.Record{File: a.current.name, Offset: a.current.size, Length: p.answerLength}
	return at, a.current.write(p.packed.Bytes())
}

// Sync makes everything appended so far durable with one fsync. Its error is final: the archive refuses all further
// appends, because after a failed fsync nobody knows what the disk holds.
func (a *Archive) Sync() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed != nil {
		return a.failed
	}
	return a.sync()
}

// Close syncs and closes the segment; neither appending nor reading is possible after it. A segment that could not be
// synced before stays open in name: to sync it again would say nothing of what it lost, and the next Open checks it.
func (a *Archive) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var err error
	switch {
	case a.failed == nil:
		a.failed = ErrClosed
		err = a.finish()
	case a.current != nil:
		err = a.current.file.Close()
		a.current = nil
	}
	return errors.Join(err, a.Reader.Close())
}

// begin makes sure that there is a segment to append to. The caller holds the lock, as for all below.
func (a *Archive) begin() error {
	if a.failed != nil {
		return a.failed
	}
	now := a.opts.Now()
	if s := a.current; s != nil {
		full := s.size >= a.opts.MaxSegment
		old := a.opts.MaxAge > 0 && now.Sub(s.openedAt) >= a.opts.MaxAge
		if !full && !old {
			return nil
		}
		if err := a.finish(); err != nil {
			return err
		}
	}
	return a.start(now)
}

// start begins a segment with its warcinfo record, or leaves nothing behind.
func (a *Archive) start(now time.Time) error {
	name, f, err := a.create(now)
	if err != nil {
		return err
	}
	s := &segment{name: name, file: f, openedAt: now}
	var plain, packed bytes.Buffer
	s.infoID, err = marshalInfo(&plain, name, now, segmentInfo(a.opts))
	if err == nil {
		err = a.members.append(&packed, plain.Bytes())
	}
	if err == nil {
		err = s.write(packed.Bytes())
	}
	if err != nil {
		return errors.Join(err, f.Close(), a.root.Remove(name+openSuffix))
	}
	a.current = s
	return nil
}

func (a *Archive) sync() error {
	s := a.current
	if s == nil || !s.unsynced {
		return nil
	}
	if err := s.file.Sync(); err != nil {
		a.failed = fmt.Errorf("sync segment %s: %w", s.name, err)
		return a.failed
	}
	s.unsynced = false
	return nil
}

// finish syncs and closes the current segment. A segment that cannot be closed keeps its suffix: the next Open repairs
// it, and it is read under either name.
func (a *Archive) finish() error {
	s := a.current
	if s == nil {
		return nil
	}
	if s.torn {
		if err := s.file.Truncate(s.size); err != nil {
			return fmt.Errorf("cut segment %s: %w", s.name, err)
		}
		s.torn = false
	}
	if err := a.sync(); err != nil {
		return err
	}
	a.current = nil
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("close segment %s: %w", s.name, err)
	}
	return settle(a.root, s.name)
}
