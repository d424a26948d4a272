// Package story makes up a history of web pages: the site of a message queue called Marlin, which does not exist, with
// documentation, news, releases and a status page, over some weeks. It is generated from a seed, so it is the same
// every time; its rhythms are realistic, its contents are invented.
package story

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"recrawld/internal/origin"
)

// The sections of the site, each a host of its own.
const (
	Docs     = "docs"
	News     = "news"
	Releases = "releases"
	Status   = "status"
	About    = "about"
)

// Sections lists the sections in the order of the hosts of the world.
func Sections() []string { return []string{Docs, News, Releases, Status, About} }

// Tell returns the history from a moment on, for so long. The same seed and times tell the same story.
func Tell(seed uint64, from time.Time, length time.Duration) *origin.World {
	from = from.UTC().Truncate(time.Hour)
	t := &teller{dice: dice{seed}, from: from, to: from.Add(length)}
	t.planReleases()
	world := &origin.World{}
	for _, host := range []*origin.Host{t.docs(), t.news(), t.releases(), t.status(), t.about()} {
		host.Forbidden = []origin.Ban{{Prefix: "/private/"}}
		host.AddRobots(t.dawn())
		world.Hosts = append(world.Hosts, host)
	}
	return world
}

// teller holds what the sections share.
type teller struct {
	dice     dice
	from, to time.Time
	launches []launch
}

// launch is a release of the product.
type launch struct {
	name string
	at   time.Time
}

// dawn is when what was always there was made: long before anybody looks.
func (t *teller) dawn() time.Time { return t.from.Add(-30 * 24 * time.Hour) }

// planReleases sets a release on a working day, every five to nine days, the first before the story begins.
func (t *teller) planReleases() {
	minor, patch := 8, 0
	for at := t.from.Add(-9 * 24 * time.Hour); at.Before(t.to); {
		launchAt := workingHour(at, 9+t.dice.below(8, "release hour", minor, patch))
		t.launches = append(t.launches, launch{fmt.Sprintf("1.%d.%d", minor, patch), launchAt})
		if patch++; t.dice.below(3, "minor", minor, patch) == 0 {
			minor, patch = minor+1, 0
		}
		at = at.Add(time.Duration(5+t.dice.below(5, "release gap", minor, patch)) * 24 * time.Hour)
	}
}

// workingHour is the given hour of the day of at, or of the Monday after it.
func workingHour(at time.Time, hour int) time.Time {
	day := at.Truncate(24 * time.Hour)
	for day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
		day = day.Add(24 * time.Hour)
	}
	return day.Add(time.Duration(hour) * time.Hour)
}

// every calls visit for each step of a length, from the beginning of the story to its end.
func (t *teller) every(step time.Duration, visit func(i int, at time.Time)) {
	for i, at := 0, t.from; at.Before(t.to); i, at = i+1, at.Add(step) {
		visit(i, at)
	}
}

// dice gives chance that depends on nothing but the seed and the name of what is decided.
type dice struct{ seed uint64 }

// below is a number from 0 to n-1 for the thing that the key names.
func (d dice) below(n int, key ...any) int {
	sum := sha256.Sum256(fmt.Append(nil, d.seed, key))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(n))
}

// pick is one of the words for the thing that the key names.
func (d dice) pick(words []string, key ...any) string { return words[d.below(len(words), key...)] }
