package sitefarm

import "strconv"

// fanOut is how many pages hang below one, and crossLinks how many others it names.
const (
	fanOut     = 20
	crossLinks = 5
)

// AppendPage appends what a page says in a version; every page begins with version 0.
func (f *Farm) AppendPage(b []byte, host, page int, version uint32) []byte {
	b = append(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Page "...)
	b = strconv.AppendInt(b, int64(page), 10)
	b = append(b, " of site "...)
	b = strconv.AppendInt(b, int64(host), 10)
	b = append(b, "</title></head>\n<body><nav><a href=\"/\">Home</a></nav>\n<main><h1>Page "...)
	b = strconv.AppendInt(b, int64(page), 10)
	b = append(b, " of site "...)
	b = strconv.AppendInt(b, int64(host), 10)
	b = append(b, ", edition "...)
	b = strconv.AppendUint(b, uint64(version), 10)
	b = append(b, "</h1>\n<ul>\n"...)
	for child := page*fanOut + 1; child <= (page+1)*fanOut && child < f.Pages; child++ {
		b = appendLink(b, child)
	}
	for n := range crossLinks {
		b = appendLink(b, (page*7+(n+1)*131)%f.Pages)
	}
	b = append(b, "</ul>\n"...)
	return append(f.appendText(b, page*31+host*7+int(version)*1009), "</main></body></html>\n"...)
}

func appendLink(b []byte, page int) []byte {
	b = append(b, "<li><a href=\""...)
	b = append(b, Path(page)...)
	b = append(b, "\">Page "...)
	b = strconv.AppendInt(b, int64(page), 10)
	return append(b, "</a></li>\n"...)
}

// appendText appends paragraphs until the page has its size, from another place of the filler for each start.
func (f *Farm) appendText(b []byte, start int) []byte {
	const paragraph = 500
	for at := start; len(b) < f.Size; at += paragraph {
		from := at * 13 % (len(f.filler) - paragraph)
		b = append(b, "<p>"...)
		b = append(b, f.filler[from:from+min(paragraph, max(f.Size-len(b), 0))]...)
		b = append(b, "</p>\n"...)
	}
	return b
}

// filler is text of the words below in an order that does not repeat soon.
func filler() []byte {
	words := [...]string{"archive", "bell", "candle", "delta", "ember", "field", "garden", "harbour", "island", "juniper",
		"kettle", "lantern", "meadow", "north", "orchard", "paper", "quarry", "river", "silver", "timber", "under",
		"valley", "winter", "yellow", "and", "of", "the", "a", "in", "to", "was", "is"}
	var text []byte
	for n := uint32(1); len(text) < 64<<10; {
		n = n*1664525 + 1013904223 // Knuth and Lewis's generator
		text = append(append(text, words[n>>27]...), ' ')
	}
	return text
}
