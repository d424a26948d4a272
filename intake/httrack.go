package intake

import (
	"errors"
	"strings"
)

// The columns of hts-cache/new.txt that are read, from 0.
const (
	httrackStatus  = 3
	httrackURL     = 7
	httrackColumns = 8
)

// isHTTrackHeading tells the first line of HTTrack's list of files: columns parted by tabs, of which the first has the time and the eighth the URL.
func isHTTrackHeading(line string) bool {
	columns := strings.Split(strings.ToLower(strings.TrimSpace(line)), "\t")
	return len(columns) >= httrackColumns && columns[0] == "date" && columns[httrackURL] == "url"
}

// httrackLine reads a line of that list.
func httrackLine(text string) (Item, error) {
	if isHTTrackHeading(text) {
		return Item{Skip: true}, nil
	}
	columns := strings.Split(text, "\t")
	if len(columns) < httrackColumns {
		return Item{}, errors.New("a line of HTTrack's list with too few columns")
	}
	url, status := columns[httrackURL], strings.TrimSpace(columns[httrackStatus])
	there := strings.HasPrefix(status, "2") || status == "304"
	return Item{URL: url, Skip: !there || otherScheme(url)}, nil
}
