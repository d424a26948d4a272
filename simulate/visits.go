package simulate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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
