package folder

import (
	"slices"
	"strings"

	"recrawld/internal/filename"
)

// endings are the extensions that say a type to a browser that opens a file; the first is given to what has another one.
type endings struct {
	said  []string
	other bool // any other extension will do as well, unless it says a type of its own
}

// byType are the extensions of the types that pages are made of, and of what is often beside them.
var byType = map[string]endings{
	"text/html":                             {said: []string{"html", "htm"}},
	"application/xhtml+xml":                 {said: []string{"xhtml", "xht"}},
	"application/vnd.wap.xhtml+xml":         {said: []string{"xhtml", "xht"}},
	"text/css":                              {said: []string{"css"}},
	"text/javascript":                       {said: []string{"js", "mjs"}},
	"application/javascript":                {said: []string{"js", "mjs"}},
	"application/x-javascript":              {said: []string{"js", "mjs"}},
	"application/ecmascript":                {said: []string{"js", "mjs"}},
	"application/json":                      {said: []string{"json", "map", "webmanifest"}},
	"application/manifest+json":             {said: []string{"webmanifest", "json"}},
	"application/wasm":                      {said: []string{"wasm"}},
	"application/xml":                       {said: []string{"xml", "xsl", "xslt", "rss", "atom", "rdf"}},
	"text/xml":                              {said: []string{"xml", "xsl", "xslt", "rss", "atom", "rdf"}},
	"application/rss+xml":                   {said: []string{"xml", "rss"}},
	"application/atom+xml":                  {said: []string{"xml", "atom"}},
	"application/pdf":                       {said: []string{"pdf"}},
	"application/zip":                       {said: []string{"zip"}, other: true},
	"application/gzip":                      {said: []string{"gz", "tgz"}, other: true},
	"image/png":                             {said: []string{"png", "apng"}},
	"image/apng":                            {said: []string{"png", "apng"}},
	"image/jpeg":                            {said: []string{"jpg", "jpeg", "jpe", "jfif"}},
	"image/jpg":                             {said: []string{"jpg", "jpeg", "jpe", "jfif"}},
	"image/gif":                             {said: []string{"gif"}},
	"image/webp":                            {said: []string{"webp"}},
	"image/avif":                            {said: []string{"avif"}},
	"image/bmp":                             {said: []string{"bmp"}},
	"image/svg+xml":                         {said: []string{"svg"}},
	"image/x-icon":                          {said: []string{"ico", "cur"}},
	"image/vnd.microsoft.icon":              {said: []string{"ico", "cur"}},
	"font/woff":                             {said: []string{"woff"}},
	"font/woff2":                            {said: []string{"woff2"}},
	"font/ttf":                              {said: []string{"ttf"}},
	"font/otf":                              {said: []string{"otf"}},
	"application/font-woff":                 {said: []string{"woff"}},
	"application/font-woff2":                {said: []string{"woff2"}},
	"application/x-font-woff":               {said: []string{"woff"}},
	"application/vnd.ms-fontobject":         {said: []string{"eot"}},
	"video/mp4":                             {said: []string{"mp4", "m4v"}},
	"video/webm":                            {said: []string{"webm"}},
	"video/ogg":                             {said: []string{"ogv", "ogg"}},
	"audio/mpeg":                            {said: []string{"mp3"}},
	"audio/ogg":                             {said: []string{"ogg", "oga", "opus"}},
	"audio/wav":                             {said: []string{"wav"}},
	"audio/mp4":                             {said: []string{"m4a", "mp4"}},
	"text/plain":                            {said: []string{"txt"}, other: true},
	"text/markdown":                         {said: []string{"md"}, other: true},
	"text/csv":                              {said: []string{"csv"}, other: true},
	"text/vtt":                              {said: []string{"vtt"}},
	"application/octet-stream":              {said: []string{"bin"}, other: true},
	"application/vnd.apple.mpegurl":         {said: []string{"m3u8"}},
	"application/x-shockwave-flash":         {said: []string{"swf"}},
	"application/opensearchdescription+xml": {said: []string{"xml"}},
}

// shown are extensions for which a browser reads a file as a page, whatever it was sent as.
var shown = []string{"htm", "html", "mht", "mhtml", "shtml", "svg", "svgz", "xht", "xhtml", "xml", "xsl", "xslt"}

// extensions are those of a media type without parameters, in lower case; "": none was sent.
func extensions(mediaType string) endings {
	if known, ok := byType[mediaType]; ok {
		return known
	}
	switch {
	case mediaType == "":
		return endings{said: append([]string{"html"}, shown...), other: true} // the browser has sniffed, too
	case strings.HasSuffix(mediaType, "+json"):
		return endings{said: []string{"json"}, other: true}
	case strings.HasSuffix(mediaType, "+xml"):
		return endings{said: []string{"xml"}}
	case strings.HasPrefix(mediaType, "text/"):
		return endings{said: []string{"txt"}, other: true}
	}
	return endings{said: []string{"bin"}, other: true}
}

// has tells whether an extension in lower case will do.
func (e endings) has(extension string) bool {
	return slices.Contains(e.said, extension) || e.other && !slices.Contains(shown, extension) && filename.IsExtension(extension)
}

// first is the extension for what has none that will do.
func (e endings) first() string { return e.said[0] }
