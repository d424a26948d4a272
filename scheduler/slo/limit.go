package slo

import (
	"time"
)

// Limit is what stands in the way of a goal.
type Limit string

// The limits.
const (
	ByPoliteness Limit = "politeness" // the delay between two requests to a host
	ByWindow     Limit = "window"     // the times at which visits are allowed
	ByCycle      Limit = "cycle"      // the shortest interval
)

// relaxed are the site without each of its limits.
var relaxed = []struct {
	limit Limit
	lift  func(*Site)
}{
	{ByPoliteness, func(s *Site) {
		hosts := make([]Host, len(s.Hosts))
		for i, h := range s.Hosts {
			hosts[i].Name = h.Name
		}
		s.Hosts = hosts
	}},
	{ByWindow, func(s *Site) { s.Open = nil }},
	{ByCycle, func(s *Site) { s.Shortest = min(s.Shortest, time.Second) }},
}

// Limits says what makes a share of changes seen within a time, or with 0 of fresh pages, unattainable: each limit without
// which it would be attainable, or where lifting one is not enough, those that stand in its way together. None: it is
// attainable.
func Limits(site Site, share float64, within time.Duration) ([]Limit, error) {
	attainable := func(s Site) (bool, float64, error) {
		p, err := New(s, within)
		if err != nil {
			return false, 0, err
		}
		most := p.Most()
		return most.Share >= share-slack, most.Share, nil
	}
	ok, now, err := attainable(site)
	if ok || err != nil {
		return nil, err
	}
	var enough, helpful []Limit
	for _, r := range relaxed {
		s := site
		r.lift(&s)
		ok, reached, err := attainable(s)
		switch {
		case err != nil:
			return nil, err
		case ok:
			enough = append(enough, r.limit)
		}
		if reached > now+slack {
			helpful = append(helpful, r.limit)
		}
	}
	if len(enough) > 0 {
		return enough, nil
	}
	if len(helpful) == 0 { // each hides the other
		for _, r := range relaxed {
			helpful = append(helpful, r.limit)
		}
	}
	return helpful, nil
}

// Soonest is within which time a share of the changes can be seen by the best schedule of a plan that a budget pays for, as by so many
// visits a day: the inverse of New and For. It is to within a part in ten thousand, and false where not even a year suffices.
func Soonest(site Site, share float64, best func(*Plan) Schedule) (time.Duration, bool, error) {
	low, high := time.Minute, 366*24*time.Hour
	reached := func(t time.Duration) (bool, error) {
		p, err := New(site, t)
		if err != nil {
			return false, err
		}
		return best(p).Share >= share-slack, nil
	}
	if ok, err := reached(high); !ok || err != nil {
		return high, false, err
	}
	for float64(high-low) > float64(low)/10000 {
		mid := low + (high-low)/2
		ok, err := reached(mid)
		if err != nil {
			return 0, false, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true, nil
}
