# One Makefile, one build folder a variant: make, make V=asan unit, ... `make help` lists the targets.
V       ?= release
OUT     := build/$(V)
CC      ?= gcc
PKGS    := libmicrohttpd sqlite3 jansson libcurl libjwt libcrypto yaml-0.1 libxxhash
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
           -Wvla -Wformat=2 -Wundef -Wwrite-strings -Werror
FLAGS_debug   := -O0 -g3
FLAGS_release := -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
FLAGS_asan    := -O1 -g3 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_tsan    := -O1 -g3 -fsanitize=thread -fno-omit-frame-pointer
FLAGS_cov     := -O0 -g3 --coverage
BUILD_CFLAGS  = -std=c17 -D_GNU_SOURCE -I. -I$(OUT) -MMD -MP -pthread $(FLAGS_$(V)) \
                $(shell pkg-config --cflags $(PKGS)) $(CFLAGS)
BUILD_LDLIBS  = -pthread $(shell pkg-config --libs $(PKGS)) $(LDLIBS)

FLOORS   := base net storage catalog formats config auth monitors lake api cli server
SOURCES  := $(filter-out server/main.c,$(shell find $(FLOORS) -name '*.c'))
OBJECTS  := $(SOURCES:%.c=$(OUT)/%.o)
LIB      := $(OUT)/libtarn.a
TEST_SRC := $(shell find tests -name 'test_*.c')
TESTS    := $(TEST_SRC:%.c=$(OUT)/%)
TEST_LIB := $(filter-out $(TEST_SRC),$(wildcard tests/support/*.c))

.DEFAULT_GOAL := all
all: $(OUT)/tarn ## build the server and client: build/release/tarn
lib: $(LIB)

$(LIB): $(OBJECTS)
	@rm -f $@
	ar rcs $@ $^
$(OUT)/tarn: $(OUT)/server/main.o $(LIB)
	$(CC) $(BUILD_CFLAGS) $< $(LIB) -o $@ $(BUILD_LDLIBS)
$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(WARN) $(BUILD_CFLAGS) -c $< -o $@
$(OUT)/tests/%: tests/%.c $(TEST_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) -Wall -Wextra $(BUILD_CFLAGS) $< $(TEST_LIB) $(LIB) -o $@ -lcriterion $(BUILD_LDLIBS)

unit: $(TESTS)
	@for t in $^; do ASAN_OPTIONS=abort_on_error=1 $$t -j2 || exit 1; done
clean:
	rm -rf build
.PHONY: all lib unit clean
-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
