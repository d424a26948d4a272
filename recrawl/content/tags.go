package content

// tag is what matters of an element to the shape of a page.
type tag uint16

const (
	cuts      tag = 1 << iota // its edges end a block
	void                      // has no content and no end tag
	closesP                   // its start ends an open paragraph
	silent                    // shows nothing of its content
	formatter                 // an inline element, which makes no node of its own
	cell                      // an end tag outside does not reach in
)

// tags are the elements that are not plain ones (HTML Standard, 13.1.2 and 13.2.6.4.7). What is not here, an element of
// the page's own, ends a block: such elements stand for whole parts far more often than for words.
var tags = map[string]tag{
	"a": formatter, "abbr": formatter, "acronym": formatter, "b": formatter, "bdi": formatter, "bdo": formatter,
	"big": formatter, "cite": formatter, "code": formatter, "data": formatter, "del": formatter, "dfn": formatter,
	"em": formatter, "font": formatter, "i": formatter, "ins": formatter, "kbd": formatter, "label": formatter,
	"mark": formatter, "nobr": formatter, "q": formatter, "ruby": formatter, "rb": formatter, "rt": formatter,
	"rp": formatter, "s": formatter, "samp": formatter, "small": formatter, "span": formatter, "strike": formatter,
	"strong": formatter, "sub": formatter, "sup": formatter, "time": formatter, "tt": formatter, "u": formatter,
	"var": formatter, "picture": formatter, "path": formatter, "g": formatter, "use": formatter,

	"area": void, "base": void, "basefont": void, "bgsound": void, "col": void, "embed": void, "frame": void, "img": void,
	"input": void, "keygen": void, "link": void, "meta": void, "param": void, "source": void, "track": void, "wbr": void,
	"br": void | cuts, "hr": void | cuts | closesP,

	"datalist": silent, "iframe": silent, "noembed": silent, "noframes": silent, "noscript": silent, "script": silent,
	"style": silent, "template": silent | cell, "svg": silent, "math": formatter, "object": formatter, "canvas": silent,
	"audio": silent, "video": silent | cuts,

	"address": cuts | closesP, "article": cuts | closesP, "aside": cuts | closesP, "blockquote": cuts | closesP,
	"center": cuts | closesP, "details": cuts | closesP, "dialog": cuts | closesP, "dir": cuts | closesP,
	"div": cuts | closesP, "dl": cuts | closesP, "fieldset": cuts | closesP, "figcaption": cuts | closesP,
	"figure": cuts | closesP, "footer": cuts | closesP, "form": cuts | closesP, "h1": cuts | closesP, "h2": cuts | closesP,
	"h3": cuts | closesP, "h4": cuts | closesP, "h5": cuts | closesP, "h6": cuts | closesP, "header": cuts | closesP,
	"hgroup": cuts | closesP, "li": cuts | closesP, "listing": cuts | closesP, "main": cuts | closesP,
	"menu": cuts | closesP, "nav": cuts | closesP, "ol": cuts | closesP, "p": cuts | closesP, "plaintext": cuts | closesP,
	"pre": cuts | closesP, "search": cuts | closesP, "section": cuts | closesP, "summary": cuts | closesP,
	"ul": cuts | closesP, "xmp": cuts | closesP, "dd": cuts | closesP, "dt": cuts | closesP,

	"table": cuts | closesP | cell, "td": cuts | cell, "th": cuts | cell, "caption": cuts | cell,
}

// tagOf looks an element up.
func tagOf(name []byte) tag {
	if t, ok := tags[string(name)]; ok {
		return t
	}
	return cuts
}

// ends are the elements that a start tag ends, where they are open and have no end tag of their own, and those that
// keep it from looking further.
type ends struct{ these, until map[string]bool }

func set(names ...string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}

// proseTags are the elements of running text.
var proseTags = set("p", "ul", "ol", "li", "dl", "dt", "dd", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")

var (
	rowParts   = set("tr", "td", "th", "caption", "colgroup")
	tableParts = set("tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup")
)

var endedBy = map[string]ends{
	"li":     {set("li"), set("ul", "ol", "menu", "dir")},
	"dt":     {set("dt", "dd"), set("dl")},
	"dd":     {set("dt", "dd"), set("dl")},
	"option": {set("option"), set("select", "datalist", "optgroup")},
	"tr":     {rowParts, set("table", "tbody", "thead", "tfoot")},
	"td":     {set("td", "th"), set("tr", "table")},
	"th":     {set("td", "th"), set("tr", "table")},
	"tbody":  {tableParts, set("table")},
	"thead":  {tableParts, set("table")},
	"tfoot":  {tableParts, set("table")},
	"body":   {set("head"), nil},
}
