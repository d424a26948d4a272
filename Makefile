# make test is everything a release needs, on a machine that has Go and (for the rest) apt. The stages run one after
# the other; the first that fails ends it.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c

VERSION     ?= 0.1.0
STATICCHECK := v0.8.2
TOOLS       := $(CURDIR)/.tools
DIST        := $(CURDIR)/dist

# How long the short runs take: seconds a fuzz target, kills of the daemon.
FUZZ  ?= 8000x
KILLS ?= 10

# What is tested is compiled as what is released, so that all is compiled once: without cgo, and without the paths of this
# machine. Only the race detector needs cgo. A checkout without git, or owned by somebody else, needs no stamp.
export CGO_ENABLED := 0
export GOFLAGS     ?= -buildvcs=false -trimpath

STAGES := deps format vet survives shows deb

.PHONY: test $(STAGES) staticcheck race kill e2e fuzz arch build elsewhere release fmt torture bench microbench bench-freshness clean

test:
	@began=$$SECONDS; \
	for stage in $(STAGES); do \
		start=$$SECONDS; \
		printf '\n== %s\n' "$$stage"; \
		$(MAKE) --no-print-directory "$$stage" || { printf '\n== %s FAILED after %d s\n' "$$stage" $$((SECONDS - start)); exit 1; }; \
		printf -- '-- %s took %d s\n' "$$stage" $$((SECONDS - start)); \
	done; \
	printf '\n== all passed in %d s\n' $$((SECONDS - began))

# deps installs the Debian packages that the tests and the package need.
deps:
	@.ci/deps

# format, vet, staticcheck and arch look at the source alone; arch, a part of unit, holds the import arrows and the
# forbidden calls.
format:
	@unformatted=$$(gofmt -l .); \
	if [ -n "$$unformatted" ]; then printf 'not formatted (make fmt):\n%s\n' "$$unformatted"; exit 1; fi

vet:
	go vet ./...

$(TOOLS)/staticcheck-$(STATICCHECK):
	GOBIN=$(TOOLS) CGO_ENABLED=0 go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK)
	mv $(TOOLS)/staticcheck $@

staticcheck: $(TOOLS)/staticcheck-$(STATICCHECK)
	$< ./...

arch:
	go test -count=1 ./internal/arch

# The tests of RACED, where something runs beside something else, run under the race detector, all others without it; a test of
# internal/arch holds that no package is forgotten here. What only computes is left out or shortened with -short, and runs in
# full where the others do. Of the stores, the tests of simultaneous use run a second time under the detector. Vet is off because
# all of it ran as a stage of its own.
RACED := archive clock cmd/recrawld internal/bench internal/freshbench internal/hostile internal/origin internal/pgtest internal/prefilled internal/sitefarm \
	internal/smtptest recrawl recrawl/resolve scheduler simulate sink web
raced := $(addprefix ./,$(RACED))
empty :=
space := $(empty) $(empty)

# unit runs all that race does not, on SQLite and a real PostgreSQL.
unit:
	RECRAWLD_REQUIRE_POSTGRES=1 go test -vet=off -timeout 10m $$(go list ./... | grep -vxE 'recrawld/(e2e|$(subst $(space),|,$(strip $(RACED))))')
	RECRAWLD_REQUIRE_POSTGRES=1 go test -vet=off -timeout 10m $$(.ci/shortened $(raced))

# SQLite itself, Go made of C that keeps its data outside Go's memory, is compiled as it always is: looked at access by access
# it is ten times as slow and has nothing to show. What calls it is looked at.
# The command line is read by the one goroutine that begins the program, and with it go a third of the accesses of many a test.
UNTOUCHED := -gcflags='modernc.org/...=-race=false -d=checkptr=0' \
	-gcflags='regexp/...=-race=false' -gcflags='github.com/alecthomas/kong/...=-race=false'

