package pdf

import (
	"crypto/sha256"
	"hash"
	"strconv"
	"strings"
)

// What differs whenever a document is made: a PDF that is made anew for each request differs in when that was and in what is drawn by chance: its information dictionary, its XMP metadata and
// its file identifier (ISO 32000-2, sections 14.3 and 14.4), dates of annotations and in fonts, the order and the numbers of its objects, and all
// offsets and lengths behind them. So its objects are compared in the order in which they refer to each other, from its catalog on, without these.
// Nothing is known of what a page draws: another picture or text, and the same one compressed otherwise, is another file.

// Same tells whether two PDF files are one document, made at other times. Of what cannot be read, as what is encrypted, that is not known: false.
func Same(before, after []byte) bool {
	a, okA := sumOf(before)
	b, okB := sumOf(after)
	return okA && okB && a == b
}

// sumOf sums up what a file holds; false: it cannot be read.
func sumOf(body []byte) (sum [sha256.Size]byte, ok bool) {
	f, ok := open(body)
	if !ok {
		return sum, false
	}
	s := newSummer(f)
	s.value("/Info", &f.info)
	s.all()
	return [sha256.Size]byte(s.sum.Sum(nil)), !f.broken
}

func newSummer(f *file) *summer { return &summer{file: f, sum: sha256.New(), order: make(map[int]int)} }

// all sums up the catalog and what it and what was summed up before refer to.
func (s *summer) all() {
	s.value("/Root", &s.file.root)
	for i := 0; i < len(s.queue) && !s.file.broken; i++ {
		s.object(s.queue[i])
	}
}

// summer sums up objects, each once.
type summer struct {
	file  *file
	sum   hash.Hash
	order map[int]int // objects by number: the how manieth that is referred to
	queue []queued    // these

	known map[int]known // of some objects: what need not be summed up
	word  []byte        // the last that was
}

// known is what of an object is compared otherwise.
type known uint8

const (
	knownStream known = iota + 1 // what its stream holds
	knownAll
)

// queued is an object and the name under which another refers to it.
type queued struct {
	number int
	key    string
}

// object sums up an object with its stream.
func (s *summer) object(q queued) {
	if s.known[q.number] == knownAll {
		return
	}
	l := s.file.objects[q.number]
	v := s.file.read(&l)
	s.value(q.key, &v)
	stream, ok := s.file.stream(&l, &v)
	if !ok || s.known[q.number] == knownStream {
		return
	}
	if q.key == "/FontFile2" {
		if font, ok := s.file.unpack(&v, stream); ok {
			stream = withoutDates(font)
		}
	}
	s.write("stream")
	s.write(strconv.Itoa(len(stream)))
	s.sum.Write(stream)
}

// value sums up a value, so that what it holds does not run into what follows. What refers to no object is null (section 7.3.10).
func (s *summer) value(key string, v *value) {
	switch {
	case v.ref != 0:
		if _, ok := s.file.objects[v.ref]; !ok {
			s.write("null")
			return
		}
		place, known := s.order[v.ref]
		if !known {
			place = len(s.queue)
			s.order[v.ref] = place
			s.queue = append(s.queue, queued{v.ref, key})
		}
		s.write("R")
		s.write(strconv.Itoa(place))
	case v.token == "[":
		s.write("[")
		for i := range v.list {
			s.value(key, &v.list[i])
		}
		s.write("]")
	case v.token == "<<":
		s.write("<<")
		for i := range v.dict {
			if e := &v.dict[i]; !byChance(e) {
				s.write(e.key)
				s.value(e.key, &e.value)
			}
		}
		s.write(">>")
	default:
		s.write(untagged(v.token))
	}
}

// write sums up a word, so that it does not run into the next.
func (s *summer) write(word string) {
	s.word = append(strconv.AppendInt(s.word[:0], int64(len(word)), 10), ' ')
	s.word = append(s.word, word...)
	s.sum.Write(s.word)
}

// byChance tells an entry of a dictionary that differs whenever the file is made.
func byChance(e *entry) bool {
	switch e.key {
	case "/CreationDate", "/ModDate", "/LastModified", "/Metadata", "/Length":
		return true
	case "/M":
		return strings.HasPrefix(e.value.token, "(D:")
	}
	return false
}

// untagged is a name without the letters that mark a font of which a part is in the file (section 9.9.2), which some programs draw by chance.
func untagged(name string) string {
	const tag = len("/ABCDEF")
	if len(name) <= tag || name[0] != '/' || name[tag] != '+' || strings.Trim(name[1:tag], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return name
	}
	return "/" + name[tag:]
}
