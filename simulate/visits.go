package simulate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"recrawld/models"
)

// WriteVisits writes a log as NDJSON, a line a visit: {"t": Unix seconds, "page": the page as the trace names it}.
func WriteVisits(w io.Writer, t *Trace, log []Seen) error {
	names := make([][]byte, len(t.Pages))
	for i := range t.Pages {
		name, err := json.Marshal(t.Pages[i].Name)
		if err != nil {
			return fmt.Errorf("write visits: %w", err)
		}
		names[i] = name
	}
	b := bufio.NewWriterSize(w, 1<<16)
	for _, v := range log {
		fmt.Fprintf(b, "{\"t\":%d.%03d,\"page\":%s}\n", v.At/1000, v.At%1000, names[v.Page])
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write visits: %w", err)
	}
	return nil
}

// Impolite counts the visits that came sooner after the one before to their host than its politeness delay allows.
func Impolite(t *Trace, log []Seen) (broken int) {
	last := make(map[string]models.Instant)
	for _, v := range log {
		host := t.Pages[v.Page].Host
		before, visited := last[host]
		if delay := models.Instant(t.Delay[host].Milliseconds()); visited && delay > 0 && v.At < before+delay {
			broken++
		}
		last[host] = v.At
	}
	return broken
}
