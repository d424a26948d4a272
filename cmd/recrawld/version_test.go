package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionOfABuild(t *testing.T) {
	t.Parallel()
	revision := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "26d891b0123456789"}}
	for _, test := range []struct {
		release string
		build   *debug.BuildInfo
		want    string
	}{
		{"1.2.3", &debug.BuildInfo{Main: debug.Module{Version: "v9"}}, "1.2.3"},
		{"", nil, "devel"},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "v0.4.0"}}, "v0.4.0"},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel"},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: revision}, "devel-26d891b01234"},
		{"", &debug.BuildInfo{Settings: revision}, "devel-26d891b01234"},
	} {
		if got := versionOf(test.release, test.build); got != test.want {
			t.Errorf("versionOf(%q, %v) = %q, want %q", test.release, test.build, got, test.want)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	want := must(t, "version")
	for _, args := range [][]string{{"--version"}, {"version"}} {
		if code, got, stderr := command(t, args...); code != exitDone || got != want || stderr != "" {
			t.Errorf("recrawld %s: exit code %d, %q, %q; want %q", strings.Join(args, " "), code, got, stderr, want)
		}
	}
}