# Each program that is looked at would wait for a second at its end.
race: export CGO_ENABLED = 1
race: export GORACE = atexit_sleep_ms=0
race:
	RECRAWLD_REQUIRE_POSTGRES=1 go test -race $(UNTOUCHED) -vet=off -short -timeout 10m $(raced)
	RECRAWLD_REQUIRE_POSTGRES=1 go test -race $(UNTOUCHED) -vet=off -timeout 10m -run \
		'^Test(Memory|SQLite|Postgres)$$/(side_by_side|many_at_a_time|never_share)|AtOnce|OfOneMoment|TwoProcesses|MetOthers' \
		./models ./scheduler/storetest

# e2e runs the built daemon as processes of its own: the whole history of real pages on both databases, bad input, a
# full disk.
e2e:
	RECRAWLD_REQUIRE_POSTGRES=1 go test -count=1 -vet=off -timeout 15m -run '^TestEndToEnd' ./e2e

# Two stages run what waits much, and what only computes beside it.
survives:
	@.ci/beside kill race

shows:
	@.ci/beside e2e unit staticcheck fuzz

# fuzz gives every fuzz target some thousand inputs, a few seconds; `make fuzz FUZZ=5000000x` gives each more.
fuzz:
	@.ci/fuzz $(FUZZ)

# kill ends the daemon by SIGKILL a few times while it works, and looks at what is left; torture does it 1000 times.
kill:
	RECRAWLD_REQUIRE_POSTGRES=1 RECRAWLD_KILLS=$(KILLS) go test -count=1 -vet=off -timeout 10m -run '^TestTorture' ./e2e

torture:
	RECRAWLD_REQUIRE_POSTGRES=1 RECRAWLD_KILLS=1000 go test -count=1 -timeout 12h -v -run '^TestTorture' ./e2e

# bench-freshness prints every figure that the adaptive policy shall reach, beside the policies it is compared with. It
# takes its histories, and an independent judge, from the folder of shared test data. FRESHBENCH=-leave-out scores each
# history with weights fitted on the others as well, FRESHBENCH="-short -small" takes the smallest history and worlds.
SHARED ?= $(or $(RECRAWLD_SHARED),../shared)

bench-freshness:
	go run ./internal/freshbench -traces $(SHARED)/traces -judge $(SHARED)/freshjudge $(FRESHBENCH)

# bench measures refreshes and first crawls beside wget2 and colly in alternating rounds, on SQLite and a PostgreSQL of its
# own, and writes dist/bench.json and the tables of BENCHMARKS.md. It wants a machine that does nothing else, and takes some
# ten minutes; BENCH='-large 10000000' adds stores of up to ten million URLs and takes hours. microbench runs the
# benchmarks of the packages.
BENCH ?=

bench: build
	@.ci/bench-deps
	go run ./internal/bench -recrawld $(DIST)/recrawld -out $(DIST)/bench.json -report BENCHMARKS.md $(BENCH)

microbench:
	go test -run '^$$' -bench . -benchmem ./...

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(DIST)/recrawld ./cmd/recrawld

# elsewhere compiles the daemon for systems that it runs on without systemd.
elsewhere:
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/recrawld
	GOOS=freebsd go build -o /dev/null ./cmd/recrawld

# deb builds the Debian package, and a tarball of its files, and, as root, tries what is in it.
deb: build
	@packaging/build $(DIST)/recrawld $(VERSION) $(DIST)
	@arch=$$(dpkg --print-architecture) && packaging/try $(DIST)/recrawld_$(VERSION)_$$arch.deb $(DIST)/recrawld_$(VERSION)_linux_$$arch.tar.gz

# release builds what users of Linux on Intel, AMD and ARM processors install: packages, tarballs and their checksums.
RELEASED := amd64 arm64

release: build
	@for arch in $(RELEASED); do \
		CGO_ENABLED=0 GOARCH=$$arch go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(DIST)/$$arch/recrawld ./cmd/recrawld; \
		packaging/build $(DIST)/$$arch/recrawld $(VERSION) $(DIST) $$arch $(DIST)/recrawld; \
	done
	@cd $(DIST) && sha256sum recrawld_$(VERSION)_*.deb recrawld_$(VERSION)_*.tar.gz >recrawld_$(VERSION)_SHA256SUMS && cat recrawld_$(VERSION)_SHA256SUMS

fmt:
	gofmt -w .

clean:
	rm -rf $(DIST) $(TOOLS)
