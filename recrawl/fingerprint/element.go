package fingerprint

// element is what matters of an element to its text.
type element uint8

const (
	block       element = 1 << iota // its edges end a line
	void                            // has no content and no end tag
	optionalEnd                     // its end tag may be left out
	unseen                          // shows nothing of its content as text
	margin                          // stands around the main text
)

// elements are the elements of HTML that are not plain inline ones (HTML Standard, 13.1.2 and 15.3).
var elements = map[string]element{
	"address": block, "article": block, "aside": block | margin, "blockquote": block, "body": block | optionalEnd,
	"button": block, "caption": block | optionalEnd, "center": block, "colgroup": block | optionalEnd,
	"dd": block | optionalEnd, "details": block, "dialog": block, "dir": block, "div": block, "dl": block,
	"dt": block | optionalEnd, "fieldset": block, "figcaption": block, "figure": block, "footer": block | margin, "form": block,
	"frameset": block, "h1": block, "h2": block, "h3": block, "h4": block, "h5": block, "h6": block,
	"head": block | optionalEnd, "header": block | margin, "hgroup": block, "html": block | optionalEnd, "legend": block,
	"li": block | optionalEnd, "listing": block, "main": block, "menu": block, "nav": block | margin, "ol": block,
	"optgroup": block | optionalEnd, "option": block | optionalEnd, "p": block | optionalEnd, "plaintext": block,
	"pre": block, "search": block, "section": block, "select": block, "summary": block, "table": block,
	"tbody": block | optionalEnd, "td": block | optionalEnd, "textarea": block, "tfoot": block | optionalEnd,
	"th": block | optionalEnd, "thead": block | optionalEnd, "title": block, "tr": block | optionalEnd, "ul": block,
	"xmp": block,

	"br": block | void, "hr": block | void,
	"area": void, "base": void, "basefont": void, "bgsound": void, "col": void, "embed": void, "frame": void, "img": void,
	"input": void, "keygen": void, "link": void, "meta": void, "param": void, "source": void, "track": void, "wbr": void,

	"rb": optionalEnd, "rp": optionalEnd, "rt": optionalEnd,

	"datalist": unseen, "iframe": unseen, "noembed": unseen, "noframes": unseen, "noscript": unseen, "script": unseen,
	"style": unseen, "template": unseen,
}
