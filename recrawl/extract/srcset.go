package extract

import (
	"strconv"
	"strings"
)

// srcset reads the URLs of a srcset attribute (HTML Standard, 4.8.4.2.2 "parse a srcset attribute"). A URL may hold commas; a
// candidate whose descriptors make no sense is none.
func srcset(value string) []string {
	var urls []string
	for {
		value = strings.TrimLeft(value, space+",")
		if value == "" {
			return urls
		}
		end := strings.IndexAny(value, space)
		if end < 0 {
			end = len(value)
		}
		url := value[:end]
		value = value[end:]
		ok := true
		if bare := strings.TrimRight(url, ","); bare != url {
			url = bare // the comma ends the candidate, which has no descriptor
		} else {
			end = descriptorsEnd(value)
			ok = describes(value[:end])
			value = value[end:]
		}
		if ok {
			urls = append(urls, url)
		}
	}
}

// descriptorsEnd is where the descriptors of a candidate end: at a comma that stands in no parentheses.
func descriptorsEnd(s string) int {
	open := false
	for i := range len(s) {
		switch s[i] {
		case '(':
			open = true
		case ')':
			open = false
		case ',':
			if !open {
				return i
			}
		}
	}
	return len(s)
}

// describes tells whether descriptors make sense: one width with or without a height, or one density, or none.
func describes(descriptors string) bool {
	widths, densities, heights := 0, 0, 0
	for d := range strings.FieldsSeq(descriptors) {
		number := d[:len(d)-1]
		switch d[len(d)-1] {
		case 'w':
			widths++
		case 'h':
			heights++
		case 'x':
			if f, err := strconv.ParseFloat(number, 64); err != nil || f < 0 {
				return false
			}
			densities++
			continue
		default:
			return false
		}
		if n, err := strconv.ParseUint(number, 10, 32); err != nil || n == 0 {
			return false
		}
	}
	return widths <= 1 && densities <= 1 && heights <= widths && (densities == 0 || widths == 0)
}
