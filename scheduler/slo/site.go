package slo

import (
	"errors"
	"math"
	"time"
)

// Class is pages of one host that change at one rate.
type Class struct {
	Host  int     // index into Site.Hosts
	Rate  float64 // changes a day, ≥ 0
	Pages float64
}

// Host is what politeness allows.
type Host struct {
	Name string
	Slot time.Duration // from the start of one request to that of the next, on average; 0: no bound
}

// Site is the pages to be planned for. Two of the same content give the same answers.
type Site struct {
	Classes  []Class
	Hosts    []Host
	Shortest time.Duration // between two visits to a page, above 0
	Longest  time.Duration // at least Shortest
	Vary     float64       // v, 0–0.5
	Open     []bool        // whether visits are allowed, by equal slots of a week that begins at any moment; nil: always

	// What an answer is in bytes: its head, the body of one that has one, and the share of the unchanged pages that answer without
	// (304).
	Head   float64
	Body   float64
	Spared float64
}

// check refuses what no arithmetic can be done with.
func (s *Site) check() error {
	switch {
	case s.Shortest <= 0 || s.Longest < s.Shortest:
		return errors.New("plan: the shortest interval is not above 0 and at most the longest")
	case s.pages() == 0:
		return errors.New("plan: there are no pages")
	case newWeek(s.Open).share() == 0:
		return errors.New("plan: the windows are never open")
	}
	for _, c := range s.Classes {
		if !(c.Rate >= 0) || math.IsInf(c.Rate, 1) || !(c.Pages >= 0) || c.Host < 0 || c.Host >= len(s.Hosts) {
			return errors.New("plan: a class of pages has a rate, a number or a host that is none")
		}
	}
	return nil
}

func (s *Site) pages() float64 {
	n := 0.0
	for _, c := range s.Classes {
		n += c.Pages
	}
	return n
}

// low and high are the bounds of frequencies, in visits a day.
func (s *Site) low() float64  { return perDay(s.Longest) }
func (s *Site) high() float64 { return perDay(s.Shortest) }

func perDay(every time.Duration) float64 { return 24 / every.Hours() }

// capacity is the most visits a day to a host.
func (s *Site) capacity(host int) float64 {
	if s.Hosts[host].Slot <= 0 {
		return math.Inf(1)
	}
	return perDay(s.Hosts[host].Slot) * newWeek(s.Open).share()
}

// bytes is what so many visits a day to pages of one class bring.
func (s *Site) bytes(c Class, f float64) float64 {
	unchanged := math.Exp(-c.Rate / f)
	return c.Pages * f * (s.Head + s.Body*(1-unchanged*s.Spared))
}
