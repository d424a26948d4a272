package intake

import (
	"slices"
	"testing"

	"recrawld/internal/shared"
)

// What other programs wrote is taken for what it is and gives their URLs, plain and in gzip.
func TestFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		format Format
		url    string
	}{
		"warc/iipc/hello-world.warc":                                    {WARC, "http://iipc.github.io/warc-specifications/primers/web-archive-formats/hello-world.txt"},
		"warc/iipc/hello-world.warc.gz":                                 {WARC, "http://iipc.github.io/warc-specifications/primers/web-archive-formats/hello-world.txt"},
		"warc/iipc/hello-world.warc.cdx":                                {CDX, "http://iipc.github.io/warc-specifications/primers/web-archive-formats/hello-world.txt"},
		"warc/iipc/20130729-heritrix-original.warc.gz":                  {WARC, ""},
		"warc/iipc/20130729-heritrix-revisit-with-http-headers.warc.gz": {WARC, ""},
		"warc/iipc/20141124-heritrix-server-not-modified.warc.gz":       {WARC, ""},
		"warc/warcio/example.warc":                                      {WARC, "http://example.com/"},
		"warc/warcio/example.warc.gz":                                   {WARC, "http://example.com/"},
		"warc/warcio/example-iana.org-chunked.warc":                     {WARC, "http://www.iana.org/"},
		"sitemaps/stormcrawler/stormcrawler.sitemap.xml.gz":             {Sitemap, ""},
		"sitemaps/stormcrawler/stormcrawler.sitemap.index.xml":          {Sitemap, ""},
		"sitemaps/stormcrawler/stormcrawler.rss":                        {Feed, ""},
		"sitemaps/own/utf16le-bom.xml":                                  {Sitemap, ""},
		"sitemaps/own/two-member.xml.gz":                                {Sitemap, ""},
	} {
		s, err := Open(shared.Path(t, "conformance/"+name), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := take(s)
		if err := s.Close(); err != nil {
			t.Errorf("close %s: %v", name, err)
		}
		if s.Format != want.format || got.Err != nil || len(got.URLs) == 0 || want.url != "" && !slices.Contains(got.URLs, want.url) {
			t.Errorf("%s: %s, %+v, want %s with %s", name, s.Format, got, want.format, want.url)
		}
	}
}
