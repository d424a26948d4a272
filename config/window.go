package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a machine may have no time zones of its own, as many containers: windows would be refused there
)

// dayNames are the weekdays as they are written, by time.Weekday.
var dayNames = [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

const day = 24 * time.Hour

// ParseWindow reads a window: an optional list of days ("Mon-Fri", "Sat,Sun"), a span of local time that may run past
// midnight ("22:00-06:00", the whole day is "00:00-24:00") and an IANA time zone, which is never left out.
func ParseWindow(text string) (Window, error) {
	parts := strings.Fields(text)
	var w Window
	if len(parts) == 0 || len(parts) > 3 {
		return w, fmt.Errorf("%s is not a window, write one like %q", shown(text), "Mon-Fri 22:00-06:00 Europe/Berlin")
	}
	w.Days = [7]bool{true, true, true, true, true, true, true}
	if !strings.Contains(parts[0], ":") {
		days, err := parseDays(parts[0])
		if err != nil {
			return Window{}, err
		}
		w.Days, parts = days, parts[1:]
	}
	if len(parts) == 0 {
		return Window{}, fmt.Errorf("%s has no time of day, write one like 22:00-06:00", shown(text))
	}
	if err := w.parseSpan(parts[0]); err != nil {
		return Window{}, err
	}
	if len(parts) == 1 {
		return Window{}, fmt.Errorf("%s has no time zone, write %q", shown(text), text+" UTC")
	}
	if len(parts) > 2 {
		return Window{}, fmt.Errorf("%s has more than days, times and zone", shown(text))
	}
	zone, err := parseZone(parts[1])
	if err != nil {
		return Window{}, err
	}
	w.Zone = zone
	return w, nil
}

// parseZone refuses "Local": it means something else on each machine.
func parseZone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, errors.New("time zone Local differs from machine to machine, write one like Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %s, write one like Europe/Berlin or UTC", shown(name))
	}
	return zone, nil
}

func (w *Window) parseSpan(text string) error {
	from, to, found := strings.Cut(text, "-")
	begin, ok1 := parseTimeOfDay(from)
	end, ok2 := parseTimeOfDay(to)
	if !found || !ok1 || !ok2 || begin == day {
		return fmt.Errorf("%s is not a span of a day, write one like 22:00-06:00", shown(text))
	}
	if begin == end {
		return fmt.Errorf("%s is empty, the whole day is 00:00-24:00", shown(text))
	}
	w.From, w.To = begin, end
	return nil
}

// parseTimeOfDay reads "06:30", and "24:00" for the end of the day.
func parseTimeOfDay(text string) (time.Duration, bool) {
	if len(text) != 5 || text[2] != ':' || strings.Trim(text[:2]+text[3:], "0123456789") != "" {
		return 0, false
	}
	h, _ := strconv.Atoi(text[:2])
	m, _ := strconv.Atoi(text[3:])
	d := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	return d, m < 60 && d <= day
}

// parseDays reads "Mon-Fri,Sun". A span may run past the end of the week: "Fri-Mon".
func parseDays(text string) ([7]bool, error) {
	var days [7]bool
	for span := range strings.SplitSeq(text, ",") {
		first, last, isSpan := strings.Cut(span, "-")
		if !isSpan {
			last = first
		}
		from, ok1 := parseDay(first)
		to, ok2 := parseDay(last)
		if !ok1 || !ok2 {
			return days, fmt.Errorf("%s is not a list of days, write one like Mon-Fri or Sat,Sun", shown(text))
		}
		days[to] = true
		for d := from; d != to; d = (d + 1) % 7 {
			days[d] = true
		}
	}
	return days, nil
}

func parseDay(text string) (int, bool) {
	for d, name := range dayNames {
		if strings.EqualFold(text, name) {
			return d, true
		}
	}
	return 0, false
}

// String is the window as ParseWindow reads it, with its days only where they are not all.
func (w Window) String() string {
	zone := "UTC"
	if w.Zone != nil {
		zone = w.Zone.String()
	}
	span := clockFace(w.From) + "-" + clockFace(w.To) + " " + zone
	if days := w.days(); days != "" {
		return days + " " + span
	}
	return span
}

func clockFace(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d/time.Hour), int(d%time.Hour/time.Minute))
}

// days lists the days in spans from Monday on, "" for all of them.
func (w Window) days() string {
	if w.Days == [7]bool{true, true, true, true, true, true, true} {
		return ""
	}
	var spans []string
	for i := 1; i <= 7; i++ {
		if !w.Days[i%7] {
			continue
		}
		first := i
		for i < 7 && w.Days[(i+1)%7] {
			i++
		}
		span := dayNames[first%7]
		if i > first {
			span += "-" + dayNames[i%7]
		}
		spans = append(spans, span)
	}
	return strings.Join(spans, ",")
}

// check tells what ParseWindow would not have made.
func (w Window) check() error {
	switch {
	case w.From < 0 || w.From >= day || w.To < 0 || w.To > day || w.From == w.To:
		return fmt.Errorf("window %s is not a span of a day", w)
	case w.Days == [7]bool{}:
		return fmt.Errorf("window %s has no day", w)
	case w.Zone == nil:
		return fmt.Errorf("window %s has no time zone", w)
	}
	return nil
}
