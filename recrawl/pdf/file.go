// Package pdf reads PDF files (ISO 32000-2) as far as what changed in one needs: whether two files are one document made at other times, and what a
// document says.
//
// Nothing fails: of a file that makes no sense, or is encrypted, nothing is known. Objects are found by reading the file from its beginning, not by its table
// of where they lie, so a table that is wrong does no harm. Time and memory are bounded by the file's length and maxUnpacked, whatever it says. Everything is
// pure and safe for concurrent use.
package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"io"
	"slices"
	"strconv"
)

const (
	maxUnpacked = 32 << 20 // how many bytes of one file's streams are unpacked
	readings    = 4        // how many times over the objects of a file are read at most
	mostObjects = 1 << 19
)

// Is tells a PDF file by what it begins with.
func Is(body []byte) bool { return bytes.HasPrefix(body, []byte("%PDF-")) }

// file is where the objects of a file lie.
type file struct {
	objects map[int]lexer // each about to read its object
	root    value         // the catalog, as the last trailer refers to it
	info    value         // the information dictionary, likewise
	room    int           // bytes that may be unpacked yet
	left    int           // bytes of objects that may be read yet: packed ones may lie in each other
	broken  bool
}

// open finds the objects of a file; false: it cannot be read.
func open(body []byte) (*file, bool) {
	f := &file{objects: make(map[int]lexer), room: maxUnpacked, left: readings * len(body)}
	f.index(lexer{text: body})
	return f, !f.broken && f.root.ref != 0
}

// index finds all objects. Of one that is there more than once the last counts: it is an update.
func (f *file) index(l lexer) {
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
func (f *file) numbered(l *lexer, token string) {
	number, err := strconv.Atoi(token)
	at := l.at
	if err != nil || !isNumber(l.next()) || l.next() != "obj" {
		l.at, f.broken = at, err != nil
		return
	}
	f.add(number, *l)
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
func (f *file) trailer(t value) {
	f.broken = f.broken || t.entry("/Encrypt").token != ""
	if root := t.entry("/Root"); root.ref != 0 {
		f.root = root
	}
	if info := t.entry("/Info"); info.ref != 0 {
		f.info = info
	}
}

// packed finds the objects in a stream of such (section 7.5.7).
func (f *file) packed(object *value, stream []byte) {
	text, ok := f.unpack(object, stream)
	first, err := strconv.Atoi(object.entry("/First").token)
	if !ok || err != nil || first < 0 || first > len(text) {
		f.broken = true
		return
	}
	f.left += readings * len(text)
	places := lexer{text: text[:first]}
	for token := places.next(); token != "" && !f.broken; token = places.next() {
		number, err := strconv.Atoi(token)
		offset, ill := strconv.Atoi(places.next())
		if err != nil || ill != nil || offset < 0 || offset > len(text)-first {
			f.broken = true
			return
		}
		f.add(number, lexer{text: text[first+offset:]})
	}
}

// add notes where an object begins.
func (f *file) add(number int, at lexer) {
	f.objects[number] = at
	f.broken = f.broken || len(f.objects) > mostObjects
}

// unpack is what a stream holds; false: it is packed in a way that is not known here, as pictures are, or damaged.
func (f *file) unpack(object *value, stream []byte) ([]byte, bool) {
	filter := f.resolve(object.entry("/Filter"))
	if filter.token == "" {
		return stream, true
	}
	filters := filter.list
	if filter.token != "[" {
		filters = []value{filter}
	}
	parameters := f.resolve(object.entry("/DecodeParms"))
	predicts := func(v value) bool { return v.entry("/Predictor").token > "1" }
	if predicts(parameters) || slices.ContainsFunc(parameters.list, predicts) {
		return nil, false
	}
	for i := range filters {
		var r io.Reader
		switch filters[i].token {
		case "/FlateDecode":
			z, err := zlib.NewReader(bytes.NewReader(stream))
			if err != nil {
				return nil, false
			}
			r = z
		case "/ASCII85Decode":
			stream, _, _ = bytes.Cut(stream, []byte("~>"))
			r = ascii85.NewDecoder(bytes.NewReader(bytes.TrimPrefix(bytes.TrimSpace(stream), []byte("<~"))))
		case "/ASCIIHexDecode":
			stream, _, _ = bytes.Cut(stream, []byte(">"))
			r = bytes.NewReader(hexadecimal(string(stream)))
		default:
			return nil, false
		}
		text, err := io.ReadAll(io.LimitReader(r, int64(f.room)+1))
		f.room -= min(len(text), f.room)
		if err != nil || f.room == 0 {
			return nil, false
		}
		stream = text
	}
	return stream, true
}

// resolve is what a value refers to, or itself.
func (f *file) resolve(v value) value {
	for hops := 0; v.ref != 0 && hops < 8; hops++ {
		l, ok := f.objects[v.ref]
		if !ok {
			return value{}
		}
		v = f.read(&l)
	}
	return v
}

// read reads an object; where too much was read of all, or it makes no sense, there is none.
func (f *file) read(l *lexer) value {
	began := l.at
	v := l.value(0)
	if !f.take(l.looked-began) || l.broken {
		f.broken = true
		return value{}
	}
	return v
}

// stream reads the stream that belongs to an object just read; false: it has none, or too much was read of all.
func (f *file) stream(l *lexer, object *value) ([]byte, bool) {
	if f.broken {
		return nil, false
	}
	began := l.at
	stream, ok := l.stream(object)
	f.broken = !f.take(max(l.at, l.looked)-began) || l.broken
	return stream, ok && !f.broken
}

// take notes that so many bytes are read; false: that is more than may be.
func (f *file) take(bytes int) bool {
	f.left -= bytes
	f.broken = f.broken || f.left < 0
	return !f.broken
}

// data is what the stream of an object holds; false: it has none, or one that cannot be unpacked.
func (f *file) data(v value) ([]byte, bool) {
	l, ok := f.objects[v.ref]
	if v.ref == 0 || !ok {
		return nil, false
	}
	object := f.read(&l)
	stream, ok := f.stream(&l, &object)
	if !ok {
		return nil, false
	}
	return f.unpack(&object, stream)
}
