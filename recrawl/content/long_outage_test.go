package content

import (
	"strings"
	"testing"
	"time"
)

// outageOf has pages of a host visited once a day for so many days, some minutes apart; says is what all of them show on a day. It fails the
// test where any takes that for its content.
func outageOf(t *testing.T, name string, pages, days int, says func(day, page int) string) {
	t.Helper()
	host := &HostMemory{}
	var all []*stay
	for id := range int64(pages) {
		all = append(all, newStay(t, host, id))
	}
	for day := range days {
		for i, s := range all {
			now := noon.Add(time.Duration(day)*24*time.Hour + time.Duration(i)*time.Minute)
			if v := s.sees(read(t, says(day, i)), now, noon.Add(-time.Hour)); v.Kind != Transient {
				t.Errorf("%s: on day %d page %d is %v, as %d others", name, day, i, v.Kind, v.Others)
				return
			}
		}
	}
}

// TestAnOutageThatSaysSomethingElse holds that no page of a host that is down is what it shows there because that is changed meanwhile:
// whichever is visited first then is the only one that shows it.
func TestAnOutageThatSaysSomethingElse(t *testing.T) {
	t.Parallel()
	bare := func(text string) string { return "<title>Us</title><p>" + text }
	news := func(day int) string { return growWords[day/5] + " is what we work on" }
	for name, says := range map[string]func(day, page int) string{
		"a maintenance page": func(day, _ int) string { return bare("Down for maintenance: " + news(day)) },
		"a short text":       func(day, _ int) string { return bare("We are back soon: " + news(day)) },
		"not found":          func(day, _ int) string { return bare("Not found: " + news(day)) },
		"a log-in form":      func(day, _ int) string { return logIn + news(day) },
	} {
		outageOf(t, name, 5, 30, says)
	}
	outageOf(t, "one of the size of a page", 5, 7, func(day, _ int) string {
		return strings.ReplaceAll(large("Repairs"), "at present", "with "+growWords[day/2])
	})
	outageOf(t, "first a short one, then one of the size of a page", 1, 2, func(day, _ int) string {
		return []string{maintenance, large("We are being repaired")}[day]
	})
}

// TestWhatWasShownBeforeTheProbeIsNoAnswerToIt holds that what a page showed in place of its content before a name that does not exist was asked
// for, while none of the host's showed its own, is no answer for such names: in an outage all are answered so.
func TestWhatWasShownBeforeTheProbeIsNoAnswerToIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		well bool // another page showed its content after that
		want VerdictKind
	}{
		"maintenance":                       {maintenance, false, Transient},
		"a short text":                      {plainShort, false, Transient},
		"a short text where pages are well": {plainShort, true, SoftMissing},
		"not found":                         {notFound, false, SoftMissing},
	} {
		host, after := &HostMemory{}, read(t, test.body)
		s, shown := newStay(t, host, 1), noon.Add(-time.Hour)
		s.sees(after, noon, shown)
		host.LearnMissing(after, 200, noon.Add(time.Hour))
		if test.well {
			shown = noon.Add(30 * time.Minute)
		}
		if v := s.sees(after, noon.Add(3*time.Hour), shown); v.Kind != test.want {
			t.Errorf("%s: the page is %v, want %v", name, v.Kind, test.want)
		}
		if host.IsMissing(after) != (test.want == SoftMissing) {
			t.Errorf("%s: that it is the answer is remembered: %t", name, host.IsMissing(after))
		}
	}
}

// TestPagesThatBecomeOtherDocumentsTogether holds that a page that became another document is that when it is seen again where two more became
// each another, and not where all begin alike, where one did, or did so weeks ago; and that this is remembered.
func TestPagesThatBecomeOtherDocumentsTogether(t *testing.T) {
	t.Parallel()
	other := func(id int, begin string) *View {
		return read(t, page("Part "+growWords[id], append([]string{begin}, strings.Split(strings.ReplaceAll(large(""), "Our", growWords[id]), "<p>")[1:]...)...))
	}
	for name, test := range map[string]struct {
		others int
		begin  string
		ago    time.Duration
		want   VerdictKind
	}{
		"two others":              {2, "", time.Hour, Change},
		"one other":               {1, "", time.Hour, Transient},
		"weeks ago":               {2, "", 20 * 24 * time.Hour, Transient},
		"all of them begin alike": {5, "We are sorry", time.Hour, Transient},
	} {
		host := &HostMemory{}
		begin := func(id int) string {
			if test.begin == "" {
				return "This is of " + growWords[id]
			}
			return test.begin
		}
		for id := range test.others {
			newStay(t, host, int64(id)).sees(other(id, begin(id)), noon.Add(-test.ago), time.Time{})
		}
		s := newStay(t, host, 9)
		for visit, want := range []VerdictKind{Transient, test.want} {
			if v := s.sees(other(9, begin(9)), noon.Add(time.Duration(visit)*15*time.Minute), time.Time{}); v.Kind != want {
				t.Errorf("%s: at visit %d the page is %v as %d others, want %v", name, visit, v.Kind, v.Others, want)
			}
		}
	}
}
