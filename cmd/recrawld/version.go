package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set when a release is built (-ldflags "-X main.version=…").
var version string

const platform = runtime.GOOS + "/" + runtime.GOARCH

// versionCmd prints the version.
type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(g *globals) error {
	return g.answer(struct {
		Version  string `json:"version"`
		Go       string `json:"go"`       // that it was built with
		Platform string `json:"platform"` // "linux/amd64"
	}{versionText(), runtime.Version(), platform}, fmt.Sprintf("recrawld %s (%s %s)", versionText(), runtime.Version(), platform))
}

// versionText is the release; for a build from a checkout the module's version, or else "devel" with the revision, as far as the build
// knows either. It stands in the User-Agent, where brackets begin a comment.
func versionText() string {
	build, _ := debug.ReadBuildInfo()
	return versionOf(version, build)
}

func versionOf(release string, build *debug.BuildInfo) string {
	switch {
	case release != "":
		return release
	case build == nil:
		return "devel"
	case build.Main.Version != "" && build.Main.Version != "(devel)":
		return build.Main.Version
	}
	text := "devel"
	for _, s := range build.Settings {
		if s.Key == "vcs.revision" {
			text += "-" + s.Value[:min(len(s.Value), 12)]
		}
	}
	return text
}
