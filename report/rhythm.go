package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/report/rhythm"
)

// rhythmSpan is how far back the report looks unless told otherwise: as far as the history goes by default.
const rhythmSpan = 90 * day

// hourly is a number for each hour of a day.
type hourly [rhythm.Day]float64

// rhythmFound is what is found of all hours together, for programs.
type rhythmFound struct {
	Zone        string   `json:"zone"`
	Since       string   `json:"since"`
	Pages       int64    `json:"pages"`
	PagesNoisy  int64    `json:"pages_left_out"`
	Changes     int64    `json:"changes"`
	Dated       int64    `json:"dated"`
	LookSeconds *float64 `json:"median_look_seconds"`
	DailyP      float64  `json:"daily_p"`
	WeeklyP     float64  `json:"weekly_p"`
	Daily       bool     `json:"daily"`
	Weekly      bool     `json:"weekly"`
	Weekdays    []string `json:"weekdays"`
	From        *int     `json:"from_hour"`
	To          *int     `json:"to_hour"`
	Times       *float64 `json:"times"`
	Share       *float64 `json:"share"`
}

// makeRhythm passes over the history of the pages that change, of a site or of all.
func makeRhythm(ctx context.Context, store *models.Store, o Options) (Document, error) {
	since := o.Since
	if since.IsZero() {
		since = o.Now.Add(-rhythmSpan)
	}
	tally := rhythm.New(o.zone())
	err := store.Looks(ctx, o.Site, models.At(since), func(looks []models.Look) { tally.Add(between(looks)) })
	if err != nil {
		return Document{}, fmt.Errorf("report rhythm: %w", err)
	}
	return rhythmDocument(tally.Rhythm(), since, o), nil
}

// zone is the time zone of hours.
func (o *Options) zone() *time.Location { return cmp.Or(o.Zone, time.UTC) }

// between are the times between looks. A first copy begins anew, as it has none before that it could differ from.
func between(looks []models.Look) (out []rhythm.Look) {
	for i := 1; i < len(looks); i++ {
		if l := looks[i]; l.Kind != models.First {
			out = append(out, rhythm.Look{From: looks[i-1].At.Time(), To: l.At.Time(), Changed: l.Kind == models.Changed, At: l.HappenedAt.Time()})
		}
	}
	return out
}

// weekdays are the days of the week from Monday on.
var weekdays = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// rhythmDocument has a line for each day of the week.
func rhythmDocument(r rhythm.Rhythm, since time.Time, o Options) Document {
	d := Document{Name: "rhythm", Title: "Rhythm", At: o.Now, Lead: rhythmLead(&r, since, o), Found: foundOf(&r, since, o), Columns: []Column{
		{Key: "weekday", Head: "day"},
		{Key: "times", Head: hourRuler(), Fields: rhythm.Day},
		{Key: "changes", Fields: rhythm.Day},
		{Key: "expected", Fields: rhythm.Day},
		{Head: "of all", Right: true},
		{Head: "times", Right: true},
	}}
	if r.Changes == 0 {
		return d
	}
	var hours, whole [rhythm.Day]rhythm.Hour
	for weekday, name := range weekdays {
		for hour := range hours {
			hours[hour] = r.Hours[weekday*rhythm.Day+hour]
			whole[hour] = whole[hour].Plus(hours[hour])
		}
		d.Rows = append(d.Rows, rhythmRow(Cell{Value: strings.ToLower(name), Text: name[:3]}, &hours, &r))
	}
	d.Total = rhythmRow(Cell{Text: "all"}, &whole, &r)
	d.Notes = rhythmNotes(&r, o.ZoneOf != "")
	return d
}

