package origin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// cached holds the version of a page that was served last, ready to be sent.
type cached struct {
	mu   sync.Mutex
	held *copied // guarded by mu; what it points to never changes but for its zipped field
}

// copied is the body of a version with all that is computed from it.
type copied struct {
	index  int
	at     time.Time
	body   []byte
	digest string // SHA-256 in hex

	zip    sync.Once
	zipped []byte
	zipErr error
}

// current returns the version at an index, from the cache where it is the one served last.
func (p *Page) current(index int) (*copied, error) {
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	if c := p.cache.held; c != nil && c.index == index {
		return c, nil
	}
	version := p.Versions[index]
	body, err := version.Body()
	if err != nil {
		return nil, fmt.Errorf("body of %s, version %d: %w", p.Path, index, err)
	}
	sum := sha256.Sum256(body)
	c := &copied{index: index, at: version.At, body: body, digest: hex.EncodeToString(sum[:])}
	p.cache.held = c
	return c, nil
}

// Digest is the SHA-256, in hex, of the body that the page answers with at a moment; "" when it does not answer 200.
func (p *Page) Digest(at time.Time) (string, error) {
	if !p.Alive(at) {
		return "", nil
	}
	c, err := p.current(p.Index(at))
	if err != nil {
		return "", err
	}
	return c.digest, nil
}

func (c *copied) etag(v Validator) string {
	tag := `"` + c.digest[:20] + `"`
	if v == WeakETag {
		return "W/" + tag
	}
	return tag
}

// matches tells whether a request's conditions are met by the copy (RFC 9110, 13.2.2): If-None-Match decides alone
// where it is sent and the page has ETags, else If-Modified-Since does.
func (c *copied) matches(head http.Header, v Validator) bool {
	hasTag := v == ETag || v == WeakETag || v == BothValidators
	if asked := head.Get("If-None-Match"); asked != "" && hasTag {
		strong := strings.TrimPrefix(c.etag(v), "W/")
		for tag := range strings.SplitSeq(asked, ",") {
			if strings.TrimPrefix(strings.TrimSpace(tag), "W/") == strong {
				return true
			}
		}
		return false
	}
	if v != LastModified && v != BothValidators {
		return false
	}
	since, err := http.ParseTime(head.Get("If-Modified-Since"))
	return err == nil && !c.at.After(since)
}

// encode returns the body as it goes over the wire.
func (p *Page) encode(head http.Header, c *copied) (body []byte, encoding string, err error) {
	if !p.Traits.Gzip || !strings.Contains(head.Get("Accept-Encoding"), "gzip") {
		return c.body, "", nil
	}
	c.zip.Do(func() { c.zipped, c.zipErr = compress(c.body) })
	return c.zipped, "gzip", c.zipErr
}

func compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
