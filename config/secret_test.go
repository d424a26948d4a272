package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canary must never be seen.
const canary = "c4n/ary&?"

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSecretFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	password := write(t, filepath.Join(dir, "password"), canary+"\n", 0o400)
	whole := write(t, filepath.Join(dir, "url"), "postgres://me:whole@h/db\r\n", 0o600)
	open := write(t, filepath.Join(dir, "open"), canary, 0o640)
	empty := write(t, filepath.Join(dir, "empty"), "\n", 0o600)
	tests := []struct{ store, want, wantErr string }{
		{"postgres://me:${file:" + password + "}@h/db", "postgres://me:c4n%2Fary%26%3F@h/db", ""},
		{"${file:" + whole + "}", "postgres://me:whole@h/db", ""},
		{"postgres://me:${file:" + open + "}@h/db", "", "can be read by others (mode 0640)"},
		{"postgres://me:${file:" + empty + "}@h/db", "", "is empty"},
		{"postgres://me:${file:" + dir + "}@h/db", "", "not a regular file"},
		{"${file:" + password + "}", "", "is neither sqlite nor"},
		{"postgres://me:${credential:x}@h/db", "", "CREDENTIALS_DIRECTORY is not set"},
	}
	for _, test := range tests {
		c, o, err := Parse("recrawld.yaml", []byte("store: "+test.store))
		switch {
		case test.wantErr != "":
			if err == nil || !strings.Contains(err.Error(), test.wantErr) || strings.Contains(err.Error(), "c4n") {
				t.Errorf("store: %s gives %v, want an error with %q", test.store, err, test.wantErr)
			}
		case err != nil || c.Store != test.want:
			t.Errorf("store: %s = %q, %v, want %q", test.store, c.Store, err, test.want)
		default:
			for _, v := range c.Values(o) {
				if strings.Contains(v.Value, "c4n") || strings.Contains(v.Value, "whole") {
					t.Errorf("Values shows the password: %s", v.Value)
				}
			}
		}
	}
}

func TestCredential(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	write(t, filepath.Join(dir, "pg"), canary, 0o440)
	for _, store := range []string{"postgres://me:${credential:pg}@h/db", "postgres://me:${file:$CREDENTIALS_DIRECTORY/pg}@h/db"} {
		c, _, err := Parse("recrawld.yaml", []byte("store: "+store))
		if want := "postgres://me:c4n%2Fary%26%3F@h/db"; err != nil || c.Store != want {
			t.Errorf("store: %s = %q, %v, want %q", store, c.Store, err, want)
		}
	}
	for _, store := range []string{"${credential:../pg}", "${credential:..}", "${credential:none}", "${credential:}", "${file:$CREDENTIALS_DIRECTORY/../pg}"} {
		if c, _, err := Parse("recrawld.yaml", []byte("store: postgres://me:"+store+"@h/db")); err == nil {
			t.Errorf("store: %s = %q, want an error", store, c.Store)
		}
	}
}

// A password in the file itself is taken only where its owner alone can read it.
func TestInlinePassword(t *testing.T) {
	t.Parallel()
	tests := []struct {
		store string
		mode  os.FileMode
		good  bool
	}{
		{"postgres://me:secret@h/db", 0o600, true},
		{"postgres://me:secret@h/db", 0o640, false},
		{"postgres://me:secret@h/db", 0o604, false},
		{"postgres://h/db?user=me&password=secret", 0o644, false},
		{"postgres://me@h/db", 0o644, true},
		{"sqlite", 0o644, true},
	}
	for _, test := range tests {
		path := write(t, filepath.Join(t.TempDir(), "recrawld.yaml"), "agent: {name: Bot}\nstore: "+test.store+"\n", test.mode)
		c, err := Load(path)
		if test.good && (err != nil || c.Store != test.store) {
			t.Errorf("%s in a file of mode %o: %q, %v", test.store, test.mode, c.Store, err)
		}
		if test.good {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+":2: store: has a password") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s in a file of mode %o: %v, want it refused", test.store, test.mode, err)
		}
	}
}

func TestMaskPassword(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sqlite":                                      "sqlite",
		"postgres://me@h/db":                          "postgres://me@h/db",
		"postgres://me:pw@h/db?sslmode=off":           "postgres://me:***@h/db?sslmode=off",
		"postgres://h/db?password=pw&user=me":         "postgres://h/db?password=***&user=me",
		"postgres://h/db?sslpassword=pw":              "postgres://h/db?sslpassword=***",
		"postgres://me:%zz@h/db":                      "***",
		"postgres://me:p%40w@h/db?application_name=x": "postgres://me:***@h/db?application_name=x",
	} {
		if got, _ := maskPassword(text); got != want {
			t.Errorf("maskPassword(%q) = %q, want %q", text, got, want)
		}
	}
}
