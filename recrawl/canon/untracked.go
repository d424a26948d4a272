package canon

import "strings"

// Untracked is a URL without the parameters by which campaigns count who came which way (utm_source=rss): scripts read them, and the page is the
// same without. Feeds and links to share a page have them, so that each page would be known once more.
func (u URL) Untracked() URL {
	query := u.Query()
	if query == "" {
		return u
	}
	kept := make([]string, 0, 8)
	dropped := false
	for param := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(param, "=")
		if IsTracking(name) {
			dropped = true
		} else {
			kept = append(kept, param)
		}
	}
	if !dropped {
		return u
	}
	text := u.s[:u.query]
	if len(kept) > 0 {
		text += "?" + strings.Join(kept, "&")
	}
	if bare, err := Parse(text); err == nil {
		return bare
	}
	return u
}

// maxTracking is the length of the longest name in tracking, with room for what begins with utm_.
const maxTracking = 32

// IsTracking tells the names of parameters that campaigns add to links. Those of sessions are none: without one a server may answer otherwise.
func IsTracking(name string) bool {
	if len(name) > maxTracking || len(name) < len("epik") {
		return false
	}
	name = strings.ToLower(name)
	return tracking[name] || strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "mtm_")
}

var tracking = map[string]bool{
	"gclid": true, "gclsrc": true, "dclid": true, "gbraid": true, "wbraid": true, "srsltid": true, "fbclid": true, "msclkid": true, "yclid": true,
	"ysclid": true, "twclid": true, "ttclid": true, "igshid": true, "li_fat_id": true, "epik": true, "rdt_cid": true, "mc_cid": true, "mc_eid": true,
	"mkt_tok": true, "_hsenc": true, "_hsmi": true, "__hstc": true, "__hssc": true, "__hsfp": true, "hsctatracking": true, "vero_id": true,
	"vero_conv": true, "oly_anon_id": true, "oly_enc_id": true, "wickedid": true, "pk_campaign": true, "pk_kwd": true, "pk_source": true,
	"pk_medium": true, "pk_content": true, "pk_cid": true,
}
