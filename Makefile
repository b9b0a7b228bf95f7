# `make help` lists the targets. Everything that is needed beyond Go, git and
# make is pinned in internal/tools and built from there. GNU make 3.81 is new enough.

GO       ?= go
BUILD    := $(CURDIR)/build
TOOLS    := $(BUILD)/tools
BINARY   := $(BUILD)/otelcol-filelog
UPSTREAM := $(BUILD)/upstream/otelcol-upstream
SOURCES  := go.mod go.sum $(shell find . \( -path ./build -o -path ./bench -o -path ./internal/tools \) -prune -o -name '*.go' ! -name '*_test.go' -print)
COUNT    ?= 6
RUNS     ?= 3
FUZZTIME ?= 30s

# The distribution is built below the checkout, which may belong to another user:
# asking git for a version stamp would fail there.
export GOFLAGS := $(filter-out -buildvcs=%,$(GOFLAGS)) -buildvcs=false

.DEFAULT_GOAL := help
.PHONY: help build run test lint generate bench compare plots soak fuzz schema clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: $(BINARY) ## build the distribution build/otelcol-filelog

$(BINARY): $(TOOLS)/builder builder-config.yaml $(SOURCES)
	$(TOOLS)/builder --config builder-config.yaml

run: $(BINARY) ## tail testdata/logs and build/run/logs, print the records, end when idle
	bash testdata/run/run.sh $(BINARY)

test: ## run every test under the race detector
	$(GO) test -race ./...

lint: $(TOOLS)/staticcheck ## gofmt, go vet, staticcheck
	@unformatted=$$(find . -path ./build -prune -o -name '*.go' -print | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted with gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(TOOLS)/staticcheck ./...

generate: $(TOOLS)/protogen ## make documentation.md, config.schema.yaml, the README's tables and protobuf code anew
	$(GO) test ./internal/metadata -run TestDocumentation -count 1 -update
	$(GO) test . -run 'TestSchema|TestReadme' -count 1 -update
	@for proto in $$(find internal -name '*.proto'); do \
		dir=$$(dirname $$proto); echo "$(TOOLS)/protogen -I $$dir -o $$dir $$(basename $$proto)"; \
		$(TOOLS)/protogen -I $$dir -o $$dir $$(basename $$proto) || exit 1; \
	done

schema: ## make config.schema.yaml anew
	$(GO) test . -run TestSchema -count 1 -update

bench: $(TOOLS)/benchstat ## run the Go benchmarks (COUNT=6) and summarise them
	@mkdir -p $(BUILD)
	{ $(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) ./... && \
		$(GO) -C bench test -bench . -benchmem -count $(COUNT) -timeout 90m ./...; } | tee $(BUILD)/bench.txt
	$(TOOLS)/benchstat $(BUILD)/bench.txt

compare: $(BINARY) $(UPSTREAM) ## measure the distribution against contrib's receiver, in one run (SCENARIOS="plain idle", RUNS=3)
	$(GO) -C bench run . -ours $(BINARY) -upstream $(UPSTREAM) -runs $(RUNS) -out $(BUILD)/compare.json $(SCENARIOS)

plots: ## draw the plots of BENCHMARKS.md from what bench and compare have left in build/
	$(GO) -C bench run ./plot -compare $(BUILD)/compare.json -bench $(BUILD)/bench.txt -out plots

soak: $(BINARY) ## kill the distribution at random moments while files rotate, account for every line
	FILELOG_SOAK=1 FILELOG_BINARY=$(BINARY) $(GO) test -run Soak -count 1 -timeout 60m -v .
	FILELOG_SOAK=1 $(GO) test -race -run MutatingConsumerForHalfAMinute -count 1 -v .

fuzz: ## run every fuzz target for FUZZTIME=30s
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

clean: ## remove build/
	rm -rf $(BUILD)

$(TOOLS)/builder: internal/tools/go.sum
	$(GO) -C internal/tools build -o $@ go.opentelemetry.io/collector/cmd/builder

$(UPSTREAM): $(TOOLS)/builder bench/upstream.yaml
	$(TOOLS)/builder --config bench/upstream.yaml

$(TOOLS)/benchstat: internal/tools/go.sum
	$(GO) -C internal/tools build -o $@ golang.org/x/perf/cmd/benchstat

$(TOOLS)/staticcheck: internal/tools/go.sum
	$(GO) -C internal/tools build -o $@ honnef.co/go/tools/cmd/staticcheck

$(TOOLS)/protogen: internal/tools/go.sum internal/tools/protogen/main.go
	$(GO) -C internal/tools build -o $@ ./protogen