// rhythmRow is the hours of a day.
func rhythmRow(name Cell, hours *[rhythm.Day]rhythm.Hour, r *rhythm.Rhythm) Row {
	var times, came, expected hourly
	var all rhythm.Hour
	var drawn strings.Builder
	for i, h := range hours {
		times[i], came[i], expected[i] = digits(h.Times()), digits(h.Came), digits(h.Expected)
		all = all.Plus(h)
		drawn.WriteString(strings.Repeat(shade(h), hourWidth))
	}
	of := 0.0
	for _, h := range r.Hours {
		of += h.Came
	}
	share := Cell{Text: none}
	if of > 0 {
		share.Text = Share(int64(math.Round(1000*all.Came/of)), 1000)
	}
	return Row{name, {Value: times, Text: drawn.String()}, OnlyValue(came), OnlyValue(expected), share, OnlyText(significant(all.Times()))}
}

// digits rounds what nobody needs more of.
func digits(x float64) float64 { return math.Round(x*1000) / 1000 }

// hourWidth is how many characters an hour is wide: 24 of them, with what stands beside them, fit into a terminal of 80.
const hourWidth = 2

// hourRuler heads the hours: each third one.
func hourRuler() string {
	var b strings.Builder
	for hour := 0; hour < rhythm.Day; hour += 3 {
		fmt.Fprintf(&b, "%-*s", 3*hourWidth, fmt.Sprintf("%02d", hour))
	}
	return b.String()
}

// unlooked is how few changes are expected of an hour at which pages were not looked at.
const unlooked = 0.01

// shade draws how many times as often as at any hour alike pages change.
func shade(h rhythm.Hour) string {
	switch times := h.Times(); {
	case h.Expected < unlooked && h.Came < unlooked:
		return " "
	case times < 0.5:
		return "·"
	case times < 0.8:
		return "░"
	case times < 1.25:
		return "▒"
	case times < 2:
		return "▓"
	}
	return "█"
}

// rhythmLead says in a sentence when changes come, or that none can be told.
func rhythmLead(r *rhythm.Rhythm, since time.Time, o Options) []string {
	zone := "Hours are UTC"
	if o.ZoneOf != "" {
		zone = fmt.Sprintf("Hours are those of %s (from %s)", o.zone(), o.ZoneOf)
	}
	zone += fmt.Sprintf("; visits since %s", since.In(o.zone()).Format("2 January 2006"))
	seen := fmt.Sprintf("%s of %s", Plural(r.Changes, "change"), Plural(r.Pages, "page"))
	if !r.Some() {
		return []string{noRhythm(r, seen), zone}
	}
	return []string{fmt.Sprintf("Changes come %s (%s), %s as often as else: %s of %s", spanWords(r.Span), foundP(r), timesWords(r.Times),
		Share(int64(math.Round(1000*r.Share)), 1000), seen), zone + "; by the hour of the day " + pWords(r.DailyP) + ", by the day of the week " + pWords(r.WeeklyP)}
}

// noRhythm says that none shows, and of how much.
func noRhythm(r *rhythm.Rhythm, seen string) string {
	switch {
	case r.Changes == 0:
		return "No rhythm shows: no page was seen changed by one visit and unchanged by another"
	case r.Changes < rhythm.LeastChanges:
		return fmt.Sprintf("No rhythm shows: %s are too few, it takes %d", seen, rhythm.LeastChanges)
	case r.Look == 0:
		return fmt.Sprintf("No rhythm shows: %s, all of them dated, say nothing of the hour (%s, by the day of the week %s)", seen, pWords(r.DailyP), pWords(r.WeeklyP))
	}
	return fmt.Sprintf("No rhythm shows: %s, intervals of visits of %s at the median say nothing of the hour (%s, by the day of the week %s)", seen,
		Span(lookOf(r)), pWords(r.DailyP), pWords(r.WeeklyP))
}

// lookOf is the median time in which a change lies.
func lookOf(r *rhythm.Rhythm) time.Duration { return time.Duration(r.Look * float64(time.Hour)) }

