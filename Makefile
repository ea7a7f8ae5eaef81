# make test needs Go, git and make. make verify is everything that a change must pass; make tools brings what it needs beyond that.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules --no-print-directory

# Upstream itself lives in a module of its own; it reaches the unexported matcher by go:linkname.
UPSTREAM := conformance/upstream
# OPA and conftest, built from their modules, meet our bundles in another one.
INTEROP := conformance/interop
# JobSet, Kueue and CronJobs meet our controller in another one. The controllers are built from a module of their own below it.
ECOSYSTEM := conformance/ecosystem
# The modules beside the main one whose code is formatted and linted as its own.
MODULES := $(UPSTREAM) $(INTEROP) $(ECOSYSTEM) charts fleet tools
LINT := go tool -modfile=$(CURDIR)/tools/go.mod golangci-lint

N ?= 1000000
SEED ?= 1
LEAST ?= 0
GENERIC ?=
KUBERNETES ?=
FUZZTIME ?= 30s
BENCH ?= Match
BENCHTIME ?= 0.3s
BENCHCOUNT ?= 6

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build bin/podverdict and bin/podverdict-controller
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/ ./cmd/podverdict ./cmd/podverdict-controller

# BROTLI is how hard the engines are compressed: 11 makes them an eighth smaller than 9, and takes minutes.
BROTLI ?= 9

# Without inlined functions, the engines are a sixth smaller.
ENGINE := GOOS=js GOARCH=wasm go build -trimpath -ldflags='-s -w' -gcflags=all=-l

.PHONY: playground
playground: ## build the page that runs podverdict in a browser into playground/dist
	rm -rf playground/dist
	$(ENGINE) -o playground/dist/engine.wasm ./cmd/podverdict/page
	$(ENGINE) -o playground/dist/constraints.wasm ./cmd/podverdict/page/constraints
	CGO_ENABLED=0 go run -trimpath -ldflags='-s -w' ./cmd/podverdict generate bundle -o playground/dist/bundle.tar.gz
	cd playground && npm ci --ignore-scripts --no-audit --no-fund && BROTLI=$(BROTLI) npm run build

.PHONY: playground-test
playground-test: ## compare the page in playground/dist with the command line, in headless Chromium
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/ ./cmd/podverdict
	cd playground && npm test

# Without symbols for debuggers, a test is linked in two thirds of the time. Without cgo, no C compiler is needed. make lint has
# go vet, which here would read all dependencies once more.
export CGO_ENABLED ?= 0
TEST := test -vet=off -ldflags=-s -timeout 20m

.PHONY: test
test: ## run the tests that need Go alone, searches in short form
	go $(TEST) -short ./...

# The steps of make verify, the quick ones first.
VERIFY := lint verify-tests verify-race verify-modules playground playground-test site-check release-check

.PHONY: verify
verify: tools ## run everything that a change must pass: all tests in full, linters, playground, site
	@failed=; \
	for step in $(VERIFY); do \
		start=$$SECONDS; echo "== make $$step"; \
		if $(MAKE) $$step; then result=passed; else result=FAILED; failed+=" $$step"; fi; \
		echo "== make $$step: $$result in $$((SECONDS - start)) s"; \
	done; \
	if [[ -n $$failed ]]; then echo "failed:$$failed" >&2; exit 1; fi

# Programs that make verify needs, and the packages of Debian that have them.
CHROMIUM ?= chromium
PROGRAMS := cc:gcc node:nodejs npm:npm $(CHROMIUM):chromium

.PHONY: tools
tools: control-plane ## build what make verify needs into .cache, and say how to install what cannot be built
	@missing=; \
	for program in $(PROGRAMS); do command -v "$${program%%:*}" >/dev/null || missing+=" $${program##*:}"; done; \
	if [[ -n $$missing ]]; then echo "make verify needs more: apt-get install --no-install-recommends$$missing" >&2; exit 1; fi

# Nothing happens when they are current, or when KUBEBUILDER_ASSETS names a folder that has them.
.PHONY: control-plane
control-plane: ## build etcd, Kubernetes' API server, controllers and scheduler, kubectl and kwok, for the tests
	@go -C $(UPSTREAM) run ./cmd/controlplane -o $(CURDIR)/.cache/control-plane

