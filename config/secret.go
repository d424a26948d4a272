package config

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Secrets do not belong into the file. In the value of store, ${file:/path} stands for the content of a file and
// ${credential:name} for one that systemd provides (LoadCredential=, below $CREDENTIALS_DIRECTORY). Either may stand for
// the whole URL, or within it for a password, which is then escaped as a URL needs it. A line end at the end of the
// content does not count. A password that is written in the file all the same makes Load refuse the file unless its
// owner alone can read it; so does a secret file, except systemd's own, whose access lists look like group rights.

// credentials names the environment variable that systemd sets.
const credentials = "CREDENTIALS_DIRECTORY"

const maxSecretBytes = 64 << 10

// store is Config.Store as a value.
type store struct{ at *string }

func (s store) read(r *reader, n ast.Node) {
	text, ok := r.scalar(n)
	if !ok {
		return
	}
	bare, _ := expand(text, func(string) (string, error) { return "", nil })
	if _, has := maskPassword(bare); has {
		r.inline = n
	}
	full, err := expand(text, readSecret)
	if err == nil {
		err = checkStore(full)
	}
	if err != nil {
		r.fail(n, "%w", err)
		return
	}
	*s.at = full
}

func (s store) check() error { return checkStore(*s.at) }

// String masks the password.
func (s store) String() string {
	text, _ := maskPassword(*s.at)
	return quote(text)
}

// checkStore does not repeat the URL in its errors: it may hold a password.
func checkStore(text string) error {
	if text == "sqlite" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Opaque != "" {
		return errors.New("is neither sqlite nor a URL like postgres://recrawld@localhost/recrawld")
	}
	if strings.Trim(u.Path, "/") == "" && u.Query().Get("dbname") == "" {
		return errors.New("names no database, write one like postgres://recrawld@localhost/recrawld")
	}
	return nil
}

// maskPassword writes *** for each password in a database URL and tells whether there was one.
func maskPassword(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "***", true
	}
	masked := false
	if password, has := u.User.Password(); has && password != "" {
		u.User, masked = url.UserPassword(u.User.Username(), "***"), true
	}
	query := u.Query()
	for _, key := range []string{"password", "sslpassword"} {
		if query.Get(key) != "" {
			query.Set(key, "***")
			u.RawQuery, masked = query.Encode(), true
		}
	}
	if !masked {
		return text, false
	}
	return strings.ReplaceAll(u.String(), "%2A%2A%2A", "***"), true
}

// expand replaces each ${…}. Inside a longer text the secret is escaped for a URL.
func expand(text string, secret func(string) (string, error)) (string, error) {
	var b strings.Builder
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "${")
		b.WriteString(before)
		if !found {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return "", errors.New("has a ${ without a }")
		}
		content, err := secret(name)
		if err != nil {
			return "", err
		}
		if whole := "${" + name + "}"; whole != text {
			content = strings.ReplaceAll(url.QueryEscape(content), "+", "%20")
		}
		b.WriteString(content)
		rest = tail
	}
	return b.String(), nil
}

// checkSecretPlace accepts one ${…} and nothing beside it. It does not repeat what may be the secret itself.
func checkSecretPlace(text string) error {
	inner, opened := strings.CutPrefix(text, "${")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed || strings.ContainsAny(inner, "${}") {
		return errors.New("is not where a secret is, write ${file:/path} or ${credential:name} and nothing beside it")
	}
	return nil
}

// readLine reads a secret of one line from its place, "" where it has none; what says what it is, in its error.
func readLine(place, what string) (string, error) {
	if place == "" {
		return "", nil
	}
	text, err := expand(place, readSecret)
	if err == nil && strings.ContainsAny(text, "\r\n\x00") {
		err = errors.New("has more than one line, " + what + " has one")
	}
	return text, err
}

// ofUnitAlone tells whether a secret is a credential that this process does not have: those are the unit's, and a command beside the
// daemon shall not fail for one.
func ofUnitAlone(text string) bool {
	return strings.HasPrefix(text, "${credential:") && os.Getenv(credentials) == ""
}

// withheld is the error of a secret that this process cannot read, and another one may.
type withheld struct{ error }

// Unwrap returns what it says.
func (w withheld) Unwrap() error { return w.error }

// readSecret reads what stands between the braces.
func readSecret(name string) (string, error) {
	kind, path, _ := strings.Cut(name, ":")
	directory := os.Getenv(credentials)
	switch kind {
	case "file":
		path = strings.Replace(path, "$"+credentials, directory, 1)
	case "credential":
		if directory == "" {
			return "", withheld{errors.New(credentials + " is not set: the unit needs a LoadCredential=" + path)}
		}
		if path != filepath.Base(path) || path == ".." {
			return "", fmt.Errorf("%s is not the name of a credential", shown(path))
		}
		path = filepath.Join(directory, path)
	default:
		return "", fmt.Errorf("${%s} is unknown, write ${file:/path} or ${credential:name}", kind)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("secret file %s is not an absolute path", shown(path))
	}
	path = filepath.Clean(path)
	return readSecretFile(path, directory != "" && strings.HasPrefix(path, directory+"/"))
}

// readSecretFile reads a regular file that its owner alone can read, or any that systemd provides.
func readSecretFile(path string, provided bool) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", withheld{fmt.Errorf("read secret: %w", err)}
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("secret file %s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !provided {
		return "", fmt.Errorf("secret file %s can be read by others (mode %#o): chmod 600 it", path, mode)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", withheld{fmt.Errorf("read secret: %w", err)}
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSecretBytes+1))
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	text := strings.TrimRight(string(content), "\r\n")
	if text == "" || len(content) > maxSecretBytes {
		return "", fmt.Errorf("secret file %s is empty or longer than %s", path, FormatSize(maxSecretBytes))
	}
	return text, nil
}
