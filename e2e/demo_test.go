package e2e

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestEndToEndDemo runs the demo as a person would and reads its summary. Interrupted when it has been at work for a while, it ends as well.
func TestEndToEndDemo(t *testing.T) {
	longTest(t)
	for name, length := range map[string]string{"for 20 s": "20s", "interrupted": "10m"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			demo := exec.CommandContext(t.Context(), program(t), "demo", "--for", length, "--data", filepath.Join(t.TempDir(), "demo"))
			said, says := io.Pipe()
			demo.Stdout, demo.Stderr = says, says
			if err := demo.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				ended <- demo.Wait()
				says.Close()
			}()
			var out strings.Builder
			interrupt := length == "10m"
			for lines := bufio.NewScanner(said); lines.Scan(); {
				out.WriteString(lines.Text() + "\n")
				if interrupt && atWork.MatchString(lines.Text()) {
					interrupt = false // once: whoever does it twice does not want to wait
					if err := demo.Process.Signal(syscall.SIGINT); err != nil {
						t.Error(err)
					}
				}
			}
			if err := <-ended; err != nil {
				t.Fatalf("the demo ended with %v\n%s", err, out.String())
			}
			checkSummary(t, out.String())
		})
	}
}

// atWork is what the demo says of itself every few seconds.
var atWork = regexp.MustCompile(`^day \d+: [0-9,]{3,} visits`)

func checkSummary(t *testing.T, out string) {
	t.Helper()
	for _, want := range []string{`visits +[0-9,]{3,} to \d\d pages on 5 hosts`, `noise +[0-9,]+ found of [0-9,]+ times`,
		`a visit every +docs .*about`, `all [0-9,]{3,} gaps kept the host's delay.*; 1 request at a time`,
		`nothing was asked that it forbids`, `report change-rates`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the summary does not say %q:\n%s", want, out)
		}
	}
	for what, least := range map[string]int{ // beside much other work they were 67 %, 95 %, 38 % and 64
		`answered 304 +(\d+) % of all`: 50, `(\d+) % of repeated visits to pages that can be asked conditionally`: 85,
		`changes +[0-9,]+ found of [0-9,]+ that the site made \((\d+) %\)`: 15, `mirror +(\d+) of \d+ pages equal`: 40,
	} {
		said := regexp.MustCompile(what).FindStringSubmatch(out)
		if said == nil {
			t.Errorf("the summary does not say %q:\n%s", what, out)
		} else if n, err := strconv.Atoi(said[1]); err != nil || n < least {
			t.Errorf("the summary says %q, want %d at least (%v)", said[0], least, err)
		}
	}
	mirror := regexp.MustCompile(`mirror +(\d+) of (\d+) pages equal`).FindStringSubmatch(out)
	if mirror == nil || mirror[1] != mirror[2] {
		t.Errorf("the mirror is not what the site served: %v\n%s", mirror, out)
	}
}
