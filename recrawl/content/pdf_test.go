package content

import (
	"fmt"
	"testing"

	"recrawld/models"
)

// pdfOf is a PDF of lines and a picture, made on a day.
func pdfOf(day int, picture, annotation string, lines ...string) []byte {
	page := "BT /F1 9 Tf 20 TL 10 700 Td "
	for _, line := range lines {
		page += "(" + line + ") Tj T* "
	}
	return fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj\n"+
		"3 0 obj<</Resources<</Font<</F1<</Encoding/WinAnsiEncoding>>>>/XObject<</P 5 0 R>>>>/Contents 4 0 R/Annots[%s]>>endobj\n"+
		"4 0 obj<<>>stream\n%s ET /P Do\nendstream endobj 5 0 obj<</Subtype/Image>>stream\n%s\nendstream endobj\n"+
		"6 0 obj<</CreationDate(%d)>>endobj trailer<</Root 1 0 R/Info 6 0 R>>", annotation, page, picture, day)
}

// TestAPDFByItsText: what a PDF says is compared as what a page says is, and what it draws counts.
func TestAPDFByItsText(t *testing.T) {
	t.Parallel()
	const link = "<</Subtype/Link/A<</URI(/order)>>>>"
	const prices, nut = "Our prices of this year, without tax", "A nut costs 0.08, a screw 0.12"
	before := pdfOf(1, "logo", link, prices, nut, "Made at 12:31:05")
	for name, test := range map[string]struct {
		after   []byte
		want    VerdictKind
		reasons models.Reasons
	}{
		"when it was made is printed": {pdfOf(2, "logo", link, prices, nut, "Made at 17:02:44"), Noise, models.ReasonDateOnly},
		"another text":                {pdfOf(2, "logo", link, prices, nut, "We sell no screws any more", "Made at 17:02:44"), Change, 0},
		"another picture":             {pdfOf(2, "seal", link, prices, nut, "Made at 12:31:05"), Change, models.ReasonBytes},
		"another time and picture":    {pdfOf(2, "seal", link, prices, nut, "Made at 17:02:44"), Change, models.ReasonBytes},
		"another link":                {pdfOf(2, "logo", "<</Subtype/Link/A<</URI(/old)>>>>", prices, nut, "Made at 12:31:05"), Change, models.ReasonBytes},
		"another time and link":       {pdfOf(2, "logo", "<</Subtype/Link/A<</URI(/old)>>>>", prices, nut, "Made at 17:02:44"), Change, models.ReasonBytes},
		"another order":               {pdfOf(2, "logo", link, nut, prices, "Made at 12:31:05"), Change, models.ReasonBytes},
		"no PDF any more":             {[]byte("PK\x03\x04"), Change, models.ReasonBytes},
	} {
		at := mustParse(t, "https://example.org/prices.pdf")
		v := Judge(Case{Before: Read(before, "application/pdf", at, nil), After: Read(test.after, "application/octet-stream", at, nil),
			Threshold: threshold, Now: noon, PageID: 7, URL: at})
		if v.Kind != test.want || v.Reasons&test.reasons != test.reasons {
			t.Errorf("%s: %v for %v, want %v for %v", name, v.Kind, v.Reasons, test.want, test.reasons)
		}
	}
}