// spanWords is "on working days from 9 to 18".
func spanWords(s rhythm.Span) string {
	var words []string
	last := weekdays[(s.FirstDay+s.Days-1)%7]
	switch {
	case s.Days == 7:
	case s.Workdays():
		words = append(words, "on working days")
	case s.Weekend():
		words = append(words, "at weekends")
	case s.Days == 1:
		words = append(words, "on "+last+"s")
	default:
		words = append(words, "from "+weekdays[s.FirstDay]+" to "+last)
	}
	if s.Hours < rhythm.Day {
		hours := fmt.Sprintf("from %d to %d", s.From, spanEnd(s))
		if len(words) > 0 && strings.HasPrefix(words[0], "from") {
			hours = ", " + hours
		} else if len(words) > 0 {
			hours = " " + hours
		}
		words = append(words, hours)
	}
	return strings.Join(words, "")
}

// spanEnd is the hour that a span ends with, 1–24.
func spanEnd(s rhythm.Span) int { return (s.From+s.Hours-1)%rhythm.Day + 1 }

// mostTimes is up to where it is told how many times as often pages change: beyond it that is anybody's guess.
const mostTimes = 100

// timesWords is "3.2 times".
func timesWords(times float64) string {
	if !(times <= mostTimes) {
		return fmt.Sprintf("more than %d times", mostTimes)
	}
	return strconv.FormatFloat(times, 'f', 1, 64) + " times"
}

// foundP is the probability of what was found: of both rhythms the larger one.
func foundP(r *rhythm.Rhythm) string {
	p := 0.0
	if r.Daily {
		p = r.DailyP
	}
	if r.Weekly {
		p = max(p, r.WeeklyP)
	}
	return pWords(p)
}

// pWords writes a probability as it is usual.
func pWords(p float64) string {
	switch {
	case p < 0.001:
		return "p < 0.001"
	case p < 0.01:
		return "p < 0.01"
	}
	return "p = " + significant(p)
}

// rhythmNotes explain what is drawn. Windows and cycles by cron have the visits, and the lists that tell of changes, keep to hours.
func rhythmNotes(r *rhythm.Rhythm, kept bool) []string {
	notes := []string{"Each hour: how many times as often as at any hour alike pages change, by their own rates and the times at which they were looked at: " +
		"· less than 0.5, ░ from 0.5, ▒ from 0.8, ▓ from 1.25, █ from 2 on; blank where they were not. A change lies somewhere between two visits, over whose hours it is spread, unless a trusted date tells the moment; so edges are as blurred as visits are apart, " +
		"but not those of the sentence above."}
	if kept && r.Daily {
		notes = append(notes, "Where visits follow a list that is read at one hour of the day, by the cycle or in windows, the hours before it look busy.")
	}
	if r.Noisy > 0 {
		notes = append(notes, fmt.Sprintf("%s left out: changed at more than four of five looks.", Plural(r.Noisy, "page")))
	}
	return notes
}

// foundOf is what is found, for programs.
func foundOf(r *rhythm.Rhythm, since time.Time, o Options) any {
	f := rhythmFound{Zone: o.zone().String(), Since: since.UTC().Format(time.RFC3339), Pages: r.Pages, PagesNoisy: r.Noisy, Changes: r.Changes, Dated: r.Dated,
		DailyP: toldNumber(r.DailyP), WeeklyP: toldNumber(r.WeeklyP), Daily: r.Daily, Weekly: r.Weekly, Weekdays: []string{}}
	if r.Look > 0 {
		seconds := lookOf(r).Seconds()
		f.LookSeconds = &seconds
	}
	if !r.Some() {
		return f
	}
	for i := range r.Span.Days {
		f.Weekdays = append(f.Weekdays, strings.ToLower(weekdays[(r.Span.FirstDay+i)%7]))
	}
	to := spanEnd(r.Span)
	times, share := digits(r.Times), digits(r.Share)
	if f.From, f.To, f.Share = &r.Span.From, &to, &share; r.Times <= mostTimes {
		f.Times = &times
	}
	return f
}
