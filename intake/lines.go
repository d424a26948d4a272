package intake

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
)

// The bytes of a line that are read. A longer line is a bad one.
const (
	longestLine   = 64 << 10 // more than any URL that is kept
	longestObject = 16 << 20 // of JSON: lists of pages may carry what these say
)

// lineReader reads a list of URLs line by line. A line is a URL, or a URL, a comma and the interval to start with in
// cycles; a URL that itself ends in a comma and a number stands in quotes. A first line "url,fr" is a heading, empty
// lines and lines that begin with # are skipped. It holds one line in memory.
type lineReader struct {
	in     *bufio.Reader
	most   int // bytes of a line, at least those that in holds
	number int
}

func newLineReader(in *bufio.Reader) *lineReader { return &lineReader{in: in, most: longestLine} }

// each gives what next returns up to io.EOF, or to an error that is no *Bad.
func each(next func() (Item, error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for {
			item, err := next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(item, err) || err != nil && !isBad(err) {
				return
			}
		}
	}
}

func isBad(err error) bool {
	bad := new(Bad)
	return errors.As(err, &bad)
}

// next returns the next line. Its error is a *Bad where only this one is wrong, io.EOF after the last.
func (r *lineReader) next() (Item, error) {
	for {
		text, err := r.text()
		if err != nil {
			return Item{}, err
		}
		if text == "" || text[0] == '#' {
			continue
		}
		if r.number == 1 && isHeading(text) {
			if err := checkHeading(text); err != nil {
				return Item{}, err
			}
			continue
		}
		item, err := parseLine(text)
		if err != nil {
			return Item{}, NewBad(r.place(), text, err)
		}
		item.Place = r.place()
		return item, nil
	}
}

func (r *lineReader) place() Place { return Place{Unit: "line", Number: r.number} }

// text returns the next line without white space around it, and without a byte order mark.
func (r *lineReader) text() (string, error) {
	text, err := r.read()
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	if r.number == 1 {
		text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	}
	return text, nil
}

// read returns the next line without its end, and skips the rest of one that is too long.
func (r *lineReader) read() (string, error) {
	text, err := r.in.ReadSlice('\n')
	r.number++
	if errors.Is(err, bufio.ErrBufferFull) && len(text) < r.most {
		text, err = r.more(text)
	}
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		bad := NewBad(r.place(), string(text[:beginning]), fmt.Errorf("longer than %d bytes", r.most))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", r.damaged(err)
		}
		return "", bad
	case errors.Is(err, io.EOF) && len(text) > 0:
		return string(text), nil
	case errors.Is(err, io.EOF):
		return "", io.EOF
	case err != nil:
		return "", r.damaged(err)
	}
	return string(text), nil
}

// more reads on a line that is longer than what in holds, and may be. The error is bufio.ErrBufferFull of one that is too long.
func (r *lineReader) more(begin []byte) ([]byte, error) {
	line, err := bytes.Clone(begin), bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) && len(line) < r.most {
		var text []byte
		text, err = r.in.ReadSlice('\n')
		line = append(line, text...)
	}
	return line, err
}

// damaged is an error of what lies below the lines: a disk or gzip.
func (r *lineReader) damaged(err error) error { return &Damaged{r.place(), err} }

// eachLine reads a format of lines of at most so many bytes: take says what one is that is not empty.
func eachLine(in *bufio.Reader, most int, take func(text string) (Item, error)) iter.Seq2[Item, error] {
	r := &lineReader{in: in, most: most}
	return each(func() (Item, error) {
		for {
			text, err := r.text()
			if err != nil {
				return Item{}, err
			}
			if text == "" {
				continue
			}
			item, err := take(text)
			if err != nil {
				return Item{}, NewBad(r.place(), text, err)
			}
			item.Place = r.place()
			return item, nil
		}
	})
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
	return fmt.Errorf("%w: the list has the columns %s: only url and fr are read", ErrFormat, text)
}

func parseLine(text string) (Item, error) {
	if text[0] == '"' {
		return parseQuoted(text)
	}
	comma := strings.LastIndexByte(text, ',')
	if comma < 0 {
		return Item{URL: text}, nil
	}
	number := strings.TrimSpace(text[comma+1:])
	fr, err := strconv.Atoi(number)
	if err != nil && number != "" {
		return Item{URL: text}, nil // a comma of the URL's own
	}
	url := strings.TrimSpace(text[:comma])
	if _, err := strconv.Atoi(url[strings.LastIndexByte(url, ',')+1:]); err == nil {
		return Item{}, errors.New("two numbers after commas: a URL that ends in one stands in quotes")
	}
	return checkFR(Item{URL: url, FR: fr}, number)
}

func parseQuoted(text string) (Item, error) {
	fields, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return Item{}, errors.New("the quotes do not match")
	}
	if len(fields) > 2 {
		return Item{}, errors.New("more than a URL and fr")
	}
	if len(fields) == 1 {
		return Item{URL: strings.TrimSpace(fields[0])}, nil
	}
	number := strings.TrimSpace(fields[1])
	fr, err := strconv.Atoi(number)
	if err != nil && number != "" {
		return Item{}, fmt.Errorf("fr %q is no number of cycles", number)
	}
	return checkFR(Item{URL: strings.TrimSpace(fields[0]), FR: fr}, number)
}

func checkFR(line Item, written string) (Item, error) {
	if written != "" && (line.FR < 1 || line.FR > 100_000) {
		return Item{}, fmt.Errorf("fr %d is not within 1 to 100000 cycles", line.FR)
	}
	return line, nil
}
