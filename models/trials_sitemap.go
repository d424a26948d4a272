package models

import (
	"encoding/binary"
	"math"
	"time"
)

// Looked notes that /sitemap.xml was looked for, or what it leads to: whether a list was found, or where the answer leads; "": nowhere.
func (t *Trials) Looked(now time.Time, found bool, to string) {
	t.SitemapAt, t.SitemapFound = At(now), found
	if to == "" {
		t.SitemapTo, t.SitemapHops = "", 0
		return
	}
	t.SitemapTo, t.SitemapHops = to, min(t.SitemapHops, math.MaxUint8-1)+1
}

// appendSitemap appends what is known of the sitemap that robots.txt does not name, if anything is.
func (t *Trials) appendSitemap(b []byte) []byte {
	switch at := uint64(t.SitemapAt); {
	case t.SitemapTo != "":
		b = binary.AppendUvarint(append(b, trialsLed), at)
		b = binary.AppendUvarint(append(b, t.SitemapHops), uint64(len(t.SitemapTo)))
		return append(b, t.SitemapTo...)
	case t.SitemapFound:
		return binary.AppendUvarint(append(b, trialsListed), at)
	case t.SitemapAt != 0:
		return binary.AppendUvarint(append(b, trialsNotListed), at)
	}
	return b
}

func (n *numbers) octet() (v uint8) {
	if n.bad = n.bad || len(n.rest) == 0; !n.bad {
		v, n.rest = n.rest[0], n.rest[1:]
	}
	return v
}

// text is a length and so many bytes.
func (n *numbers) text() string {
	size := n.next(uint64(len(n.rest)))
	if n.bad = n.bad || size > uint64(len(n.rest)); n.bad {
		return ""
	}
	s := string(n.rest[:size])
	n.rest = n.rest[size:]
	return s
}
