package extract

import (
	"testing"
	"time"
)

func TestTimeless(t *testing.T) {
	t.Parallel()
	at := time.Unix(1764125712, 0)
	for from, want := range map[string]string{
		"https://h/s.css?v=1764125712":                                 "https://h/s.css",
		"https://h/s.css?1764125700":                                   "https://h/s.css",
		"https://h/c.php?id=start&1764125712":                          "https://h/c.php?id=start",
		"https://h/c?_=1764125712345&a=1&b=2":                          "https://h/c?a=1&b=2",
		"https://h/s.css?v=1764120000":                                 "https://h/s.css?v=1764120000", // when the file was changed
		"https://h/s.css?v=17641257120":                                "https://h/s.css?v=17641257120",
		"https://h/s.css?v=x764125712&w=1.2.3-rc1":                     "https://h/s.css?v=x764125712&w=1.2.3-rc1",
		"https://h/1764125712.png":                                     "https://h/1764125712.png",
		"https://h/a/data.json?0c7ba505-5706-40e0-9e73-2f5c122505a0":   "https://h/a/data.json",
		"https://h/a/data.json?0c7ba505-5706-40e0-9e73-2f5c122505a":    "https://h/a/data.json?0c7ba505-5706-40e0-9e73-2f5c122505a",
		"https://h/a/data.json?0c7ba505-5706-40e0-9e73-2f5c12250xyz":   "https://h/a/data.json?0c7ba505-5706-40e0-9e73-2f5c12250xyz",
		"https://h/a/data.json?v=0c7ba505-5706-40e0-9e73-2f5c122505a0": "https://h/a/data.json?v=0c7ba505-5706-40e0-9e73-2f5c122505a0",
		"https://h/image?0c7ba505-5706-40e0-9e73-2f5c122505a0":         "https://h/image?0c7ba505-5706-40e0-9e73-2f5c122505a0", // which one
		"https://h/image.php?0c7ba505-5706-40e0-9e73-2f5c122505a0":     "https://h/image.php?0c7ba505-5706-40e0-9e73-2f5c122505a0",
	} {
		if got := Timeless(mustParse(t, from), at).String(); got != want {
			t.Errorf("Timeless(%s) = %s, want %s", from, got, want)
		}
		if got := Timeless(mustParse(t, from), time.Time{}).String(); got != from {
			t.Errorf("Timeless(%s) at no time = %s", from, got)
		}
	}
	page := `<link rel=stylesheet href="s.css?1764125712"><img src="c?id=1&amp;1764125713"><img src="c?id=1&amp;1764125714">`
	got := Page([]byte(page), "text/html", mustParse(t, "https://h/d/p"), Options{Bytes: 1000, Links: 10, Requisites: true, At: at}).Requisites
	if len(got) != 2 || got[0].String() != "https://h/d/s.css" || got[1].String() != "https://h/d/c?id=1" {
		t.Errorf("requisites %v, want the style and one counter", got)
	}
}
