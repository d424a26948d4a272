package canon

import "strings"

// Untracked is a URL without the parameters by which campaigns count who came which way (utm_source=rss): scripts read them, and the page is the
// same without. Feeds and links to share a page have them, so that each page would be known once more. All else but sessions (Sessionless) is
// kept byte for byte, and all of a URL that is signed.
func (u URL) Untracked() URL {
	u = u.Sessionless("")
	query := u.Query()
	if query == "" || !hasCampaign(query) {
		return u
	}
	kept := make([]string, 0, 8)
	for param := range strings.SplitSeq(query, "&") {
		switch {
		case isCampaign(param):
		case isSignature(param):
			return u
		default:
			kept = append(kept, param)
		}
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

// hasCampaign tells whether a query has a parameter of a campaign.
func hasCampaign(query string) bool {
	for param := range strings.SplitSeq(query, "&") {
		if isCampaign(param) {
			return true
		}
	}
	return false
}

// isCampaign tells a parameter of a campaign. Where semicolons part parameters, others are within it.
func isCampaign(param string) bool {
	name, _, _ := strings.Cut(param, "=")
	return IsTracking(name) && !strings.Contains(param, ";")
}

// isSignature tells a parameter that may hold for the whole URL: without any of the others the server refuses it.
func isSignature(param string) bool {
	name, value, _ := strings.Cut(param, "=")
	name = strings.ToLower(name)
	return signatures[name] || strings.Contains(name, "signature") || len(value) >= leastDigest && strings.Trim(value, "0123456789abcdefABCDEF") == ""
}

var signatures = map[string]bool{"digest": true, "hash": true, "hmac": true, "md5": true, "sig": true, "sign": true, "token": true}

// leastDigest is the length of the shortest digest, MD5, in hexadecimal digits.
const leastDigest = 32

// maxTracking is longer than any name in tracking.
const maxTracking = 32

// IsTracking tells the names of parameters that campaigns add to links. Not all that begins as they do is one: utm_zone is of a place on a map.
func IsTracking(name string) bool {
	return len(name) <= maxTracking && len(name) >= len("epik") && tracking[strings.ToLower(name)]
}

var tracking = map[string]bool{
	"utm_source": true, "utm_medium": true, "utm_campaign": true, "utm_term": true, "utm_content": true, "utm_id": true, "utm_source_platform": true,
	"utm_creative_format": true, "utm_marketing_tactic": true, "utm_name": true, "utm_keyword": true, "utm_referrer": true, "utm_reader": true,
	"utm_social": true, "utm_brand": true, "utm_expid": true, "mtm_campaign": true, "mtm_keyword": true, "mtm_kwd": true, "mtm_source": true,
	"mtm_medium": true, "mtm_content": true, "mtm_cid": true, "mtm_group": true, "mtm_placement": true, "pk_campaign": true, "pk_keyword": true,
	"pk_kwd": true, "pk_source": true, "pk_medium": true, "pk_content": true, "pk_cid": true,
	"gclid": true, "gclsrc": true, "dclid": true, "gbraid": true, "wbraid": true, "srsltid": true, "fbclid": true, "msclkid": true, "yclid": true,
	"ysclid": true, "twclid": true, "ttclid": true, "igshid": true, "li_fat_id": true, "epik": true, "rdt_cid": true, "mc_cid": true, "mc_eid": true,
	"mkt_tok": true, "_hsenc": true, "_hsmi": true, "__hstc": true, "__hssc": true, "__hsfp": true, "hsctatracking": true, "vero_id": true,
	"vero_conv": true, "oly_anon_id": true, "oly_enc_id": true, "wickedid": true,
}
