package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set when a release is built (-ldflags "-X main.version=…").
var version string

// versionCmd prints the version.
type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(g *globals) error {
	fmt.Fprintf(g.Stdout, "recrawld %s (%s %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// versionText is the release, or for a build from a checkout the module's version.
func versionText() string {
	if version != "" {
		return version
	}
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "devel"
}
