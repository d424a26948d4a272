package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
	"time"

	"recrawld/internal/shared"
)

// TestFeeds reads what feedparser is tested with: each feed is read or refused quickly. Feeds are links to us and no
// more, so that the links found are logged and not insisted on.
func TestFeeds(t *testing.T) {
	t.Parallel()
	type row struct {
		File string
		Body []byte `json:"data_b64"`
	}
	file, err := os.Open(shared.Path(t, "conformance/feeds/feedparser.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 4<<20)
	feeds, refused, links := 0, 0, 0
	for lines.Scan() {
		var c row
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		set, err := Read(bytes.NewReader(c.Body), whole)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s took %v", c.File, took)
		}
		feeds++
		links += len(set.URLs)
		if err != nil {
			refused++
		}
	}
	if feeds == 0 {
		t.Error("no feeds in the suite")
	}
	t.Logf("%d feeds, %d refused in whole or in part, %d links", feeds, refused, links)
}
