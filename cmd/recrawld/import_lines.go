package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// importLine is one line of an imported list.
type importLine struct {
	Number int // from 1
	URL    string
	FR     int // interval to start with, in cycles; 0: the site's
}

// longestLine is how many bytes of a line are read: more than any URL that is kept. A longer line is a bad one.
const longestLine = 64 << 10

// lineReader reads a list of URLs line by line. A line is a URL, or a URL, a comma and the interval to start with in
// cycles; a URL that itself ends in a comma and a number stands in quotes. A first line "url,fr" is a heading, empty
// lines and lines that begin with # are skipped. It holds one line in memory.
type lineReader struct {
	in     *bufio.Reader
	number int
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, longestLine)}
}

// badLine says what is wrong with a line; the lines after it are good to read.
type badLine struct {
	Number int
	Text   string // its beginning
	Err    error
}

// Error implements error.
func (b *badLine) Error() string { return fmt.Sprintf("line %d: %v: %s", b.Number, b.Err, b.Text) }

// Unwrap returns what is wrong.
func (b *badLine) Unwrap() error { return b.Err }

// next returns the next line. Its error is a *badLine where only this one is wrong, io.EOF after the last.
func (r *lineReader) next() (importLine, error) {
	for {
		text, err := r.read()
		if err != nil {
			return importLine{}, err
		}
		text = strings.TrimSpace(text)
		if r.number == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text == "" || text[0] == '#' {
			continue
		}
		if r.number == 1 && isHeading(text) {
			if err := checkHeading(text); err != nil {
				return importLine{}, err
			}
			continue
		}
		line, err := parseLine(text)
		if err != nil {
			return importLine{}, newBadLine(r.number, text, err)
		}
		line.Number = r.number
		return line, nil
	}
}

// read returns the next line without its end, and skips the rest of one that is too long.
func (r *lineReader) read() (string, error) {
	text, err := r.in.ReadSlice('\n')
	r.number++
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		bad := newBadLine(r.number, string(text[:beginning]), fmt.Errorf("longer than %d bytes", longestLine))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read list: %w", err)
		}
		return "", bad
	case errors.Is(err, io.EOF) && len(text) > 0:
		return string(text), nil
	case errors.Is(err, io.EOF):
		return "", io.EOF
	case err != nil:
		return "", fmt.Errorf("read list: %w", err)
	}
	return string(text), nil
}

// beginning is how much of a bad line is shown.
const beginning = 80

func newBadLine(number int, text string, err error) *badLine {
	if len(text) > beginning {
		text = text[:beginning] + "…"
	}
	return &badLine{number, strconv.QuoteToGraphic(text), err}
}

func isHeading(text string) bool {
	first, _, _ := strings.Cut(strings.ToLower(text), ",")
	return strings.Trim(first, `" `) == "url"
}

// checkHeading refuses a list with columns that would be taken for a part of its URLs.
func checkHeading(text string) error {
	columns := strings.Split(strings.ToLower(text), ",")
	if len(columns) == 1 || len(columns) == 2 && strings.Trim(columns[1], `" `) == "fr" {
		return nil
	}
	return usagef("the list has the columns %s: only url and fr are read", text)
}

func parseLine(text string) (importLine, error) {
	if text[0] == '"' {
		return parseQuoted(text)
	}
	comma := strings.LastIndexByte(text, ',')
	if comma < 0 {
		return importLine{URL: text}, nil
	}
	number := strings.TrimSpace(text[comma+1:])
	fr, err := strconv.Atoi(number)
	if err != nil && number != "" {
		return importLine{URL: text}, nil // a comma of the URL's own
	}
	url := strings.TrimSpace(text[:comma])
	if _, err := strconv.Atoi(url[strings.LastIndexByte(url, ',')+1:]); err == nil {
		return importLine{}, errors.New("two numbers after commas: a URL that ends in one stands in quotes")
	}
	return checkFR(importLine{URL: url, FR: fr}, number)
}

func parseQuoted(text string) (importLine, error) {
	fields, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return importLine{}, errors.New("the quotes do not match")
	}
	if len(fields) > 2 {
		return importLine{}, errors.New("more than a URL and fr")
	}
	if len(fields) == 1 {
		return importLine{URL: strings.TrimSpace(fields[0])}, nil
	}
	number := strings.TrimSpace(fields[1])
	fr, err := strconv.Atoi(number)
	if err != nil && number != "" {
		return importLine{}, fmt.Errorf("fr %q is no number of cycles", number)
	}
	return checkFR(importLine{URL: strings.TrimSpace(fields[0]), FR: fr}, number)
}

func checkFR(line importLine, written string) (importLine, error) {
	if written != "" && (line.FR < 1 || line.FR > 100_000) {
		return importLine{}, fmt.Errorf("fr %d is not within 1 to 100000 cycles", line.FR)
	}
	return line, nil
}
