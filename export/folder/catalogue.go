package folder

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"recrawld/internal/sorter"
)

// catalogue says which file each page has. Memory does not grow with the number of pages.
type catalogue struct {
	temp      string
	wishes    *sorter.Sorter // by what systems take the name for, then by URL
	redirects *sorter.Sorter // by URL
	table     *table
	hosts     hosts
}

func newCatalogue(temp string) *catalogue {
	return &catalogue{temp: temp, wishes: sorter.New(temp), redirects: sorter.New(temp), table: newTable(temp)}
}

func (c *catalogue) close() {
	c.wishes.Close()
	c.redirects.Close()
	c.table.close()
}

// errZero is for what no canonical URL has: the sorted entries are texts that end in a zero byte.
var errZero = errors.New("a URL has a zero byte")

// page takes a page that is in the folder, with the number of its version and the media type that it was sent with.
func (c *catalogue) page(url, mediaType string, number int32) error {
	if strings.IndexByte(url, 0) >= 0 {
		return errZero
	}
	wish := wished(url, mediaType)
	return c.wishes.Add(joined(folded(wish), url, wish, strconv.Itoa(int(number))))
}

// redirect takes a page that leads elsewhere.
func (c *catalogue) redirect(url, to string) error {
	if strings.IndexByte(url+to, 0) >= 0 {
		return errZero
	}
	if err := c.table.add(url, ofRedirect, 0, to); err != nil {
		return err
	}
	return c.redirects.Add(joined(url, to))
}

// settle gives each page its name: the one that it wished for, or where systems would take that for another page's, which comes before
// it by URL, one of its own. After it nothing may be added.
func (c *catalogue) settle(ctx context.Context, step func(n int64)) error {
	var last []byte
	n := int64(0)
	for entry, err := range c.wishes.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		parts := bytes.SplitN(entry, []byte{0}, 4)
		if len(parts) != 4 {
			return errTable
		}
		url, name := string(parts[1]), string(parts[2])
		if bytes.Equal(parts[0], last) {
			name = apart(name, url)
		}
		last = append(last[:0], parts[0]...)
		number, err := strconv.ParseInt(string(parts[3]), 10, 32)
		if err != nil {
			return errTable
		}
		if n++; n%1000 == 0 {
			step(n)
		}
		c.hosts.count(url, name)
		if err := c.table.add(url, ofFile, int32(number), name); err != nil {
			return err
		}
	}
	c.wishes.Close()
	return c.table.build(c.temp)
}

// mostHops is how many redirects are followed to a page, as browsers do.
const mostHops = 20

// held is the file of the page that a URL leads to, by way of redirects or not: of the last one on the way that is in the folder. "": none
// is.
func (c *catalogue) held(url string) (file string, err error) {
	for range mostHops {
		e, err := c.table.find(url)
		if err != nil {
			return "", err
		}
		if e.file != "" && !e.lost {
			file = e.file
		}
		if e.to == "" {
			break
		}
		url = e.to
	}
	return file, nil
}

// joined is texts, a zero byte between two.
func joined(texts ...string) []byte { return []byte(strings.Join(texts, "\x00")) }
