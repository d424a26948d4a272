// Package systemd holds the units, and this test of them.
package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var units = []string{"recrawld.service", "recrawld@.service"}

// commands are what the units start.
var commands = map[string]string{"recrawld.service": "run", "recrawld@.service": "worker %i"}

// analyze runs systemd-analyze, or skips the test where there is none.
func analyze(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skipf("no systemd-analyze here: %v", err)
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// An exposure of at most 1.5 of 10; a unit that only names a user has 9.2.
func TestUnitsAreHardened(t *testing.T) {
	t.Parallel()
	for _, unit := range units {
		analyze(t, "security", "--offline=true", "--threshold=15", unit)
	}
}

// systemd ignores a line that it does not understand, and says so on standard error alone.
func TestUnitsAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "ExecStart=/usr/bin/recrawld "+commands[unit]) {
			t.Fatalf("%s does not start recrawld", unit)
		}
		copied := filepath.Join(t.TempDir(), unit)
		installed := strings.Replace(string(text), "/usr/bin/recrawld", "/bin/true", 1)
		if err := os.WriteFile(copied, []byte(installed), 0o600); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(analyze(t, "verify", "--man=no", copied)) {
			if strings.Contains(line, strings.TrimSuffix(unit, ".service")) {
				t.Errorf("systemd-analyze verify: %s", line)
			}
		}
	}
}

// What does not get better by itself is not tried again every two seconds for ever; and what may, such as a database that is away, is.
func TestUnitsGoByTheExitCode(t *testing.T) {
	t.Parallel()
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"Restart=on-failure", "RestartSec=2s", "RestartPreventExitStatus=2 4 7"} {
			if !strings.Contains(string(text), "\n"+line+"\n") {
				t.Errorf("%s has no %s", unit, line)
			}
		}
	}
}

// A service that does not start must not leave the package half installed.
func TestThePackageIsInstalledWhereTheServiceDoesNotStart(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"configure"}, {"configure", "0.1.0"}} {
		out, err := postinst(t, `case $1 in daemon-reload) ;; list-units) echo recrawld.service loaded active running it;; *) exit 1;; esac`, args...)
		if err != nil || !strings.Contains(out, "journalctl") {
			t.Errorf("postinst %s where the service does not start: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// The first worker of a release brings the tables up to date, which those of the release before cannot read: they end before it begins, each of
// them. One that waits to be started again, as after it was refused, counts as running. Those that did not run are not started.
func TestAnUpgradeStopsAllWorkersBeforeItStartsOne(t *testing.T) {
	t.Parallel()
	for running, want := range map[string]string{
		"recrawld@1.service loaded active running one\nrecrawld@2.service loaded activating start two\n": "stop recrawld@1.service recrawld@2.service\n" +
			"start recrawld@1.service recrawld@2.service\n",
		"": "",
	} {
		out, err := postinst(t, `case $1 in daemon-reload) ;; list-units) case "$*" in *activating*) printf '`+running+`';; esac;; *) echo "$@";; esac`, "configure", "0.1.0")
		if err != nil || out != want {
			t.Errorf("postinst of an upgrade beside %q: %v, asked systemd for\n%swant\n%s", running, err, out, want)
		}
	}
}

// Of workers that are stopped one may not end as it should: the others are started all the same, and wait for it.
func TestAnUpgradeStartsWhatItStopped(t *testing.T) {
	t.Parallel()
	out, err := postinst(t, `case $1 in daemon-reload) ;; list-units) printf 'recrawld@1.service x\nrecrawld@2.service x\n';; stop) exit 1;; *) echo "$@";; esac`,
		"configure", "0.1.0")
	if want := "start recrawld@1.service recrawld@2.service\n"; err != nil || out != want {
		t.Errorf("postinst of an upgrade where a worker does not stop: %v, asked systemd for\n%swant\n%s", err, out, want)
	}
}

// postinst runs the package's script with what systemctl does.
func postinst(t *testing.T, systemctl string, args ...string) (out string, err error) {
	t.Helper()
	script, err := os.ReadFile("../packaging/debian/postinst")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for name, does := range map[string]string{"systemctl": systemctl, "systemd-sysusers": "true", "install": "true"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+does+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "sh", append([]string{"-c", strings.ReplaceAll(string(script), "/run/systemd/system", bin), "postinst"},
		args...)...)
	install.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	said, err := install.CombinedOutput()
	return string(said), err
}
