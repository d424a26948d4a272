package report

import (
	"context"
	"slices"
	"time"

	"recrawld/models"
)

// Options narrow a report. The zero value of a field means no narrowing, or the report's own default.
type Options struct {
	Now   time.Time                    // by the daemon's clock
	Since time.Time                    // from when on, for reports over time; default by the report
	Site  int32                        // only this site
	Host  string                       // only this host, by its name, for reports of hosts (Report.ByHost)
	By    string                       // how to group, one of Report.By; default the first
	Depth int                          // of directories, in path segments; default 2
	Limit int                          // rows for a person; 0: all
	Sites map[int32]string             // names of the sites
	FRMax func(site int32) (top int32) // ceiling of fr_max of a site; nil: not known

	Start func(site int32) time.Duration // the interval that a page of a site starts with; 0, or nil: not known

	Promises []Promise // the service levels of sites

	Zone   *time.Location // whose hours are told, of reports of hours; nil: UTC
	ZoneOf string         // where it is from, for a person; "": it is not given

	Agent, Contact string // who asks, and whom to turn to
}

// Report makes one document.
type Report struct {
	Title string
	About string   // one sentence for a list
	By    []string // the groupings it knows, the default first

	ByHost   bool     // it knows Options.Host
	OverTime bool     // it knows Options.Since
	Timeless []string // groupings by which it does not, of those of By

	Make func(ctx context.Context, store *models.Store, o Options) (Document, error)
}

// Over tells whether the report, by a grouping, knows Options.Since.
func (r *Report) Over(by string) bool { return r.OverTime && !slices.Contains(r.Timeless, by) }

// Reports is all reports by name: what the command line and the web page list.
var Reports = map[string]Report{
	"calibration": {
		Title: "Calibration",
		About: "How well the policy adaptive foresees whether a visit will find a change.",
		Make:  makeCalibration,
	},
	"change-rates": {
		Title: "Change rates",
		About: "How often pages change, how often they are visited for it, and how fr_max is spread.",
		By:    []string{"site", "directory", "type"},
		Make:  makeChangeRates,
	},
	"cost": {
		Title:    "Cost",
		About:    "What visits cost: requests and bytes for each change that matters, what was wasted, and what would help.",
		By:       []string{"site", "day", "directory"},
		OverTime: true, Timeless: []string{"directory"},
		Make: makeCost,
	},
	"daily": {
		Title:    "Visits by day",
		About:    "What each day's visits found and what they cost.",
		By:       []string{"day", "site"},
		OverTime: true,
		Make:     makeDaily,
	},
	"hints": {
		Title: "Hints",
		About: "What each server's ETags, dates, promises and 304s proved to be worth, and which are not used.",
		Make:  makeHints,
	},
	"hosts": {
		Title: "Hosts",
		About: "Servers with their delay, their pages and what holds them back.",
		Make:  makeHosts,
	},
	"politeness": {
		Title:    "Politeness",
		About:    "What the owner of a server may ask for: who asks, how often, with which gaps, and what robots.txt and answers 429 and 503 did.",
		ByHost:   true,
		OverTime: true,
		Make:     makePoliteness,
	},
	"responses": {
		Title:    "Responses",
		About:    "What servers answered, by outcome, status and class of failure.",
		OverTime: true,
		Make:     makeResponses,
	},
	"rhythm": {
		Title:    "Rhythm",
		About:    "At what hours of the week pages change, and whether there is a rhythm at all: for windows and cycles.",
		OverTime: true,
		Make:     makeRhythm,
	},
	"slo": {
		Title:    "Service levels",
		About:    "What is promised of sites (slo in the configuration), what of it is attained, and how much of the error budget is used.",
		OverTime: true,
		Make:     makeLevels,
	},
}

// siteName is the name of a site, or its number where it has none any more.
func (o Options) siteName(id int32) string {
	if name := o.Sites[id]; name != "" {
		return name
	}
	return "site " + Count(id)
}
