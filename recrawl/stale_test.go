package recrawl

import (
	"testing"
	"time"
)

func TestStaleness(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fields []string
		age    time.Duration
		stale  bool
	}{
		"no cache":                 {[]string{"Cache-Control", "max-age=60"}, 0, false},
		"fresh":                    {[]string{"Cache-Control", "max-age=3600", "Age", "600"}, 10 * time.Minute, false},
		"older than max-age":       {[]string{"Cache-Control", "max-age=600", "Age", "3600"}, time.Hour, true},
		"s-maxage is for caches":   {[]string{"Cache-Control", "max-age=0, s-maxage=7200", "Age", "3600"}, time.Hour, false},
		"older than s-maxage":      {[]string{"Cache-Control", `max-age=7200, s-maxage="60"`, "Age", "3600"}, time.Hour, true},
		"no promise":               {[]string{"Age", "3600"}, time.Hour, true},
		"seconds":                  {[]string{"Cache-Control", "max-age=1", "Age", "30"}, 30 * time.Second, false},
		"older than Expires":       {[]string{"Date", "Thu, 01 Jan 2026 00:00:00 GMT", "Expires", "Thu, 01 Jan 2026 00:10:00 GMT", "Age", "3600"}, time.Hour, true},
		"Cache-Status":             {[]string{"Cache-Status", `"edge"; hit; fwd=stale; ttl=-376`}, 0, true},
		"fetched since":            {[]string{"Cache-Status", `"edge"; fwd=stale; fwd-status=304; ttl=60`}, 0, false},
		"behind one that fetched":  {[]string{"Cache-Status", `"durable"; hit; ttl=60, "edge"; fwd=stale`}, 0, false},
		"less than none left":      {[]string{"Cache-Status", `edge;hit;ttl=-412`}, 0, true},
		"by name":                  {[]string{"X-Example-Cache", "STALE"}, 0, true},
		"updating":                 {[]string{"X-Cache-Status", "UPDATING"}, 0, true},
		"a hit":                    {[]string{"X-Cache", "HIT from stale.example.net"}, 0, false},
		"what a cache may do":      {[]string{"Cache-Control", "max-age=60, stale-while-revalidate=60, stale"}, 0, false},
		"what a cache may do, too": {[]string{"CDN-Cache-Control", "max-age=60, stale-while-revalidate=60"}, 0, false},
	} {
		if age, stale := staleness(headers(test.fields...), today); age != test.age || stale != test.stale {
			t.Errorf("%s: staleness = %v, %v, want %v, %v", name, age, stale, test.age, test.stale)
		}
	}
}
