package config

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Default is what holds without a file. It reads $STATE_DIRECTORY, which systemd sets, for Data, and the name of the
// machine for Worker.Name.
func Default() Config {
	data, _ := stateDirectory()
	c := Config{
		Agent:  Agent{Name: "recrawld"},
		Cycle:  FormatDuration(defaultCycle),
		Store:  "sqlite",
		Data:   cmp.Or(data, "./recrawld-data"),
		Listen: "127.0.0.1:8686",
		Network: Network{
			Ports:           []uint16{80, 443, 8080, 8443},
			HostsPerAddress: 8,
			Connections:     2048,
		},
		Worker: Worker{
			Name:      workerName(),
			Fetchers:  64,
			SlowShare: 0.5,
			Lease:     5 * time.Minute,
			Grace:     25 * time.Second,
			Memory:    256 * mib,
			MinFree:   512 * mib,
		},
		History:  History{Keep: 90 * day},
		Backup:   Backup{Every: 8 * time.Hour, Keep: 3},
		Mirror:   Mirror{Trash: 365 * day},
		WebSub:   WebSub{Callback: "off", Lease: 10 * day},
		Defaults: DefaultSettings(),
	}
	c.placeDirectories()
	return c
}

// DefaultSettings is what a site has where nothing else is said.
func DefaultSettings() Settings {
	return Settings{
		Policy:     classic,
		Importance: Importance{Weight: 1},
		FR:         4,
		FRMax:      120,
		Records:    20,
		Vary:       0.15,
		HintMax:    7 * day,

		Delay:       10 * time.Second,
		DelayMax:    5 * time.Minute,
		DelayFactor: 5,
		Concurrency: 1,
		RetryMax:    24 * time.Hour,

		PageTime:    2 * time.Minute,
		WireBytes:   32 * mib,
		BodyBytes:   64 * mib,
		HeaderBytes: 256 * kib,

		Level:        10,
		Requisites:   RequisitesOff,
		NoIndex:      NoIndexFew,
		URLLength:    2048,
		Segments:     20,
		Repeats:      3,
		PagesPerHost: 10_000_000,
		LinksPerPage: 10_000,
		ChildrenKept: 500,
		Lists:        ListsPages,
		ListEntries:  50_000,

		Significance: 0.5,
		Duplicates:   true,
		Audit:        0.01,
		Probe:        30 * day,

		Parents:    Parents{Threshold: 0.40, MaxSkips: 3},
		GoneVisits: 3,
		GoneOver:   48 * time.Hour,
		GoneGuard:  0.25,
	}
}

// DefaultOrigins are the origins of what Default returns.
func DefaultOrigins() Origins {
	origins := Origins{}
	if _, set := stateDirectory(); set {
		origins[Place{Key: "data"}] = Origin{Source: FromEnvironment}
	}
	return origins
}

// stateDirectory is the first of the directories that StateDirectory= in a unit may list.
func stateDirectory() (string, bool) {
	first, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	return first, first != ""
}

// workerName is the machine's name and 0: more workers on one machine are named by whoever starts them.
func workerName() string {
	host, err := os.Hostname()
	name := strings.ToLower(host) + "-0"
	if err != nil || checkWorker(name) != nil {
		return "worker-0"
	}
	return name
}

// SetData moves all state to a directory, the backups and the mirror too where they lie in their usual places below the
// old one.
func (c *Config) SetData(dir string) {
	if c.Backup.Dir == filepath.Join(c.Data, "backups") {
		c.Backup.Dir = ""
	}
	if c.Mirror.Dir == filepath.Join(c.Data, "mirror") {
		c.Mirror.Dir = ""
	}
	c.Data = dir
	c.placeDirectories()
}

// placeDirectories puts the directories that nobody chose below Data.
func (c *Config) placeDirectories() {
	if c.Backup.Dir == "" {
		c.Backup.Dir = filepath.Join(c.Data, "backups")
	}
	if c.Mirror.Dir == "" {
		c.Mirror.Dir = filepath.Join(c.Data, "mirror")
	}
}
