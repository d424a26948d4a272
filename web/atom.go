package web

import (
	"cmp"
	"encoding/xml"
	"net/url"
	"time"

	"recrawld/report"
)

// atomFeed is a feed as Atom has it (RFC 4287). Addresses of this server are relative: a proxy may serve it under another name.
type atomFeed struct {
	XMLName   xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID        string      `xml:"id"`
	Title     string      `xml:"title"`
	Subtitle  string      `xml:"subtitle,omitempty"`
	Updated   string      `xml:"updated"`
	Author    string      `xml:"author>name"`
	Generator string      `xml:"generator"`
	Links     []atomLink  `xml:"link"`
	Entries   []atomEntry `xml:"entry"`
}

type atomLink struct {
	Relation string `xml:"rel,attr"`
	Type     string `xml:"type,attr,omitempty"`
	Title    string `xml:"title,attr,omitempty"`
	Address  string `xml:"href,attr"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Updated    string         `xml:"updated"`
	Links      []atomLink     `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Content    atomText       `xml:"content"`
}

type atomCategory struct {
	Term   string `xml:"term,attr"`
	Scheme string `xml:"scheme,attr"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// atom writes a feed with what its entries say. What XML cannot have of that is U+FFFD there.
func atom(found Feed, q ChangesQuery, told []telling) ([]byte, error) {
	const prefix = "urn:recrawld:"
	asked := parameters(q)
	f := atomFeed{ID: prefix + found.Log + ":feed:" + asked, Title: "recrawld", Updated: atomTime(found.At),
		Author: "recrawld", Generator: "recrawld", Links: []atomLink{{Relation: "self", Type: "application/atom+xml", Address: "/feed?" + asked},
			{Relation: "alternate", Type: "text/html", Address: "/changes"}}}
	if q.Site != "" {
		f.Title += ": " + line(q.Site)
	}
	if !found.Back.IsZero() {
		f.Subtitle = "Looked through back to " + found.Back.UTC().Format("2 Jan 2006 15:04") + " UTC so far: the next answers go further."
	}
	if len(found.Entries) > 0 {
		f.Updated = atomTime(found.Entries[0].At)
	}
	for i, e := range found.Entries {
		entry := atomEntry{ID: prefix + e.ID, Title: e.title(told[i].title), Updated: atomTime(e.At),
			Links:      []atomLink{{Relation: "alternate", Address: e.URL}, e.sheet()},
			Categories: []atomCategory{{e.Kind, prefix + "kind"}}, Content: atomText{"html", told[i].said}}
		if e.Site != "" {
			entry.Categories = append(entry.Categories, atomCategory{e.Site, prefix + "site"})
		}
		f.Entries = append(f.Entries, entry)
	}
	document, err := xml.MarshalIndent(f, "", " ")
	return append([]byte(xml.Header), append(document, '\n')...), err
}

func atomTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// title says in a line what happened to a page of that title; "": it is not known.
func (e *Entry) title(page string) string {
	if e.Pages > 0 {
		page = cmp.Or(e.Site, e.URL) + ", " + report.Plural(e.Pages, "page")
	}
	if page = line(page); page == "" {
		page = e.URL
	}
	if e.RedirectTo != "" {
		page += " → " + line(e.RedirectTo)
	}
	return e.Kind + ": " + page
}

// sheet leads to what is known here of an entry.
func (e *Entry) sheet() atomLink {
	switch {
	case e.Pages > 0: // none of which is known
		return atomLink{Relation: "related", Type: "text/html", Title: "what happened of late", Address: "/changes"}
	case e.Versions == "":
		return atomLink{Relation: "related", Type: "text/html", Title: "why it is visited when it is", Address: about(e.URL)}
	}
	return atomLink{Relation: "related", Type: "text/html", Title: "what changed",
		Address: "/diff?" + url.Values{"url": {e.URL}, "versions": {e.Versions}}.Encode()}
}

// mostTitle is how many characters of a page's title are shown.
const mostTitle = 200

func line(text string) string { return report.OneLine(text, mostTitle) }
