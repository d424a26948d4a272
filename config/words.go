package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// checkToken holds the agent's name to the characters of a product token in robots.txt (RFC 9309, section 2.2.1):
// with any other no group could ever name it.
func checkToken(text string) error {
	if text == "" || len(text) > 64 || strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz_-") != "" {
		return fmt.Errorf("%s is not a product token, write 1 to 64 letters, \"-\" or \"_\"", shown(text))
	}
	return nil
}

// checkContact accepts "" too: whether a contact is needed depends on the sites, see CheckContact.
func checkContact(text string) error {
	if text == "" {
		return nil
	}
	if a, err := mail.ParseAddress(text); err == nil && a.Address == text && present(text) == nil {
		return nil
	}
	if address, is := strings.CutPrefix(text, "mailto:"); is {
		return fmt.Errorf("%s is a link to a mail address, write %s", shown(text), shown(address))
	}
	if checkURL(text) != nil {
		return fmt.Errorf("%s is neither a mail address nor an http(s) URL", shown(text))
	}
	return nil
}

// checkScope accepts a prefix of URLs, or "*" for those of all hosts.
func checkScope(text string) error {
	if text == "*" {
		return nil
	}
	return checkURL(text)
}

// checkURL accepts what a page can be visited at. Errors do not repeat the URL where it may hold a password.
func checkURL(text string) error {
	if err := present(text); err != nil {
		return err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.User != nil:
		return errors.New("has a user name in its URL, which is never sent")
	case strings.HasPrefix(text, "/"):
		return fmt.Errorf("%s is not absolute, write it with https:// and the host", shown(text))
	case u.Scheme == "" || u.Opaque != "" && u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s is not absolute, write %s", shown(text), shown("https://"+text))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s is not of scheme http or https", shown(text))
	case u.Hostname() == "":
		return fmt.Errorf("%s has no host", shown(text))
	}
	return nil
}

// mostCallback is how long a callback may be: hubs keep it with 32 characters more behind it.
const mostCallback = 200

// checkCallback accepts an address that only what is right behind it is to be put to. A hub sends a secret there.
func checkCallback(text string) error {
	if text == "off" {
		return nil
	}
	if err := checkURL(text); err != nil {
		return err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > mostCallback:
		return fmt.Errorf("%s is longer than %d characters", shown(text), mostCallback)
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") || !strings.HasSuffix(u.Path, "/"):
		return fmt.Errorf("%s does not end in \"/\", write one like https://crawler.example.net/websub/", shown(text))
	case u.Scheme != "https" && !isLoopback(u.Hostname()):
		return fmt.Errorf("%s is not of scheme https, write https:// and have a proxy there that passes on to listen", shown(text))
	}
	return nil
}

// checkListen keeps the API off the network: it has no password.
func checkListen(text string) error {
	if text == "off" {
		return nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%s is not host:port, write one like 127.0.0.1:8686 or off", shown(text))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s has no valid port", shown(text))
	}
	if !isLoopback(host) {
		return fmt.Errorf("%s is not on loopback, write 127.0.0.1:%s", shown(text), port)
	}
	return nil
}

// isLoopback goes by the name alone, as canon.URL.IsLoopback does: a name that resolves to loopback is not loopback.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// checkName is the rule for names of sites: they stand in tables, file names and command lines.
func checkName(text string) error {
	if err := present(text); err != nil {
		return err
	}
	if len(text) > 100 || strings.ContainsAny(text, " /\\,\"'") || strings.HasPrefix(text, ".") {
		return fmt.Errorf("%s is not a name, write at most 100 letters, digits, \"-\", \"_\", \".\" or \":\"", shown(text))
	}
	return nil
}

// checkWorker is the rule for names of workers: they are a part of the names of segments and locks, so the archive takes no
// others.
func checkWorker(text string) error {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if err := checkName(text); err != nil || strings.Trim(text, safe) != "" {
		return fmt.Errorf("%s is not a worker's name, write at most 100 letters (a to z), digits, \"-\", \"_\" or \".\"", shown(text))
	}
	return nil
}

func prefixes(at *[]netip.Prefix) list[netip.Prefix] {
	return list[netip.Prefix]{at: at, of: scalar[netip.Prefix]{
		parse:  parsePrefix,
		format: netip.Prefix.String,
		bound: func(p netip.Prefix) error {
			if !p.IsValid() {
				return errors.New("is not a prefix")
			}
			return nil
		},
	}}
}

// parsePrefix takes a single address for the prefix of just that address.
func parsePrefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%s is not an address or a prefix, write one like 10.0.0.0/8", shown(text))
	}
	if p != p.Masked() {
		return p, fmt.Errorf("%s has bits beyond its length, write %s", shown(text), p.Masked())
	}
	return p, nil
}

func ports(at *[]uint16) list[uint16] {
	return list[uint16]{at: at, of: scalar[uint16]{
		parse: func(text string) (uint16, error) {
			n, err := strconv.ParseUint(text, 10, 16)
			if err != nil || n == 0 {
				return 0, fmt.Errorf("%s is not a port, write 1 to 65535", shown(text))
			}
			return uint16(n), nil
		},
		format: func(p uint16) string { return strconv.Itoa(int(p)) },
		bound: func(p uint16) error {
			if p == 0 {
				return errors.New("0 is not a port")
			}
			return nil
		},
	}}
}

func windows(at *[]Window) list[Window] {
	return list[Window]{at: at, of: scalar[Window]{parse: ParseWindow, format: Window.String, bound: Window.check}}
}

func fixScheme(text string) (string, error) {
	text = strings.ToLower(text)
	return text, oneOf("http", "https")(text)
}

func fixHost(text string) (string, error) {
	if err := checkHost(text); err != nil {
		return "", err
	}
	return strings.ToLower(text), nil
}

func fixDomain(text string) (string, error) {
	text = strings.TrimPrefix(text, ".")
	if err := checkHost(text); err != nil {
		return "", err
	}
	if (&url.URL{Host: text}).Port() != "" {
		return "", fmt.Errorf("%s has a port, which domains have not", shown(text))
	}
	return strings.ToLower(text), nil
}

func checkHost(text string) error {
	if err := present(text); err != nil {
		return err
	}
	if strings.Contains(text, "*") {
		return fmt.Errorf("%s has a wildcard, write {domain: %s}", shown(text), strings.TrimLeft(text, "*."))
	}
	if u, err := url.Parse("http://" + text); err != nil || u.Host != text || u.Hostname() == "" {
		return fmt.Errorf("%s is not a host name", shown(text))
	}
	return nil
}

func fixPath(text string) (string, error) {
	if err := present(text); err != nil {
		return "", err
	}
	if !strings.HasPrefix(text, "/") {
		return "", fmt.Errorf("%s does not begin with \"/\"", shown(text))
	}
	if strings.ContainsAny(text, "?#") {
		return "", fmt.Errorf("%s is more than a path, write param, glob or regexp", shown(text))
	}
	return text, nil
}

func fixGlob(text string) (string, error) {
	if err := present(text); err != nil {
		return "", err
	}
	_, err := CompileGlob(text)
	return text, err
}

func fixRegexp(text string) (string, error) {
	return text, checkPattern(text)
}

func fixParam(text string) (string, error) {
	return text, present(text)
}

func fixExtension(text string) (string, error) {
	text = strings.ToLower(strings.TrimPrefix(text, "."))
	if strings.ContainsAny(text, "./") {
		return "", fmt.Errorf("%s is more than the part after the last dot", shown(text))
	}
	if text == "" {
		return "", nil
	}
	return text, present(text)
}
