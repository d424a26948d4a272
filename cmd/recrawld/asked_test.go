package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Where nobody can be asked, a command says so before it does anything: add before its first request, restore before it makes a directory.
func TestNobodyIsThereIsSaidFirst(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(server.Close)
	data := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{{"add", server.URL}, {"restore", checkpoint(t)}} {
		code, stdout, stderr := command(t, append(args, "--data", data)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "give --yes") {
			t.Errorf("%s: exit code %d, said %q and %q; want %d and --yes", args[0], code, stdout, stderr, exitUsage)
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%s made %s before it said so", args[0], data)
		}
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("add made %d requests before it said so", n)
	}
}