# Tests with the build tag cluster need a control plane.
TAGS := -tags cluster
# Goroutines beside a control plane: most of their time is waiting, so they run once, in full and with the race detector.
RACED := ./internal/testing/controlplane $(addprefix ./conformance/cluster/,disruption fault install life living)
# Packages that the race detector finds nothing in: they have one goroutine, or start programs.
SEQUENTIAL := ./api/... ./compiler/admission/... ./compiler/custom ./compiler/cel ./config ./policies/... ./runtime/internal/metered \
	./conformance $(addprefix ./conformance/,cluster/... reports vectors) $(addprefix ./controller/,plan simulation) \
	$(addprefix ./cmd/podverdict/internal/,admission cli compile diff engine eval explain findings generate history print report simulate suggest verdicts version) \
	./controller/garbage $(addprefix ./internal/,catalogue didyoumean evidence snapshot structure testreport) \
	$(addprefix ./internal/,input/fielddecoder kube/kubeversion testing/generators)

# Tests that measure delays, beside which nothing else runs.
ALONE := ./conformance/cluster/tenants

.PHONY: verify-tests
verify-tests: control-plane ## run every test of the main module in full, on a real control plane
	go $(TEST) $(TAGS) -p 3 $$(go list ./... | grep -vxF "$$(go list $(RACED) $(ALONE))")
	go $(TEST) $(TAGS) $(ALONE)

# The race detector needs cgo. Less garbage collection saves it a sixth of its time.
.PHONY: verify-race
verify-race: control-plane ## run what goroutines share with the race detector
	CGO_ENABLED=1 go $(TEST) $(TAGS) -p 3 -race $(RACED)
	CGO_ENABLED=1 GOGC=400 go $(TEST) -race -short $$(go list ./... | grep -vxF "$$(go list $(RACED) $(SEQUENTIAL))")

.PHONY: verify-modules
verify-modules: control-plane ## run the tests of the other modules
	go -C charts $(TEST) $(TAGS) ./...
	go -C $(ECOSYSTEM) $(TEST) -run 'TestDocumentation|TestEcosystem/cronjob$$' -parallel 8 .
	for module in $(UPSTREAM) $(INTEROP) fleet tools; do go -C $$module $(TEST) ./... || exit 1; done

BASE ?= HEAD

AFFECTED = go -C tools run ./cmd/affected -base $(BASE)

.PHONY: quick
quick: checkformat ## format, vet, and short tests of the packages that differ from BASE and of those that import them
	$(AFFECTED) -vet | xargs -rt go vet $(TAGS)
	$(AFFECTED) | GOGC=400 xargs -rt go $(TEST) -short

.PHONY: e2e
e2e: control-plane ## have Kubernetes disrupt the pods of Jobs, and compare what both controllers and the program make of it
	go test $(TAGS) -count=1 -v -timeout 10m ./conformance/cluster/disruption

FAULTS ?= 10000

.PHONY: faults
faults: ## run the Job controller through FAULTS random fault schedules, and crashes at every write, on an API server in memory
	go test -count=1 -v -timeout 30m ./controller -run 'TestFaultSchedules|TestLivingFaultSchedules|TestHostileSchedules|TestCrashAtEveryWrite' \
		-fault-schedules=$(FAULTS) -living-schedules=$$(($(FAULTS) / 4)) -crash-step=1

JOBS ?= 300

.PHONY: chaos
chaos: control-plane ## run JOBS Jobs while controllers, API server and etcd are killed, paused and cut off, by SEED
	go test $(TAGS) -count=1 -v -timeout 30m ./conformance/cluster/fault -run '^TestChaos$$' -chaos-seed=$(SEED) -chaos-jobs=$(JOBS)

FROM ?= a44552d

.PHONY: upgrade
upgrade: control-plane ## hand Jobs that are half run from the controller of commit FROM to this one, and back
	go test $(TAGS) -count=1 -v -timeout 10m ./conformance/cluster/install -run ^TestVersions$$ -from=$(FROM)

