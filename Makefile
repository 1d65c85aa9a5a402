# One Makefile, one build folder a variant: `make`, `make test`, `make check`, ... `make help` lists the targets.
# Variants: release (what ships), debug (tests), asan, tsan, cov, clang, analyze, fuzz: make V=asan unit.
V       ?= release
OUT     := build/$(V)
JOBS    ?= $(shell nproc)
PREFIX  ?= /usr/local
FUZZ_SECONDS ?= 20

CC_clang := clang
CC_fuzz  := clang
ifeq ($(origin CC),default)
CC      := $(or $(CC_$(V)),gcc)
endif
PKGS    := libmicrohttpd sqlite3 jansson libcurl libcrypto yaml-0.1 libxxhash zlib libzstd snappy
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
           -Wvla -Wformat=2 -Wundef -Wwrite-strings -Werror
SANITIZE       := -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_debug    := -O0 -g3
FLAGS_release  := -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
FLAGS_asan     := -O1 -g -fsanitize=address,undefined $(SANITIZE)
FLAGS_tsan     := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
FLAGS_cov      := -O0 -g --coverage
FLAGS_clang    := -O1 -g
# gcc 12 takes the cleanup attribute and realloc for leaks, and checked pointers for NULL: ASan and valgrind judge those.
FLAGS_analyze  := -O1 -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-null-dereference -Wno-analyzer-null-argument \
                  -Wno-analyzer-possible-null-dereference -Wno-analyzer-possible-null-argument \
                  -Wno-analyzer-use-of-uninitialized-value
