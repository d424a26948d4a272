package content

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"testing"
	"time"
)

// TestRemade holds that a file which its server packs anew for each request is the same while its content is: each copy of a mailing
// list's months differed in the time at which it was packed.
func TestRemade(t *testing.T) {
	t.Parallel()
	gz := func(text string, at int64) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.ModTime = time.Unix(at, 0)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	zipped := func(name, text string, at int64) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Unix(at, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	mails := func(boundary, text string) string {
		return "Subject: Terms\nContent-Type: multipart/mixed; boundary=\"" + boundary + "\"\n\n--" + boundary + "\n\n" + text + "\n--" + boundary + "--\n"
	}
	const now, later = 1_700_000_000, 1_700_086_400
	for name, test := range map[string]struct {
		before, after []byte
		want          bool
	}{
		"gzip":                     {gz("mail", now), gz("mail", later), true},
		"gzip of another text":     {gz("mail", now), gz("male", later), false},
		"mails":                    {gz(mails("=12=", "one"), now), gz(mails("=345=", "one"), now), true},
		"other mails":              {gz(mails("=12=", "one"), now), gz(mails("=345=", "two"), now), false},
		"mails in fewer parts":     {gz(mails("=12=", "one"), now), gz(mails("=345=", "one\n--=345=--"), now), false},
		"gzip that ends early":     {gz("mail", now), gz("mail", later)[:20], false},
		"zip":                      {zipped("a.txt", "mail", now), zipped("a.txt", "mail", later), true},
		"zip of another text":      {zipped("a.txt", "mail", now), zipped("a.txt", "male", later), false},
		"zip of another name":      {zipped("a.txt", "mail", now), zipped("b.txt", "mail", later), false},
		"zip that ends early":      {zipped("a.txt", "mail", now), zipped("a.txt", "mail", later)[:40], false},
		"gzip in place of a zip":   {zipped("a.txt", "mail", now), gz("mail", later), false},
		"what is packed in no way": {[]byte("mail"), []byte("male"), false},
	} {
		if got := Remade(test.before, test.after); got != test.want {
			t.Errorf("%s: Remade is %v, want %v", name, got, test.want)
		}
	}
}
