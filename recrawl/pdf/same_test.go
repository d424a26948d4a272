package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// madePDF is how a program makes a PDF at one time.
type madePDF struct {
	date, tag string
	text      string // what the page draws
	title     string
	moved     int    // by how many the objects' numbers differ
	reverse   bool   // the order of its objects in the file
	packed    bool   // objects lie in a stream of objects, their places in another
	font      []byte // a TrueType font
	trailer   string
	cut       int // bytes that are missing at the end
	update    string
}

// bytes makes it. All that has lengths has them in an object of its own.
func (m madePDF) bytes(t *testing.T) []byte {
	t.Helper()
	n := func(object int) int { return object + m.moved }
	plain := map[int]string{
		1: fmt.Sprintf("<</Type/Catalog/Pages %d 0 R/Metadata %d 0 R>>", n(2), n(9)),
		2: fmt.Sprintf("<</Count 1 /Kids [%d 0 R] /Type /Pages>>", n(3)),
		3: fmt.Sprintf("<</Type/Page/Parent %d 0 R/Contents %d 0 R/Resources<</Font<</F1 %d 0 R>>>>/Annots[<</Subtype/Link/M(D:%s)>>]>>", n(2), n(4), n(6), m.date),
		5: fmt.Sprint(len(m.text)),
		6: fmt.Sprintf("<</Type/Font/BaseFont/%s+Serif/FontDescriptor<</FontFile2 %d 0 R>>>>", m.tag, n(8)),
		7: fmt.Sprintf("<</Title(%s (\\(draft\\)))/CreationDate(D:%s)/ModDate(D:%s)>> %% of %s", m.title, m.date, m.date, m.date),
	}
	streams := map[int]string{
		4: fmt.Sprintf("<</Length %d 0 R>>stream\r\n%s\nendstream", n(5), m.text),
		8: stream(t, "/Filter/FlateDecode/Length1 60", m.font),
		9: "<</Type/Metadata/Length 15>>stream\nmade " + m.date + "\nendstream",
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\n")
	if m.packed {
		var places, objects strings.Builder
		for number, object := range plain {
			fmt.Fprintf(&places, "%d %d ", n(number), objects.Len())
			objects.WriteString(object + "\n")
		}
		streams[10] = stream(t, fmt.Sprintf("/Type/ObjStm/N 6/First %d/Filter/FlateDecode", places.Len()), []byte(places.String()+objects.String()))
		streams[11] = fmt.Sprintf("<</Type/XRef/Root %d 0 R/Info %d 0 R/ID[<%s><%s>]/Length 3>>stream\n\x01\x02\x03\nendstream", n(1), n(7), m.date, m.date)
		plain = nil
	}
	for i := range 12 {
		number := i
		if m.reverse {
			number = 11 - i
		}
		if object := plain[number] + streams[number]; object != "" {
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n(number), object)
		}
	}
	if !m.packed {
		fmt.Fprintf(&b, "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Root %d 0 R/Info %d 0 R/ID[<%s><%s>]%s>>\n", n(1), n(7), m.date, m.date, m.trailer)
	}
	fmt.Fprintf(&b, "%sstartxref\n%d\n%%%%EOF\n", m.update, b.Len())
	return b.Bytes()[:b.Len()-m.cut]
}

// stream is a packed stream.
func stream(t *testing.T, entries string, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(data); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", entries, b.Len(), b.Bytes())
}

// trueType is a font of a head and a glyph, made at a time.
func trueType(at uint64, glyph byte) []byte {
	font := make([]byte, 100)
	font[5] = 2
	copy(font[12:], "head")
	binary.BigEndian.PutUint32(font[16:], uint32(at)) // its sum
	binary.BigEndian.PutUint32(font[20:], 44)
	copy(font[28:], "glyf")
	binary.BigEndian.PutUint32(font[36:], 98)
	binary.BigEndian.PutUint32(font[44+8:], uint32(at)) // the sum of all
	binary.BigEndian.PutUint64(font[44+28:], at)
	font[98] = glyph
	return font
}

