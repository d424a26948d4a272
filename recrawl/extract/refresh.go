package extract

import (
	"strings"
	"time"
)

// maxRefresh is the longest delay that a refresh is read with.
const maxRefresh = 24 * time.Hour

// ParseRefresh reads the content of a meta refresh by the HTML Standard's "shared declarative refresh steps": a delay
// in whole seconds (a fraction is ignored, more than a day is a day) and a reference, "" for the page itself. false: it
// is none.
func ParseRefresh(content string) (delay time.Duration, ref string, ok bool) {
	rest := strings.TrimLeft(content, space)
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if digits == "" && !strings.HasPrefix(rest, ".") {
		return 0, "", false
	}
	delay = seconds(digits)
	rest = strings.TrimLeft(rest[len(digits):], "0123456789.")
	if rest == "" {
		return delay, "", true
	}
	if strings.IndexByte(space+";,", rest[0]) < 0 {
		return 0, "", false
	}
	rest = strings.TrimLeft(rest, space)
	if rest != "" && (rest[0] == ';' || rest[0] == ',') {
		rest = rest[1:]
	}
	return delay, refreshTarget(strings.TrimLeft(rest, space)), true
}

const space = " \t\n\f\r"

// refreshTarget reads what follows the delay: url=, in any case and with white space, is optional, and so are quotes.
func refreshTarget(s string) string {
	if len(s) >= 3 && strings.EqualFold(s[:3], "url") {
		if after := strings.TrimLeft(s[3:], space); strings.HasPrefix(after, "=") {
			s = strings.TrimLeft(after[1:], space)
		}
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = strings.Cut(s[1:], s[:1])
	}
	return s
}

// seconds is a run of digits as a duration, at most maxRefresh.
func seconds(digits string) time.Duration {
	delay := time.Duration(0)
	for _, digit := range digits {
		delay = delay*10 + time.Duration(digit-'0')*time.Second
		if delay > maxRefresh {
			return maxRefresh
		}
	}
	return delay
}
