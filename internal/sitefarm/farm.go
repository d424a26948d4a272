package sitefarm

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Config is what a farm is made of.
type Config struct {
	Hosts   int           // 1–MaxHosts
	Pages   int           // of each host, its start page included, ≥ 1
	Size    int           // bytes of a page, about; at least some 2,500, which its links take
	Changes float64       // share of the conditional requests that find a new version, 0–1
	Latency time.Duration // from a request to its answer
	TLS     bool          // https, HTTP/2 included, under a certificate of its own
}

// MaxHosts is how many loopback addresses a farm may have.
const MaxHosts = 1 << 22

// Check returns an error in plain words where a farm cannot be of this kind.
func (c Config) Check() error {
	switch {
	case c.Hosts < 1 || c.Hosts > MaxHosts:
		return fmt.Errorf("%d hosts: from 1 to %d there may be", c.Hosts, MaxHosts)
	case c.Pages < 1:
		return fmt.Errorf("%d pages a host: there must be one at least", c.Pages)
	case c.Pages > 1<<31/c.Hosts:
		return fmt.Errorf("%d pages on each of %d hosts are more than 2^31", c.Pages, c.Hosts)
	case c.Size < 0 || c.Size > 16<<20:
		return fmt.Errorf("pages of %d bytes: up to 16 MiB they may have", c.Size)
	case !(c.Changes >= 0 && c.Changes <= 1):
		return fmt.Errorf("a share of changes of %g: it lies between 0 and 1", c.Changes)
	case c.Latency < 0:
		return fmt.Errorf("a latency of %s: nothing answers before it is asked", c.Latency)
	}
	return nil
}

// Farm is a set of sites. It is safe for concurrent use.
type Farm struct {
	Config
	versions []atomic.Uint32 // by host and page
	asked    atomic.Uint64   // conditional requests
	filler   []byte
}

// New returns a farm that Check has nothing to say against.
func New(c Config) (*Farm, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &Farm{Config: c, versions: make([]atomic.Uint32, c.Hosts*c.Pages), filler: filler()}, nil
}

// Addr is the address of a host, from 127.1.0.1 on.
func Addr(host int) netip.Addr {
	n := uint32(127<<24|1<<16|1) + uint32(host)
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// hostOf is the number of the host at an address, -1 where there is none.
func (f *Farm) hostOf(addr netip.Addr) int {
	if !addr.Is4() {
		return -1
	}
	b := addr.As4()
	n := int(uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3])) - (127<<24 | 1<<16 | 1)
	if n < 0 || n >= f.Hosts {
		return -1
	}
	return n
}

// Path is the path of a page; page 0 is the start page.
func Path(page int) string {
	if page == 0 {
		return "/"
	}
	return "/section/" + strconv.Itoa(page%97) + "/page-" + strconv.Itoa(page) + ".html"
}

// pageOf is the number of the page with a path, -1 where there is none.
func (f *Farm) pageOf(path string) int {
	if path == "/" {
		return 0
	}
	_, name, ok := strings.Cut(path, "/page-")
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSuffix(name, ".html"))
	if err != nil || n < 1 || n >= f.Pages || Path(n) != path {
		return -1
	}
	return n
}

// ETag is the entity tag of a version; every page begins with version 0.
func ETag(version uint32) string { return `"v` + strconv.FormatUint(uint64(version), 10) + `"` }

// Epoch is when version 0 of every page was made; each version is a minute younger than the one before.
var Epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func modified(version uint32) time.Time { return Epoch.Add(time.Duration(version) * time.Minute) }

// ask is the version that a request finds. One with a condition may find a new one: evenly spread over all of them, so
// that the share holds in a short run too.
func (f *Farm) ask(host, page int, conditional bool) uint32 {
	v := &f.versions[host*f.Pages+page]
	if conditional && f.Changes > 0 {
		const golden = 0x9e3779b97f4a7c15 // multiples of it spread evenly over 64 bits (Weyl's sequence)
		if turn := f.asked.Add(1) * golden; float64(turn>>11)/(1<<53) < f.Changes {
			return v.Add(1)
		}
	}
	return v.Load()
}
