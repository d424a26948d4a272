package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set when a release is built (-ldflags "-X main.version=…").
var version string

const platform = runtime.GOOS + "/" + runtime.GOARCH

// versionLine is what --version says.
func versionLine() string {
	return fmt.Sprintf("recrawld %s (%s %s)", versionText(), runtime.Version(), platform)
}

// versionCmd prints the version.
type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(g *globals) error {
	return g.answer(struct {
		Version  string `json:"version"`
		Go       string `json:"go"`       // that it was built with
		Platform string `json:"platform"` // "linux/amd64"
	}{versionText(), runtime.Version(), platform}, versionLine())
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
