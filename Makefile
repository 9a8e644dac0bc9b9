# What a developer does with this repository. "make help" lists it.

# The modules of go.work are the product: "go build work", "go test work" and "go vet work" take them all. The tools are modules outside
# of it, so that what they need raises no version of what the product needs.
tools := internal/tools internal/tools/clients internal/tools/lint internal/tools/s3 internal/tools/vuln
packages = $$(go list -m -f '{{.Dir}}/...')

# The pinned linter. The first run compiles it, which takes minutes.
golangci = $(shell GOWORK=off go tool -n -modfile=internal/tools/lint/go.mod golangci-lint)

# These limits stop tests that hang. They are no measure: on a machine that does much else the suite takes several times as long as on a
# quiet one. Each test has deadlines of its own.
limit := $(if $(shell command -v timeout),timeout --kill-after=10 4h)
package-limit := 2h

# Flags for go test, such as TESTFLAGS=-v or TESTFLAGS="-run TestDial".
TESTFLAGS ?=
# Which benchmarks to run, a regular expression.
BENCH ?= .

.DEFAULT_GOAL := help

.PHONY: help
help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Install what is missing, place a real call between two phones on this machine, show what was said
	@# The compiler works while packages are fetched; what it says, go run says again.
	go build ./examples/demo ./examples/server ./examples/softphone >/dev/null 2>&1 & ./scripts/install-deps.sh demo && wait
	go run ./examples/demo

.PHONY: demo-server
demo-server: ## Leave a server running that has calls, tests, an issue and a port, at 127.0.0.1:8080; its data goes when it stops
	./scripts/install-deps.sh demo
	@# go run ends with 1 after Ctrl-C, whatever the program ends with.
	go build -o bin/ ./examples/demo
	exec bin/demo -serve

.PHONY: run
run: ## Install what is missing, start the reference server with its data in ./data
	./scripts/install-deps.sh demo
	go build -o bin/ ./examples/server
	exec bin/server

# Property tests draw their inputs from this seed, so that a run repeats. RAPID_SEED=0 draws other ones each time.
export RAPID_SEED ?= 1

.PHONY: test
test: ## Install what is missing, run all tests, PostgreSQL and real phones included
	@# The phones come last and alone: their sound suffers on a machine that is busy with something else.
	./scripts/install-deps.sh test
	GOWORK=off go -C internal/tools test $(TESTFLAGS) ./...
	GOWORK=off go -C internal/tools/vuln test $(TESTFLAGS) ./...
	$(limit) go test -timeout $(package-limit) $(TESTFLAGS) $$(go list work | grep -v /internal/e2e)
	$(limit) go test -timeout $(package-limit) $(TESTFLAGS) ./internal/e2e/...

.PHONY: bench
bench: ## Run the benchmarks (BENCH=name for some of them)
	go test -run '^$$' -bench '$(BENCH)' -benchmem work

.PHONY: check
check: check-format vet lint tidy-check check-generate check-contract ## Everything that CI checks beside the tests

.PHONY: check-format
check-format: ## Fail if gofmt would change a file
	@changed=$$(git ls-files -z '*.go' | xargs -0 gofmt -l) && if [ -n "$$changed" ]; then \
		echo "gofmt would change:"; echo "$$changed"; exit 1; fi

.PHONY: vet
vet: ## Run go vet
	go vet work

.PHONY: lint
lint: ## Run the linter
	$(golangci) run $(packages)
	cd internal/tools && GOWORK=off $(golangci) run ./...

.PHONY: tidy-check
tidy-check: ## Fail if go mod tidy would change a module
	./scripts/tidy.sh -diff
	@set -e; for module in $(tools); do echo "go -C $$module mod tidy -diff"; GOWORK=off go -C $$module mod tidy -diff; done

.PHONY: generate
generate: ## Join the contract's parts to openapi.yaml, generate server and client from it, list the licences of modules, the country codes of E.164
	go generate . ./transport/oas ./transport/dashboard/internal/settings

.PHONY: check-generate
check-generate: generate ## Fail if openapi.yaml, the generated code and the list of licences are not what make generate gives
	git diff --exit-code --stat -- openapi.yaml numbering.go transport/oas transport/dashboard/internal/settings/licenses.txt
	@new=$$(git ls-files --others --exclude-standard -- transport/oas) && if [ -n "$$new" ]; then \
		echo "generated and not committed:"; echo "$$new"; exit 1; fi

.PHONY: check-vulns
check-vulns: ## Fail if a known fault is called that a version mends which can be had, or SECURITY.md lists others than there are
	./scripts/check-vulns.sh

# Redocly asks nobody whether there is a newer one, and tells nobody that it was run.
.PHONY: check-contract
check-contract: ## Fail if Redocly finds an error or a warning in openapi.yaml
	./scripts/install-deps.sh clients
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true internal/tools/web/node_modules/.bin/redocly lint openapi.yaml --extends=recommended-strict

.PHONY: check-clients
check-clients: ## Fail if a client that oapi-codegen or openapi-typescript makes of openapi.yaml does not compile
	./scripts/install-deps.sh clients
	./scripts/check-clients.sh

.PHONY: tool-server
tool-server: ## Fail if the inspector and the conformance suite of the tool protocol find fault with callwright mcp
	./scripts/install-deps.sh demo
	./scripts/install-deps.sh clients
	./scripts/tool-server.sh

.PHONY: ci
ci: ## Do what CI does
	./.ci/run