GREMLINS := go run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
MUTATED ?= controller/plan
DIFF ?=

.PHONY: mutants
mutants: N = 5
mutants: ## change operators in N files of the package MUTATED, chosen by SEED, and list the changes that its short tests do not notice; DIFF=origin/main only in changed lines
	@(cd $(MUTATED) && ls *.go) | grep -v _test.go | shuf --random-source=<(yes $(SEED)) | tail -n +$$(($(N) + 1)) | sed 's/.*/-E ^&$$/' | \
		GOFLAGS="$$(go env GOFLAGS) -short" xargs $(GREMLINS) unleash -E / $(if $(DIFF),--diff $(DIFF)) ./$(MUTATED)

ACTIONLINT := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=

.PHONY: lint
lint: checkformat checktidy checkgenerate ## format, golangci-lint (go vet is a part of it), workflows; go.mod and generated files must be current
	$(ACTIONLINT) .github/workflows/*.yml examples/ci/github.yaml
	$(LINT) run ./...
	for module in $(MODULES); do (cd $$module && $(LINT) run --config $(CURDIR)/.golangci.yml ./...) || exit 1; done

.PHONY: checkformat
checkformat:
	@unformatted=$$(git ls-files -co --exclude-standard -- '*.go' | xargs -r gofmt -l); \
	if [[ -n $$unformatted ]]; then echo "not formatted, run make fmt:" "$$unformatted" >&2; exit 1; fi

.PHONY: fmt
fmt: ## format the code
	$(LINT) fmt ./...
	for module in $(MODULES); do (cd $$module && $(LINT) fmt --config $(CURDIR)/.golangci.yml ./...) || exit 1; done

# Packages whose tests rewrite their golden files when given -update.
golden = $$(grep -rlE --include='*_test.go' --exclude-dir=upstream 'flag\.Bool(Var)?\(.*"update"' . | xargs -r -n1 dirname | sort -u)

.PHONY: generate
generate: control-plane ## rewrite generated code and golden files
	go generate ./...
	go -C charts generate ./...
	@packages=$(golden); if [[ -n $$packages ]]; then (set -x; go test $(TAGS) $$packages -update); fi

.PHONY: checktidy
checktidy:
	@for file in $$(git ls-files '*go.mod'); do \
		go -C $${file%go.mod}. mod tidy -diff || { echo "$$file is not tidy: run go mod tidy there" >&2; exit 1; }; \
	done

# The tree of what git knows or would add: equal before and after means that nothing was stale.
content = export GIT_INDEX_FILE=.cache/index; rm -f $$GIT_INDEX_FILE; git add -A && git write-tree

# Generated code; golden files are compared by their tests.
.PHONY: checkgenerate
checkgenerate:
	@mkdir -p .cache; before=$$($(content)); (set -x; go generate ./...); stale=$$(git diff --name-only $$before $$($(content))); \
	if [[ -n $$stale ]]; then \
		echo "these were stale; make generate has rewritten them in your tree, look at them and commit:" $$stale >&2; exit 1; \
	fi

.PHONY: conformance
conformance: ## run the conformance vectors against the default engine
	go run ./cmd/podverdict conformance

# Empty means the default of the command.
asked = $(if $(GENERIC),-generic $(GENERIC)) $(if $(KUBERNETES),-kubernetes $(KUBERNETES))

.PHONY: differential
differential: ## compare all engines with upstream on N generated pairs, from SEED; also GENERIC, KUBERNETES
	go -C $(UPSTREAM) run ./cmd/upstream differential -n $(N) -seed $(SEED) $(asked)

.PHONY: differential-scope
differential-scope: ## compare them on every policy and pod of the small scope
	go -C $(UPSTREAM) run ./cmd/upstream differential -scope $(asked)

.PHONY: differential-validation
differential-validation: ## compare the Rego bundle with the API server on N generated Jobs and status writes, from SEED; LEAST is how often each rule must fire
	go -C $(UPSTREAM) run ./cmd/upstream validation -n $(N) -seed $(SEED) -least $(LEAST)
	go -C $(UPSTREAM) run ./cmd/upstream validation -status -n $(N) -seed $(SEED) -least $(LEAST)

RELEASES := 1.33.13 1.34.4 1.35.4 1.36.3 1.37.2
JOBS_VALIDATED ?= 100000

.PHONY: matrix
matrix: N = 10000000
matrix: control-plane $(addprefix matrix-,$(or $(KUBERNETES),$(RELEASES))) ## compare with the Kubernetes of all RELEASES, or KUBERNETES=1.34.4: matcher, validation, lives, admission policies

# A release that the folder of its control plane has a go.mod for is not the one that is linked in.
matrix-%: export KUBEBUILDER_ASSETS =
matrix-%: assets = $(CURDIR)/.cache/control-plane/v$*
matrix-%: program = "$$(ls $(assets)/release 2>/dev/null || true)"
matrix-%:
	go -C $(UPSTREAM) run ./cmd/controlplane -o $(CURDIR)/.cache/control-plane -release v$*
	test ! -e $(assets)/go.mod || go -C $(UPSTREAM) build -mod=mod -modfile $(assets)/go.mod -o $(assets)/release ./cmd/release
	go -C $(UPSTREAM) run ./cmd/upstream differential -n $(N) -seed $(SEED) -release $(program)
	go -C $(UPSTREAM) run ./cmd/upstream validation -n $(JOBS_VALIDATED) -seed $(SEED) -release $(program)
	go -C $(UPSTREAM) run ./cmd/upstream validation -status -n $(JOBS_VALIDATED) -seed $(SEED) -release $(program)
	KUBEBUILDER_ASSETS=$(assets) go test $(TAGS) -count=1 -timeout 30m ./conformance/cluster/life ./conformance/cluster/admission \
		-run '^Test(Lives|Constraint|Guardrail|Mutation|Requirements|Static)'

RUN ?=
COUNT ?= 1
NATIVE ?=

.PHONY: upstream-integration
upstream-integration: control-plane ## run Kubernetes' own integration tests of the Job controller against ours, COUNT times; RUN picks some, NATIVE=1 runs upstream's, KUBERNETES=1.36.3 is another release
	go -C $(UPSTREAM) run ./cmd/upstream integration -count $(COUNT) $(if $(RUN),-run '$(RUN)') $(if $(NATIVE),-native) $(if $(KUBERNETES),-release v$(KUBERNETES))

KILLS ?= 0

.PHONY: ecosystem
ecosystem: control-plane ## run scenarios of JobSets, Kueue, MultiKueue and CronJobs under both Job controllers; RUN picks some, ours is killed KILLS times
	go -C $(ECOSYSTEM) $(TEST) -timeout 2h -count=1 -v -parallel 8 $(if $(RUN),-run '$(RUN)') . -kills=$(KILLS)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME
	go -C tools run ./cmd/fuzz -time $(FUZZTIME) .. ../$(UPSTREAM)

BENCHSTAT := go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

.PHONY: bench
bench: ## measure: matching against upstream's, compiling and its memory, the engine's stream
	@mkdir -p .cache
	go -C $(UPSTREAM) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -count $(BENCHCOUNT) -benchmem . | tee .cache/bench.txt
	$(BENCHSTAT) -row /policy,/containers -col '/engine@(upstream podverdict table)' .cache/bench.txt
	go test ./compiler -run '^$$' -bench 'Compile|Hold' -benchtime $(BENCHTIME)
	GOMAXPROCS=1 go test ./conformance/protocol -run '^$$' -bench Serve -benchtime $(BENCHTIME)

SHAPES ?=
UNTIL ?=
RUNS ?=
PROFILE ?=

.PHONY: bench-controller
bench-controller: N =
bench-controller: control-plane ## compare the Job controller's times, calls and CPU with upstream's; also N (of pods), SHAPES, UNTIL, RUNS, PROFILE
	go -C $(UPSTREAM) run ./cmd/benchcontroller $(if $(N),-n $(N)) $(if $(PROFILE),-profile '$(PROFILE)') $(if $(SHAPES),-shapes $(SHAPES)) $(if $(UNTIL),-until $(UNTIL)) $(if $(RUNS),-runs $(RUNS))

# The newest release of GoReleaser that builds with the Go of go.mod, from the modules that the proxy has.
GORELEASER := go run github.com/goreleaser/goreleaser/v2@v2.16.0
VERSION ?= 0.0.0
RELEASED := .cache/release
CONTROLLER_IMAGE := ghcr.io/podverdict/podverdict-controller:v$(VERSION)

# .goreleaser.yaml calls this. It does not build playground/dist, which the release has too.
.PHONY: release-files
release-files: ## write what a release has beside programs into .cache/release: completions, licenses, bundle, policies, chart, schemas; by VERSION
	@test -f playground/dist/index.html || { echo "a release has the playground: run make playground first" >&2; exit 1; }
	rm -rf $(RELEASED)
	mkdir -p $(RELEASED)/completions
	CGO_ENABLED=0 go build -o bin/ ./cmd/podverdict
	bin/podverdict completion bash >$(RELEASED)/completions/podverdict.bash
	bin/podverdict completion zsh >$(RELEASED)/completions/_podverdict
	bin/podverdict completion fish >$(RELEASED)/completions/podverdict.fish
	bin/podverdict completion kubectl >$(RELEASED)/kubectl_complete-podverdict
	bin/podverdict generate bundle -o $(RELEASED)/podverdict-rego-$(VERSION).tar.gz
	bin/podverdict generate vap >$(RELEASED)/podverdict-admission-policies.yaml
	for file in config/gatekeeper/*.yaml; do cp $$file $(RELEASED)/podverdict-gatekeeper-$$(basename $$file); done
	bin/podverdict generate install --image $(CONTROLLER_IMAGE) >$(RELEASED)/podverdict-install.yaml
	go -C tools run ./cmd/licenses ./cmd/... >$(RELEASED)/THIRD_PARTY_LICENSES
	{ printf 'Chartist, LICENSE-MIT\n\n'; cat cmd/podverdict/internal/report/chartist/LICENSE-MIT; } >>$(RELEASED)/THIRD_PARTY_LICENSES
	for schema in docs/schemas/*.json; do cp $$schema $(RELEASED)/podverdict-$$(basename $$schema .json).schema.json; done
	cp -r charts/podverdict $(RELEASED)/chart
	sed -i 's|^image: ""|image: $(CONTROLLER_IMAGE)|' $(RELEASED)/chart/values.yaml
	go -C charts tool helm package $(CURDIR)/$(RELEASED)/chart --version $(VERSION) --app-version $(VERSION) -d $(CURDIR)/$(RELEASED)

# Signing, images and bills of materials need a network, or programs that the workflow installs.
SNAPSHOT := release --snapshot --clean --skip=ko,sbom,sign,docker,publish

.PHONY: release-snapshot
release-snapshot: ## build the files of a release for all platforms into dist, without publishing them
	$(GORELEASER) $(SNAPSHOT)

# The files that say what a release is. One platform shows whether they work.
RELEASE_SOURCES := .goreleaser.yaml .github/workflows/release.yml charts/podverdict/Chart.yaml
.PHONY: release-check
release-check: .cache/release-check ## build the files of a release for Linux on amd64, when what says how has changed since the last time
.cache/release-check: $(RELEASE_SOURCES)
	$(GORELEASER) check
	sed 's/^  goos: .*/  goos: [linux]/; s/^  goarch: .*/  goarch: [amd64]/' .goreleaser.yaml >.cache/goreleaser.yaml
	$(GORELEASER) $(SNAPSHOT) --config .cache/goreleaser.yaml
	touch $@

# The packages that build the site, as its lock file says.
site/node_modules: site/package-lock.json
	cd site && npm ci --no-audit --no-fund
	touch $@

.PHONY: site
site: site/node_modules ## build the documentation's site into site/dist; with VERSIONS=1 that of each minor release
	node site/build.mjs $(if $(VERSIONS),--releases)

.PHONY: site-check
site-check: site ## build the site, and check every link and anchor of it and of the documentation
	node --test site/site.test.mjs
	node site/check.mjs

.PHONY: clean
clean: ## remove what make built
	rm -rf bin dist .cache site/node_modules site/dist site/.pages
