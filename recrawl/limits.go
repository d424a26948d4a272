package recrawl

import "time"

// Limits bounds an exchange with a server beyond what a site's settings say. Times are the machine's, whatever the
// speed of the daemon's clock. A field that is 0 has its default.
type Limits struct {
	DNS        time.Duration // looking up a name; default 5s
	Dial       time.Duration // connecting, over all addresses of a name; default 10s
	TLS        time.Duration // the handshake; default 10s
	Header     time.Duration // from the request to the end of the answer's headers; default 20s
	RateWindow time.Duration // a body must bring RateBytes in each such window; default 30s
	RateBytes  int64         // default 30 KiB: 1 KiB/s
	Ratio      int64         // decoded bytes per byte on the wire, from RatioFrom on; default 200
	RatioFrom  int64         // default 1 MiB
	RobotsTime time.Duration // for robots.txt with all its redirects; default 30s
	Compare    time.Duration // to compare a page with the copy that is held, after which their bytes decide; default 1s
}

func (l Limits) withDefaults() Limits {
	fill(&l.DNS, 5*time.Second)
	fill(&l.Dial, 10*time.Second)
	fill(&l.TLS, 10*time.Second)
	fill(&l.Header, 20*time.Second)
	fill(&l.RateWindow, 30*time.Second)
	fill(&l.RateBytes, 30<<10)
	fill(&l.Ratio, 200)
	fill(&l.RatioFrom, 1<<20)
	fill(&l.RobotsTime, 30*time.Second)
	fill(&l.Compare, time.Second)
	return l
}

func fill[T ~int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
