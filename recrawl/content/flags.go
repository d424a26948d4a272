package content

import "strings"

// flagsOfTag are the regions that elements name.
var flagsOfTag = map[string]Flags{
	"nav": InNav, "header": InHeader, "footer": InFooter, "aside": InAside, "main": InMain, "article": InArticle,
	"dialog": InDialog, "menu": InMenu, "button": InButton, "select": InButton, "option": InButton, "textarea": InButton,
}

// flagsOfRole are the regions that ARIA roles name (WAI-ARIA 1.2, 5.3.4 and 5.3.5).
var flagsOfRole = map[string]Flags{
	"navigation": InNav, "banner": InHeader, "contentinfo": InFooter, "complementary": InAside, "main": InMain,
	"article": InArticle, "dialog": InDialog, "alertdialog": InDialog, "menu": InMenu, "menubar": InNav, "menuitem": InMenu,
	"button": InButton, "search": InNav, "tooltip": InDialog,
}

// flagsOfWord are the regions that words in classes and ids name. Words that also name content (header, content, cookie,
// toc) are not here.
var flagsOfWord = map[string]Flags{
	"nav": InNav, "navbar": InNav, "navigation": InNav, "topnav": InNav, "subnav": InNav, "sidenav": InNav,
	"breadcrumb": InNav, "breadcrumbs": InNav, "pagination": InNav, "footer": InFooter, "sidebar": InAside,
	"menu": InMenu, "submenu": InMenu, "dropdown": InMenu, "modal": InDialog, "popup": InDialog, "popin": InDialog,
	"lightbox": InDialog, "onetrust": InConsent, "cookiebot": InConsent, "didomi": InConsent, "usercentrics": InConsent,
	"truste": InConsent, "trustarc": InConsent, "tarteaucitron": InConsent, "axeptio": InConsent, "cookiebanner": InConsent,
	"cookieconsent": InConsent, "iubenda-cs": InConsent, "hs-eu-cookie": InConsent,
}

// consentPairs are the words that make a consent dialog where they stand side by side.
var consentPairs = map[string]bool{"banner": true, "consent": true, "notice": true, "popup": true, "bar": true,
	"dialog": true, "modal": true, "wall": true, "law": true, "overlay": true, "message": true}

// regionOf reads the words of a class or an id.
func regionOf(value string) Flags {
	var flags Flags
	previous := ""
	for word := range words(value) {
		flags |= flagsOfWord[word]
		if (previous == "cookie" || previous == "cookies" || previous == "gdpr" || previous == "consent" ||
			previous == "privacy") && consentPairs[word] {
			flags |= InConsent
		}
		previous = word
	}
	return flags
}

// words cuts a class or id into its words: at what is no letter and before capitals.
func words(value string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(value); i++ {
			letter := i < len(value) && (value[i]|0x20 >= 'a' && value[i]|0x20 <= 'z')
			capital := letter && value[i] < 'a' && i > 0 && value[i-1] >= 'a' && value[i-1] <= 'z'
			if letter && !capital {
				continue
			}
			if i > start && !yield(strings.ToLower(value[start:i])) {
				return
			}
			start = i
			if !letter {
				start++
			}
		}
	}
}