FLAGS_fuzz     := -O1 -g -fsanitize=fuzzer-no-link,address,undefined $(SANITIZE)
# Only expanded when something is compiled, so that `make help` needs no packages.
PKG_CFLAGS      = $(eval PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS        = $(eval PKG_LIBS := $(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)
BUILD_CFLAGS    = -std=c17 -D_GNU_SOURCE -I. -I$(OUT) -MMD -MP -pthread $(FLAGS_$(V)) $(PKG_CFLAGS) $(CFLAGS)
BUILD_LDLIBS    = -pthread $(PKG_LIBS) -lm $(LDLIBS)

FLOORS   := base net storage catalog formats config auth monitors lake api cli server
SOURCES  := $(filter-out server/main.c,$(shell find $(wildcard $(FLOORS)) -name '*.c'))
OBJECTS  := $(SOURCES:%.c=$(OUT)/%.o)
LIB      := $(OUT)/libtarn.a
TARN     := $(OUT)/tarn
TEST_SRC := $(shell find tests -name 'test_*.c' 2>/dev/null)
TESTS    := $(TEST_SRC:%.c=$(OUT)/%)
TEST_LIB := $(wildcard tests/support/*.c tests/catalog/store_*.c)
RACE     := $(patsubst %.c,$(OUT)/%,$(wildcard tests/race/race_*.c))
FUZZ     := $(patsubst %.c,$(OUT)/%,$(wildcard tests/fuzz/fuzz_*.c))
# Files that the program carries in itself, as lists of bytes: #include "embed/openapi.yaml.inc"
EMBED    := $(wildcard openapi.yaml migrations/*.sql)
EMBEDDED := $(EMBED:%=$(OUT)/embed/%.inc) $(OUT)/embed/revision.inc
# Of what ships; tests are not linked anew for each commit.
REVISION  = $(if $(filter release,$(V)),$(shell git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null))
# Black-box tests: executables that get the program as $TARN and end with `N passed, N failed`.
PROGRAMS := $(wildcard tests/cases/test_*.py tests/cases/test_*.sh tests/http/test_*.py tests/http/test_*.sh)
CRASH    := $(wildcard tests/crash/test_*.py tests/crash/test_*.sh)
RUN      := tools/run-tests -j $(JOBS) --log $(OUT)/log
SUB      := $(MAKE) --no-print-directory -j$(JOBS)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
all: $(TARN) ## build the program: build/release/tarn
lib: $(LIB)

$(LIB): $(OBJECTS)
	@mkdir -p $(@D)
	@rm -f $@
	@echo "  AR   $@"; ar rcs $@ $^
$(TARN): $(OUT)/server/main.o $(LIB)
	@echo "  LD   $@"; $(CC) $(BUILD_CFLAGS) $< $(LIB) -o $@ $(BUILD_LDLIBS)
$(OUT)/%.o: %.c | $(EMBEDDED)
	@mkdir -p $(@D)
	@echo "  CC   $@"; $(CC) $(WARN) $(BUILD_CFLAGS) -c $< -o $@
$(OUT)/embed/%.inc: % tools/embed
	@mkdir -p $(@D)
	@tools/embed $< >$@
$(OUT)/embed/revision.inc: FORCE
	@mkdir -p $(@D)
	@echo '"$(or $(REVISION),unknown)"' | cmp -s - $@ || echo '"$(or $(REVISION),unknown)"' >$@
# The support of the tests is compiled once; each test file is a program of its own.
.PRECIOUS: $(OUT)/tests/%.o
$(OUT)/tests/libsupport.a: $(TEST_LIB:%.c=$(OUT)/%.o)
	@rm -f $@
	@ar rcs $@ $^
$(OUT)/tests/%.o: tests/%.c | $(EMBEDDED)
	@mkdir -p $(@D)
	@echo "  CC   $@"; $(CC) -Wall -Wextra $(BUILD_CFLAGS) -c $< -o $@
TEST_ARCHIVES = $(if $(TEST_LIB),$(OUT)/tests/libsupport.a) $(LIB)
$(OUT)/tests/%: $(OUT)/tests/%.o $(TEST_ARCHIVES)
	@echo "  LD   $@"; $(CC) $(BUILD_CFLAGS) $< $(TEST_ARCHIVES) -o $@ -lcriterion $(BUILD_LDLIBS)
$(OUT)/tests/race/%: tests/race/%.c $(LIB)
	@mkdir -p $(@D)
	@echo "  CC   $@"; $(CC) -Wall -Wextra $(BUILD_CFLAGS) $< $(LIB) -o $@ $(BUILD_LDLIBS)
$(OUT)/tests/fuzz/%: tests/fuzz/%.c $(LIB)
	@mkdir -p $(@D)
	@echo "  CC   $@"; $(CC) -Wall -Wextra $(BUILD_CFLAGS) -fsanitize=fuzzer $< $(LIB) -o $@ $(BUILD_LDLIBS)
$(OUT)/tools/%: tools/%.c $(LIB)
	@mkdir -p $(@D)
	@echo "  CC   $@"; $(CC) $(WARN) $(BUILD_CFLAGS) $< $(LIB) -o $@ $(BUILD_LDLIBS)
$(OUT)/bench/%: bench/%.c $(LIB)
	@mkdir -p $(@D)
	@echo "  CC   $@"; $(CC) $(WARN) $(BUILD_CFLAGS) $< $(LIB) -o $@ $(BUILD_LDLIBS)
$(OUT)/bench/%.so: bench/%.c
	@mkdir -p $(@D)
	@echo "  CC   $@"; $(CC) $(WARN) -std=c17 -D_GNU_SOURCE -O2 -fPIC -shared $< -o $@ -ldl

# --- what people run -------------------------------------------------------------------------------
demo: ## a small lake of real files, served, committed to and broken on purpose; leaves the server up
	@tools/need build demo
	@$(SUB) V=release all
	@TARN=build/release/tarn examples/demo.sh
test: ## every test, under three minutes: units, fixtures, HTTP, crashes
	@tools/need build test prometheus
	@$(SUB) V=debug test-built
	@$(SUB) V=debug test-run
test-built: $(TARN) $(TESTS)
test-run:
	@TARN=$(TARN) $(RUN) $(CRASH) $(PROGRAMS) $(TESTS)
unit: $(TESTS) ## the Criterion tests of one variant: make V=asan unit
	@$(RUN) $(TESTS)
check: ## the unit and HTTP tests under the address and undefined-behaviour sanitizers; a leak fails
	@tools/need build test
	@$(SUB) V=asan test-built
	@$(SUB) V=asan check-run
check-run:
	@TARN=$(TARN) $(RUN) $(PROGRAMS) $(TESTS)
memcheck: ## the unit tests under valgrind; ONLY="base formats" picks folders
	@tools/need build test memcheck
	@$(SUB) V=debug test-built
	@$(SUB) V=debug memcheck-run
memcheck-run:
	@$(RUN) --valgrind $(if $(ONLY),$(filter $(ONLY:%=$(OUT)/tests/%%),$(TESTS)),$(TESTS))
race: ## the programs under tests/race, and the loads of three crash tests, under the thread sanitizer
	@tools/need build test
	@$(SUB) V=tsan race-run
race-run: $(RACE) $(TARN)
	@TARN=$(TARN) CRASH_KILLS=2 TARN_PROPERTY_SECONDS=20 \
	    TSAN_OPTIONS="halt_on_error=1 exitcode=66 suppressions=tests/race/suppressions" \
	    $(RUN) $(RACE) $(wildcard tests/crash/test_kill.py tests/crash/test_property.py tests/crash/test_iceberg_kill.py)
fuzz: ## each fuzz target for FUZZ_SECONDS (20)
	@tools/need build fuzz
	@$(SUB) V=fuzz fuzz-run
fuzz-run: $(FUZZ)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) $(RUN) $(FUZZ:%=%.fuzz)
lint: ## floors, doors, routes, style, generated documents, both compilers, the analyzer
	@tools/need build lint
	@tools/lint
bench: ## against nginx, a plain SQLite loop, find, and Iceberg's reference server; start-up and memory
	@tools/need build bench engines
	@tools/engines
	@$(SUB) V=release all bench-built
	@TARN=build/release/tarn; export TARN; failed=0; for part in run sweep iceberg; do bench/$$part || failed=1; done; exit $$failed
bench-iceberg: ## loads and commits of Iceberg tables beside the Java reference server; installs it into .engines/
	@tools/need build bench engines
	@$(SUB) V=release all
	@tools/engines
	@TARN=build/release/tarn bench/iceberg
bench-growth: ## a table of 1,000,000 files and 100,000 commits, and what it costs the others; some minutes
	@tools/need build bench
	@$(SUB) V=release all bench-built
	@TARN=build/release/tarn bench/growth
bench-sweep: ## a table of 1,000,000 files swept, beside find; some minutes, 400 MB of disk
	@tools/need build bench
	@$(SUB) V=release all bench-built
	@TARN=build/release/tarn bench/sweep
bench-built: $(OUT)/bench/fill_sweep $(OUT)/bench/fill $(OUT)/bench/fill_files $(OUT)/bench/fill_growth $(OUT)/bench/floor_commits $(OUT)/bench/slowsync.so
test-engines: ## real clients (PyIceberg, DuckDB, Polars, Spark, Flink, chDB, ...) against the server; installs them into .engines/
	@tools/need build engines
	@$(SUB) V=release all
	@tools/engines
	@TARN=build/release/tarn $(RUN) --python .engines/bin/python $(wildcard tests/engines/test_*.py)
coverage: ## line coverage of the unit tests, a table on the terminal
	@tools/need build test coverage
	@$(SUB) V=cov test-built
	@$(SUB) V=cov unit
	@gcovr --root . --object-directory build/cov --exclude tests --exclude build --print-summary | tail -n +6
docs: ## write docs/CONFIGURATION.md, MONITORS.md, METRICS.md, the heads and the index of docs/findings/ anew from their tables
	@$(SUB) V=debug docs-written
docs-written: $(OUT)/tools/docs
	@for name in CONFIGURATION METRICS MONITORS; do $< $$name >docs/$$name.md || exit; done
	@$< findings | tools/finding-pages docs/findings
install: all ## to PREFIX (/usr/local) under DESTDIR
	install -D -m 755 $(TARN) $(DESTDIR)$(PREFIX)/bin/tarn
	install -D -m 644 openapi.yaml $(DESTDIR)$(PREFIX)/share/tarn/openapi.yaml
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/tarn/prometheus deploy/prometheus/*.yml
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's,@PREFIX@,$(PREFIX),g' deploy/systemd/tarn.service >$(DESTDIR)$(PREFIX)/lib/systemd/system/tarn.service
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/tarn LICENSE docs/*.md
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/tarn/findings docs/findings/*.md
compile_commands.json: FORCE ## for editors and clang-tidy
	@CC="$(CC)" FLAGS="$(WARN) $(filter-out -MMD -MP,$(BUILD_CFLAGS))" tools/compile-commands $(SOURCES) server/main.c >$@
format: ## clang-format over what you changed since the last commit
	@git diff --name-only HEAD -- '*.c' '*.h' | xargs -r clang-format -i
clean: ## everything that was built
	rm -rf build compile_commands.json
help: ## this list
	@sed -nE 's/^([a-z_.-]+):[^#]*## (.*)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'\t' '{printf "  %-22s %s\n", $$1, $$2}'
FORCE:
.PHONY: all lib demo test test-built test-run unit check check-run memcheck memcheck-run race race-run fuzz fuzz-run lint \
        bench bench-built bench-growth bench-iceberg bench-sweep test-engines coverage docs docs-written install format clean help FORCE
.SECONDARY:
-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
