package content

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"hash"
	"io"
	"strconv"
	"strings"
)

// A PDF that is made anew for each request differs in when that was and in what is drawn by chance: its information dictionary, its XMP metadata and
// its file identifier (ISO 32000-2, sections 14.3 and 14.4), dates of annotations and in fonts, the order and the numbers of its objects, and all
// offsets and lengths behind them. So its objects are compared in the order in which they refer to each other, from its catalog on, without these.
// Nothing is known of what a page draws: another picture or text, and the same one compressed otherwise, is another file.

var pdfMagic = []byte("%PDF-")

// samePDF tells whether two PDF files are one document, made at other times. Of what cannot be read, as what is encrypted, that is not known: false.
func samePDF(before, after []byte) bool {
	a, okA := pdfSum(before)
	b, okB := pdfSum(after)
	return okA && okB && a == b
}

// pdfSum sums up what a PDF file holds; false: it cannot be read. Time and memory are linear in the file and in MaxBytes, the most that is unpacked
// of it.
func pdfSum(body []byte) (sum [sha256.Size]byte, ok bool) {
	f := pdfFile{objects: make(map[int]pdfLexer), room: MaxBytes, left: len(body) + MaxBytes}
	f.index(pdfLexer{text: body})
	if f.broken || f.root.ref == 0 {
		return sum, false
	}
	s := pdfSummer{file: &f, sum: sha256.New(), order: make(map[int]int)}
	s.value("/Root", &f.root)
	s.value("/Info", &f.info)
	for i := 0; i < len(s.queue) && !f.broken; i++ {
		s.object(s.queue[i])
	}
	return [sha256.Size]byte(s.sum.Sum(nil)), !f.broken
}

// pdfFile is where the objects of a file lie.
type pdfFile struct {
	objects map[int]pdfLexer // each about to read its object
	root    pdfValue         // the catalog, as the last trailer refers to it
	info    pdfValue         // the information dictionary, likewise
	room    int              // bytes that may be unpacked yet
	left    int              // bytes of objects that may be summed up yet: packed ones may lie in each other
	broken  bool
}

// index finds all objects. Of one that is there more than once the last counts: it is an update.
func (f *pdfFile) index(l pdfLexer) {
	for !f.broken {
		switch token := l.next(); token {
		case "":
			return
		case "trailer":
			f.trailer(l.value(0))
		case "endobj", "xref", "n", "f", "startxref":
		default:
			f.numbered(&l, token)
		}
		f.broken = f.broken || l.broken
	}
}

// numbered reads what begins with a number: an object, or a line of a table.
func (f *pdfFile) numbered(l *pdfLexer, token string) {
	number, err := strconv.Atoi(token)
	at := l.at
	if err != nil || !isNumber(l.next()) || l.next() != "obj" {
		l.at, f.broken = at, err != nil
		return
	}
	f.objects[number] = *l
	object := l.value(0)
	stream, streams := l.stream(&object)
	switch object.entry("/Type").token {
	case "/XRef":
		f.trailer(object)
	case "/ObjStm":
		if streams {
			f.packed(&object, stream)
		}
	}
}

// trailer reads where the document begins.
func (f *pdfFile) trailer(t pdfValue) {
	f.broken = f.broken || t.entry("/Encrypt").token != ""
	if root := t.entry("/Root"); root.ref != 0 {
		f.root = root
	}
	if info := t.entry("/Info"); info.ref != 0 {
		f.info = info
	}
}

// packed finds the objects in a stream of such (section 7.5.7).
func (f *pdfFile) packed(object *pdfValue, stream []byte) {
	text, ok := f.unpack(object, stream)
	first, err := strconv.Atoi(object.entry("/First").token)
	if !ok || err != nil || first < 0 || first > len(text) {
		f.broken = true
		return
	}
	places := pdfLexer{text: text[:first]}
	for token := places.next(); token != ""; token = places.next() {
		number, err := strconv.Atoi(token)
		offset, ill := strconv.Atoi(places.next())
		if err != nil || ill != nil || offset < 0 || offset > len(text)-first {
			f.broken = true
			return
		}
		f.objects[number] = pdfLexer{text: text[first+offset:]}
	}
}

// unpack is what a stream holds that is packed by deflate alone.
func (f *pdfFile) unpack(object *pdfValue, stream []byte) ([]byte, bool) {
	if object.entry("/Filter").token != "/FlateDecode" || object.entry("/DecodeParms").token != "" {
		return nil, false
	}
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(z, int64(f.room)+1))
	f.room -= min(len(text), f.room)
	return text, err == nil && f.room > 0
}

// pdfSummer sums up objects, each once.
type pdfSummer struct {
	file  *pdfFile
	sum   hash.Hash
	order map[int]int // objects by number: the how manieth that is referred to
	queue []pdfQueued // these
}

// pdfQueued is an object and the name under which another refers to it.
type pdfQueued struct {
	number int
	key    string
}

// object sums up an object with its stream. One that is not there is null (section 7.3.10).
func (s *pdfSummer) object(q pdfQueued) {
	l, ok := s.file.objects[q.number]
	if !ok {
		s.write("null")
		return
	}
	began := l.at
	v := l.value(0)
	s.value(q.key, &v)
	stream, ok := l.stream(&v)
	s.file.left -= l.at - began
	s.file.broken = s.file.broken || l.broken || s.file.left < 0
	if !ok {
		return
	}
	if q.key == "/FontFile2" {
		if font, ok := s.file.unpack(&v, stream); ok {
			stream = withoutDates(font)
		}
	}
	s.write("stream")
	s.write(string(stream))
}

// value sums up a value.
func (s *pdfSummer) value(key string, v *pdfValue) {
	switch {
	case v.ref != 0:
		place, known := s.order[v.ref]
		if !known {
			place = len(s.queue)
			s.order[v.ref] = place
			s.queue = append(s.queue, pdfQueued{v.ref, key})
		}
		s.write(strconv.Itoa(place))
	case v.token == "[":
		for i := range v.list {
			s.value(key, &v.list[i])
		}
	case v.token == "<<":
		for i := range v.dict {
			if e := &v.dict[i]; !byChance(e) {
				s.write(e.key)
				s.value(e.key, &e.value)
			}
		}
	default:
		s.write(untagged(v.token))
		return
	}
	s.write(v.token)
}

// write sums up a word, so that it does not run into the next.
func (s *pdfSummer) write(word string) {
	s.sum.Write(append(strconv.AppendInt(nil, int64(len(word)), 10), ' '))
	io.WriteString(s.sum, word)
}

// byChance tells an entry of a dictionary that differs whenever the file is made.
func byChance(e *pdfEntry) bool {
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
