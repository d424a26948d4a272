package folder

// use is what an attribute is for.
type use int

const (
	unused  use = iota
	link        // a reference that a reader follows
	need        // a reference to what the page needs to be shown
	online      // a reference to what is not in any folder: where a form goes, the canonical URL
	lazy        // a reference that a script of the page looks at: replaced where it leads into the folder alone
	sources     // a srcset
	lazily      // a srcset that a script looks at
	styled      // CSS
	painted     // CSS, where it has a url
	inner       // a page of its own
	told        // it says something of the element
)

// uses are what attributes are for on any element that is not named in usesOn.
var uses = map[string]use{
	"href": link, "xlink:href": link, "cite": link, "longdesc": link, "src": need, "poster": need, "background": need, "style": styled,
	"action": online, "formaction": online, "srcset": sources, "imagesrcset": sources, "srcdoc": inner,
	"data-src": lazy, "data-original": lazy, "data-lazy-src": lazy, "data-srcset": lazily, "data-lazy-srcset": lazily,
	"rel": told, "http-equiv": told, "charset": told,
	"fill": painted, "stroke": painted, "filter": painted, "mask": painted, "clip-path": painted, "cursor": painted, "marker": painted,
	"marker-start": painted, "marker-mid": painted, "marker-end": painted,
}

// usesOn are what attributes are for on some elements.
var usesOn = map[string]map[string]use{
	"object":   {"data": need},
	"iframe":   {"src": link},
	"frame":    {"src": link},
	"image":    {"href": need, "xlink:href": need},
	"use":      {"href": need, "xlink:href": need},
	"feimage":  {"href": need, "xlink:href": need},
	"script":   {"href": need, "xlink:href": need},
	"pattern":  {"href": need, "xlink:href": need},
	"meta":     {"content": told},
	"base":     {"href": told},
	"filter":   {"href": need, "xlink:href": need},
	"textpath": {"href": need, "xlink:href": need},
}

func useOf(element, name string) use {
	if u, ok := usesOn[element][name]; ok {
		return u
	}
	return uses[name]
}

// barred are the attributes that forbid to load from a file what is in the folder: a hash of what is rewritten now, and a request that
// asks a server whether it may.
var barred = map[string]bool{"integrity": true, "crossorigin": true}