// TestAPDFMadeAnew holds that a PDF which its server makes for each request is the same while it shows the same, however programs write it, and that
// whatever else differs is another file.
func TestAPDFMadeAnew(t *testing.T) {
	t.Parallel()
	one := madePDF{date: "20261127165112", tag: "ABCDEF", title: "Prices", text: "BT (Nut 0.08) Tj ET", font: trueType(1, 'a')}
	with := func(change func(m *madePDF)) madePDF {
		m := one
		m.date = "20261128093000Z"
		change(&m)
		return m
	}
	packed := func(m *madePDF) { m.packed = true }
	for name, test := range map[string]struct {
		before, after madePDF
		want          bool
	}{
		"at another time":          {one, with(func(*madePDF) {}), true},
		"a font by another tag":    {one, with(func(m *madePDF) { m.tag = "GHIJKL" }), true},
		"a font dated anew":        {one, with(func(m *madePDF) { m.font = trueType(2, 'a') }), true},
		"other numbers":            {one, with(func(m *madePDF) { m.moved = 20 }), true},
		"another order":            {one, with(func(m *madePDF) { m.reverse = true }), true},
		"packed":                   {with(packed), with(func(m *madePDF) { packed(m); m.date = "2026"; m.moved = 3 }), true},
		"another text":             {one, with(func(m *madePDF) { m.text = "BT (Nut 0.09) Tj ET" }), false},
		"another title":            {one, with(func(m *madePDF) { m.title = "Price list" }), false},
		"another font":             {one, with(func(m *madePDF) { m.font = trueType(1, 'b') }), false},
		"another, packed":          {with(packed), with(func(m *madePDF) { packed(m); m.title = "Price list" }), false},
		"updated at its end":       {one, with(func(m *madePDF) { m.update = "4 0 obj <</Length 9>>stream\nBT Tj ET!\nendstream endobj\n" }), false},
		"it ends early":            {one, with(func(m *madePDF) { m.cut = 700 }), false},
		"it is encrypted":          {with(func(m *madePDF) { m.trailer = "/Encrypt 9 0 R" }), with(func(m *madePDF) { m.trailer = "/Encrypt 9 0 R" }), false},
		"what makes no sense":      {one, with(func(m *madePDF) { m.update = "4 0 obj <</Length" }), false},
		"words outside of objects": {one, with(func(m *madePDF) { m.update = "nut\n" }), false},
	} {
		if got := Same(test.before.bytes(t), test.after.bytes(t)); got != test.want {
			t.Errorf("%s: Same is %v, want %v", name, got, test.want)
		}
	}
}

// TestAPDFOfOtherParts holds that what is put together otherwise is another document.
func TestAPDFOfOtherParts(t *testing.T) {
	t.Parallel()
	file := func(catalog, rest string) []byte {
		return []byte("%PDF-1.7\n1 0 obj<<" + catalog + ">>endobj\n" + rest + "trailer<</Root 1 0 R>>")
	}
	attached := func(text string) []byte {
		inner := "1 0 obj<</Of/Inner>>stream\nx\nendstream endobj\n4 0 obj 3 endobj\ntrailer<</Root 1 0 R>>\n"
		return file("/Says("+text+")/Attached 2 0 R", fmt.Sprintf("3 0 obj %d endobj\n2 0 obj<</Length 3 0 R>>stream\n%s\nendstream endobj\n", len(inner), inner))
	}
	for name, pair := range map[string][2][]byte{
		"arrays in arrays":       {file("/A[[1 2]]", ""), file("/A[1[2]]", "")},
		"a dictionary's end":     {file("/A[<</B 1>>]", ""), file("/A[/B<<>>1]", "")},
		"names that are escape":  {file("/A/B#43", ""), file("/A/B#44", "")},
		"around an attached PDF": {attached("one"), attached("two")},
	} {
		if Same(pair[0], pair[1]) {
			t.Errorf("%s: it is the same", name)
		}
	}
	if !Same(file("/A/B#43", ""), file("/#41/BC", "")) {
		t.Error("a name is another when it is escaped")
	}
}

// TestAPDFThatNeverEnds holds that little work is done for a small file whose objects lie in each other.
func TestAPDFThatNeverEnds(t *testing.T) {
	t.Parallel()
	const many = 4000
	var places, kids strings.Builder
	for i := range many {
		fmt.Fprintf(&places, "%d 0 ", i+10)
		fmt.Fprintf(&kids, "%d 0 R ", i+10)
	}
	objects := stream(t, fmt.Sprintf("/Type/ObjStm/First %d/Filter/FlateDecode", places.Len()), []byte(places.String()+"["+kids.String()+"]"))
	file := []byte("%PDF-1.7\n1 0 obj\n" + objects + "\nendobj\ntrailer <</Root 10 0 R>>")
	if _, ok := sumOf(file); ok {
		t.Error("160 MB of objects were summed up")
	}
	deep := []byte("%PDF-1.7\n1 0 obj\n" + strings.Repeat("[", 1<<20) + "\nendobj\ntrailer <</Root 1 0 R>>")
	if _, ok := sumOf(deep); ok {
		t.Error("arrays lie in each other without end")
	}
	bomb := []byte("%PDF-1.7\n1 0 obj\n" + stream(t, "/Type/ObjStm/First 0/Filter/FlateDecode", make([]byte, maxUnpacked+1)) + "\nendobj\ntrailer <</Root 1 0 R>>")
	if _, ok := sumOf(bomb); ok {
		t.Error("more was unpacked than is allowed")
	}
}
