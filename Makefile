# SPDX-License-Identifier: BSD-2-Clause
#
#   make            all that is installed, and the programs that tests trace
#   make check      lint of what the last commits changed, unit and kernel tests, and most end-to-end tests
#   make check-all  the rest: the other end-to-end tests, lint of all files, sanitizers, mutants, fuzzing, the model, a soak
#   make unit | kernel-test | e2e | lint | asan | mutants | fuzz | model     one of these stages
#   make matrix | matrix-short     what Debian's kernels can do, in virtual machines: hours | minutes
#   make debian13   builds with Debian 13's compilers and libraries, and runs the unit tests there
#   make soak       ten minutes of switching probes in programs that must run on undisturbed; SOAK_SECONDS=
#   make soak-upgrade      500 upgrades and 500 restarts of the package under load; UPGRADES=
#   make soak-overload     an hour of too many events, clients and requests; OVERLOAD_SECONDS=
#   make soak-growth       10,000 sessions, after which the daemon has no more memory, files and threads than before;
#                          GROWTH_SESSIONS=
#   make bench      benchmarks
#   make demo       a tour
#   make install    DESTDIR= PREFIX=/usr/local
#   make deb        packages of Debian, in .build/deb
#   make image      a container's image of the two programs, in .build/image; as root
#
#   make CROSS=aarch64-linux-gnu [GOAL]     the same for another machine, in .build/aarch64-linux-gnu, with Debian's
#                   cross compiler and a tree of that machine's libraries (scripts/install-deps cross).
#                   GOAL: all, build, install, unit, matrix, matrix-short or clean
#
# Everything is built under .build/. Sources are found by wildcard: a new file needs no line here.

VERSION := 0.1.0

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all
.PHONY: all build build-tests build-fuzz check check-all lint-changed nothing unit model asan kernel-test mutants e2e fuzz matrix matrix-short debian13 soak soak-upgrade soak-overload soak-growth bench demo install deb image clean format lint check-includes check-format check-python

ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
MAKEFLAGS += --no-builtin-rules --no-print-directory
# Long commands print their output as it comes.
ifeq ($(filter check check-all bench demo unit asan kernel-test mutants e2e fuzz matrix matrix-short debian13 soak soak-upgrade soak-overload soak-growth,$(MAKECMDGOALS)),)
MAKEFLAGS += --output-sync=target
endif

# The machine that is built for.
CROSS :=
machine := $(if $(CROSS),$(firstword $(subst -, ,$(CROSS))),$(shell uname -m))
is_x86_64 := $(filter x86_64,$(machine))
B := .build$(addprefix /,$(CROSS))
SYSROOT := $(if $(CROSS),$(CURDIR)/$(B)/sysroot)

goals := $(or $(MAKECMDGOALS),all)
ifneq ($(CROSS),)
cannot_cross := $(filter check check-all lint lint-changed asan kernel-test mutants e2e fuzz model soak soak-% bench demo deb image,$(goals))
$(if $(cannot_cross),$(error $(cannot_cross): not for another machine; see the top of the Makefile))
endif

# Install packages first, because pkg-config is asked below.
ifeq ($(findstring n,$(firstword -$(MAKEFLAGS))),)
ifneq ($(filter check check-all matrix matrix-short soak soak-upgrade soak-overload soak-growth bench demo,$(goals)),)
needs := all
else ifneq ($(filter deb image,$(goals)),)
needs := $(if $(word 2,$(filter deb image,$(goals))),all,$(filter deb image,$(goals)))
else ifneq ($(filter all,$(goals)),)
needs := build
endif
ifdef needs
ifneq ($(shell scripts/install-deps $(needs) >&2 && echo installed),installed)
$(error packages are missing)
endif
ifneq ($(CROSS),)
ifneq ($(shell scripts/install-deps cross $(CROSS) $(SYSROOT) >&2 && echo installed),installed)
$(error packages to build for $(CROSS) are missing)
endif
endif
endif
endif

V := $(if $(VERBOSE),,@)
say = @printf '  %-7s %s\n' $(1) $(2)

BPFTOOL ?= /usr/sbin/bpftool
CLANG ?= clang
CLANGXX ?= clang++
CLANG_TIDY ?= clang-tidy
CLANG_FORMAT ?= clang-format
MYPY ?= mypy
LLVM_STRIP ?= llvm-strip

ifneq ($(CROSS),)
CC := $(CROSS)-gcc --sysroot=$(SYSROOT)
CXX := $(CROSS)-g++ --sysroot=$(SYSROOT)
AR := $(CROSS)-ar
# Runs a program of that machine.
RUN := qemu-$(machine)-static -L $(SYSROOT)
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(CROSS)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
else
PKG_CONFIG := pkg-config
endif

# What knows a machine's instructions, and the library that decodes them.
decoder_of.x86_64 := -lZydis
decoder_of.aarch64 := -lcapstone
other_machines := $(filter-out $(machine),$(patsubst decoder_of.%,%,$(filter decoder_of.%,$(.VARIABLES))))

pkgs := libbpf libelf libdw libdebuginfod liblzma libzstd libxxhash spdlog libsystemd libseccomp
CPPFLAGS += -I. -Iusdt/include -I$(B) -DTRACECTL_VERSION='"$(VERSION)"' $(shell $(PKG_CONFIG) --cflags $(pkgs) 2>/dev/null)
# Debug information for stacks and line numbers only: the rest takes longer to build.
CXXFLAGS ?= -O2 -g1
CFLAGS ?= -O2 -g
# Relocated data becomes read-only when the program is loaded.
LDFLAGS ?= -Wl,-z,relro,-z,now
DEBUG_LDFLAGS ?= -Wl,--compress-debug-sections=zlib
# Tests need only line numbers in their debug information.
TEST_CXXFLAGS ?= -O1 -g1
warnings := -Wall -Wextra -Wshadow -Wconversion -Werror
# The library that programs link: a static and a shared one, from the same objects.
c_flags = -std=c11 -D_GNU_SOURCE -I. -Iusdt/include -fPIC -fvisibility=hidden
cxx_flags = -std=c++20 $(CPPFLAGS) $(CXXFLAGS) $(warnings)
# One sanitized build serves the unit tests and the fuzz targets.
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all
asan_flags = -std=c++20 $(CPPFLAGS) -O1 -g1 -fno-omit-frame-pointer -Wall -Werror $(sanitize) -fsanitize=fuzzer-no-link
LDLIBS += $(shell $(PKG_CONFIG) --libs $(pkgs) 2>/dev/null) $(decoder_of.$(machine)) -liberty -pthread
# Of tracectl, beside those of the engine.
client_libs := $(or $(shell $(PKG_CONFIG) --libs ncursesw 2>/dev/null),-lncursesw -ltinfo)
test_libs := -lgmock -lgtest -lgtest_main

# ---- sources and products ----

other_src := $(foreach other,$(other_machines),$(wildcard daemon/*/$(other)/*.cpp))
engine_src := $(filter-out daemon/main.cpp $(other_src),$(wildcard daemon/*/*.cpp daemon/*/*/*.cpp))
daemon_src := $(wildcard daemon/main.cpp)
client_main := $(wildcard client/main.cpp)
client_src := $(filter-out client/main.cpp,$(wildcard client/*.cpp client/*/*.cpp))
generator_main := $(wildcard usdt/generator/main.cpp)
generator_src := $(filter-out usdt/generator/main.cpp,$(wildcard usdt/generator/*.cpp usdt/generator/$(machine)/*.cpp))
runtime_src := $(wildcard usdt/runtime/*.c usdt/runtime/$(machine)/*.c)
# Others read programs of x86-64, or expect its registers.
unit_src := $(wildcard tests/unit/$(machine)/*_test.cpp $(if $(is_x86_64),tests/unit/*_test.cpp))
kernel_test_src := $(wildcard tests/kernel/*_test.cpp tests/kernel/$(machine)/*_test.cpp)
support_src := $(wildcard tests/support/*.cpp tests/support/$(machine)/*.cpp)
fuzz_src := $(wildcard tests/fuzz/*_fuzz.cpp)
bench_src := $(wildcard tests/bench/*.cpp)
soak_src := $(wildcard tests/soak/*.cpp)
# Programs to trace that are written in instructions of x86-64.
of_x86_64 := busy chosen emulated entries hot_instrumented nops parameters parameters_dwarf4 parameters_o0 parameters_split \
	parameters_split_dwarf4 reach_no_plt reach_stripped redzone_leaf returned returned_o0 returned_plain runtime_probes soak_clock \
	soak_exceptions soak_redzone soak_signals stack_edge
target_src := $(filter-out $(if $(is_x86_64),,$(of_x86_64:%=tests/targets/%.c) $(of_x86_64:%=tests/targets/%.cpp)),\
	$(wildcard tests/targets/*.c tests/targets/*.cpp))

# The sources that call reached(), directly or by an inline member of Switch. The test build compiles its own.
step_src := daemon/switching/staging.cpp daemon/sessions/switches.cpp

# Up to eight sources of a folder are compiled as one part, because most of the time goes to headers and
# templates that they share. So names in unnamed namespaces must be unique within a folder.
# parts: takes a folder with dots for slashes, its sources, and a word for each part before. Gives the names
# of the parts, and sets NAME_src to the sources of each.
parts = $(if $(2),$(eval $(1).$(words x $(3))_src := $(wordlist 1,8,$(2)))$(1).$(words x $(3)) \
	$(call parts,$(1),$(wordlist 9,$(words $(2)),$(2)),x $(3)))
in_folder = $(foreach source,$(2),$(if $(filter $(1),$(dir $(source))),$(source)))
parts_of = $(foreach folder,$(sort $(dir $(1))),$(call parts,$(subst /,.,$(patsubst %/,%,$(folder))),$(call in_folder,$(folder),$(1))))

engine_parts := $(call parts_of,$(filter-out $(step_src),$(engine_src)))
client_parts := $(call parts_of,$(client_src))
generator_parts := $(call parts_of,$(generator_src))
product_parts := $(engine_parts) $(client_parts) $(generator_parts)
unit_parts := $(call parts_of,$(unit_src))
kernel_test_parts := $(call parts_of,$(kernel_test_src))
test_parts := $(unit_parts) $(kernel_test_parts)

# Sources that are compiled alone.
single_src := $(step_src) $(daemon_src) $(client_main) $(generator_main)

obj = $(addprefix $(B)/obj/,$(addsuffix .o,$(basename $(1))))
part_obj = $(patsubst %,$(B)/obj/parts/%.o,$(1))
step_obj := $(patsubst %.cpp,$(B)/test/%.o,$(step_src))
asan_obj = $(addprefix $(B)/asan/,$(addsuffix .o,$(basename $(1))))
asan_part_obj = $(patsubst %,$(B)/asan/parts/%.o,$(1))
engine_obj := $(call part_obj,$(engine_parts)) $(call obj,$(filter $(step_src),$(engine_src)))
asan_engine_obj := $(call asan_part_obj,$(engine_parts)) $(call asan_obj,$(filter $(step_src),$(engine_src)))

# The emulator's instructions are those of x86-64.
skeletons := $(if $(wildcard bpf/tracer.bpf.c),$(B)/bpf/tracer.skel.h \
	$(if $(is_x86_64),$(B)/bpf/emulator.skel.h))
test_skeletons := $(if $(is_x86_64),$(B)/tests/bpf/emulate_states.skel.h)
programs := $(if $(daemon_src),$(B)/tracectld) $(if $(client_main),$(B)/tracectl) \
	$(if $(generator_main),$(B)/tracectl-usdt)
runtime := $(B)/libtracectl-usdt.a
runtime_so := $(B)/libtracectl-usdt.so.0
schema := $(B)/protocol.schema.json
targets := $(patsubst tests/targets/%,$(B)/targets/%,$(basename $(target_src)))
unit_bin := $(if $(unit_src),$(B)/unit-tests)
asan_bin := $(if $(unit_src),$(B)/asan/unit-tests)
kernel_bin := $(if $(kernel_test_src),$(B)/kernel-tests)
test_daemon := $(B)/test/tracectld
fuzz_bins := $(patsubst tests/fuzz/%.cpp,$(B)/fuzz/%,$(fuzz_src))
soak_bin := $(if $(soak_src),$(B)/soak)
image := $(B)/image/tracectl.oci.tar
# For the end-to-end tests, which need root as it does.
tested_image := $(if $(filter 0,$(shell id -u)),$(image))
# Kernels of other machines: the first has all that the programs need.
MATRIX_OF_OTHERS := 6.12 6.18 7.2
of_others := $(if $(CROSS),--cross $(CROSS) $(MATRIX_OF_OTHERS))
bench_bins := $(patsubst tests/bench/%.cpp,$(B)/bench/%,$(bench_src))

build: $(skeletons) $(B)/libtracectl-engine.a $(runtime) $(runtime_so) $(programs) $(schema)
all: build $(targets)
build-tests: $(unit_bin) $(asan_bin) $(kernel_bin) $(test_daemon) $(fuzz_bins) $(bench_bins) $(soak_bin)

# ---- BPF object -> skeleton ----

# The kernel defines the parameters of callbacks, so some are unused.
target_arch.x86_64 := x86
target_arch.aarch64 := arm64
bpf_flags := -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(target_arch.$(machine)) -I. -I$(SYSROOT)/usr/include/$(machine)-linux-gnu \
	-Wall -Wextra -Wno-unused-parameter -Werror
define bpf_object
	$(call say,BPF,$<)
	$(V)mkdir -p $(@D)
	$(V)$(CLANG) $(1) $(bpf_flags) -MMD -MP -MF $(@:.o=.d) -c $< -o $@
	$(V)$(LLVM_STRIP) -g $@  # the DWARF; BTF stays
endef

# The skeleton is generated as C: warnings about its conversions are of no use, and clang knows no _Bool in C++.
define skeleton_of
	$(call say,SKEL,$@)
	$(V){ echo '#pragma GCC system_header'; $(BPFTOOL) gen skeleton $< name $* | sed 's/\b_Bool\b/bool/'; } >$@
endef

$(B)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(call bpf_object)
$(B)/bpf/%.skel.h: $(B)/bpf/%.bpf.o
	$(skeleton_of)
$(B)/tests/bpf/%.bpf.o: tests/bpf/%.bpf.c Makefile
	$(call bpf_object)
$(B)/tests/bpf/%.skel.h: $(B)/tests/bpf/%.bpf.o
	$(skeleton_of)
.PRECIOUS: $(B)/bpf/%.bpf.o $(B)/tests/bpf/%.bpf.o

# Only the room with libbpf and one file of the tests include the skeletons. Before the first build there is no .d
# file that says so.
$(call part_obj,$(filter daemon.kernel.%,$(engine_parts))) $(call obj,tests/support/verified.cpp tests/support/x86_64/emulated_by_bpf.cpp): | $(skeletons) $(test_skeletons)
$(call asan_part_obj,$(filter daemon.kernel.%,$(engine_parts))) $(call asan_obj,tests/support/verified.cpp tests/support/x86_64/emulated_by_bpf.cpp): | $(skeletons) $(test_skeletons)

# ---- the page of `report --html`: its parts, joined to one text ----

page := $(B)/page/page.h
# The part that starts the page comes after all others.
page_js := $(filter-out client/page/main.js,$(sort $(wildcard client/page/*.js))) client/page/main.js

# Browsers run only these scripts, which they know by the hash of the text between the tags. The first tag is on
# a line of its own.
hash_of = $$(printf "$$( { echo; cat $(1); } | sha256sum | head -c 64 | sed 's/../\\x&/g')" | base64)

$(B)/page/page.js: $(page_js) Makefile
	$(V)mkdir -p $(@D)
	$(V){ echo '(() => {'; echo "'use strict';"; cat $(page_js); echo '})();'; } >$@
$(B)/page/page.html: client/page/page.html client/page/page.css $(B)/page/page.js
	$(call say,PAGE,$@)
	$(V)sed -e "s|@STYLE_HASH@|$(call hash_of,client/page/page.css)|;s|@SCRIPT_HASH@|$(call hash_of,$(B)/page/page.js)|" \
		-e '/^@STYLE@$$/{r client/page/page.css' -e 'd}' -e '/^@SCRIPT@$$/{r $(B)/page/page.js' -e 'd}' $< >$@
$(page): $(B)/page/page.html
	$(V){ printf 'namespace tracectl {\ninline constexpr char kPage[] = R"page('; cat $<; printf ')page";\n}\n'; } >$@

# Before the first build there is no .d file that says which sources include it.
$(call part_obj,$(filter client.page.%,$(client_parts))): | $(page)
$(call asan_part_obj,$(filter client.page.%,$(client_parts))): | $(page)

# ---- objects and libraries ----

$(B)/parts/%.cpp: $(B)/sources/%
	$(V)mkdir -p $(@D)
	$(V)printf '#include "%s"\n' $($*_src) >$@
.PRECIOUS: $(B)/parts/%.cpp $(B)/sources/%

$(B)/obj/%.o: %.cpp Makefile
	$(call say,CXX,$<)
	$(V)mkdir -p $(@D)
	$(V)$(CXX) $(cxx_flags) -MMD -MP -c $< -o $@
$(call obj,$(support_src)) $(call part_obj,$(test_parts)): CXXFLAGS := $(TEST_CXXFLAGS)

# A part includes sources, and gcc warns of classes there with members from unnamed namespaces as it does in headers.
$(B)/obj/parts/%.o: $(B)/parts/%.cpp Makefile
	$(call say,CXX,"$*: $(notdir $($*_src))")
	$(V)mkdir -p $(@D)
	$(V)$(CXX) $(cxx_flags) -Wno-subobject-linkage -MMD -MP -c $< -o $@

# The fuzz targets once more, as functions with the names of their sources, for the unit test that runs their seeds.
seeds_obj := $(if $(is_x86_64),$(patsubst tests/fuzz/%.cpp,$(B)/seeds/%.o,$(fuzz_src)))
$(B)/seeds/%.o: tests/fuzz/%.cpp Makefile
	$(call say,SEEDS,$<)
	$(V)mkdir -p $(@D)
	$(V)$(CXX) $(cxx_flags) $(TEST_CXXFLAGS) -DLLVMFuzzerTestOneInput=$* -MMD -MP -c $< -o $@
$(B)/seeds/targets.inc: $(B)/sources/fuzz
	$(V)mkdir -p $(@D)
	$(V)printf 'FUZZ_TARGET(%s)\n' $(basename $(notdir $(fuzz_src))) >$@
$(call part_obj,$(unit_parts)): | $(B)/seeds/targets.inc

$(B)/obj/%.o: %.c Makefile
	$(call say,CC,$<)
	$(V)mkdir -p $(@D)
	$(V)$(CC) $(c_flags) $(CFLAGS) $(warnings) -Wpedantic -MMD -MP -c $< -o $@

$(B)/test/%.o: %.cpp Makefile
	$(call say,TEST,$<)
	$(V)mkdir -p $(@D)
	$(V)$(CXX) $(cxx_flags) -DTRACECTL_TEST_BUILD -MMD -MP -c $< -o $@

$(B)/asan/%.o: %.cpp Makefile
	$(call say,ASAN,$<)
	$(V)mkdir -p $(@D)
	$(V)$(CLANGXX) $(asan_flags) -MMD -MP -c $< -o $@

$(B)/asan/parts/%.o: $(B)/parts/%.cpp Makefile
	$(call say,ASAN,"$*: $(notdir $($*_src))")
	$(V)mkdir -p $(@D)
	$(V)$(CLANGXX) $(asan_flags) -MMD -MP -c $< -o $@

$(B)/asan/%.o: %.c Makefile
	$(call say,ASAN,$<)
	$(V)mkdir -p $(@D)
	$(V)$(CLANG) $(c_flags) -O1 -g -fno-omit-frame-pointer -Wall -Werror $(sanitize) -MMD -MP -c $< -o $@

# The archive is removed first, so that it has no objects of deleted sources.
define archive
	$(call say,AR,$@)
	$(V)mkdir -p $(@D)
	$(V)rm -f $@
	$(V)$(AR) rcs $@ $(filter %.o,$^)
endef

# The list of sources, written only when it changes: adding or deleting a file rebuilds the archive.
$(B)/sources/%: force
	$(V)mkdir -p $(@D)
	$(V)echo '$($*_src)' | cmp -s - $@ || echo '$($*_src)' >$@
.PHONY: force

$(B)/libtracectl-engine.a: $(engine_obj) $(B)/sources/engine
	$(archive)
$(B)/libtracectl-client.a: $(call part_obj,$(client_parts)) $(B)/sources/client
	$(archive)
$(B)/libtracectl-generator.a: $(call part_obj,$(generator_parts)) $(B)/sources/generator
	$(archive)
$(B)/libtests-support.a: $(call obj,$(support_src)) $(B)/sources/support
	$(archive)
$(runtime): $(call obj,$(runtime_src)) $(B)/sources/runtime
	$(archive)
$(runtime_so): $(call obj,$(runtime_src)) $(B)/sources/runtime
	$(call say,LINK,$@)
	$(V)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,defs $(filter %.o,$^) -pthread -o $@
$(B)/asan/libtracectl-usdt.a: $(call asan_obj,$(runtime_src)) $(B)/sources/runtime
	$(archive)
$(B)/asan/libtracectl-engine.a: $(asan_engine_obj) $(B)/sources/engine
	$(archive)
$(B)/asan/libtracectl-client.a: $(call asan_part_obj,$(client_parts)) $(B)/sources/client
	$(archive)
$(B)/asan/libtracectl-generator.a: $(call asan_part_obj,$(generator_parts)) $(B)/sources/generator
	$(archive)
$(B)/asan/libtests-support.a: $(call asan_obj,$(support_src)) $(B)/sources/support
	$(archive)

# ---- programs ----

define link
	$(call say,LINK,$@)
	$(V)mkdir -p $(@D)
	$(V)$(CXX) $(CXXFLAGS) $(LDFLAGS) $(DEBUG_LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(1) $(LDLIBS) -o $@
endef
define link_sanitized
	$(call say,LINK,$@)
	$(V)mkdir -p $(@D)
	$(V)$(CLANGXX) -g $(sanitize) $(2) $(filter %.o,$^) $(filter %.a,$^) $(1) $(LDLIBS) -o $@
endef

engine := $(B)/libtracectl-engine.a
client := $(B)/libtracectl-client.a
generator := $(B)/libtracectl-generator.a
support := $(B)/libtests-support.a
asan_tested := $(patsubst %,$(B)/asan/libtracectl-%.a,client generator engine usdt)

$(B)/tracectld: $(call obj,$(daemon_src)) $(engine)
	$(call link)
$(B)/tracectl: $(call obj,$(client_main)) $(client) $(generator) $(engine)
	$(call link,$(client_libs))
# The JSON Schema of the protocol, made from the messages in daemon/protocol.
$(schema): $(B)/tracectl
	$(call say,SCHEMA,$@)
	$(V)$(RUN) $< schema >$@
# tracectl-usdt runs where programs are built: it has only the engine's errors and descriptors, and no libraries.
$(B)/tracectl-usdt: LDLIBS :=
$(B)/tracectl-usdt: $(call obj,$(generator_main) daemon/base/result.cpp daemon/base/fd.cpp) $(generator)
	$(call link)
$(B)/unit-tests: $(call part_obj,$(unit_parts)) $(seeds_obj) $(support) $(client) $(generator) $(engine) $(runtime) $(B)/sources/unit
	$(call link,$(client_libs) $(test_libs))
# step_obj are given as objects, so that the linker does not take those of the same sources from the engine's
# library. tests/support/changed_programs.cpp wraps a function of libbpf.
kernel_test_flags := -Xlinker --wrap=bpf_object__open_skeleton
changed_programs := $(call obj,tests/support/changed_programs.cpp)
$(B)/kernel-tests: $(call part_obj,$(kernel_test_parts)) $(changed_programs) $(step_obj) $(support) $(engine) $(B)/sources/kernel_test
	$(call link,$(kernel_test_flags) $(test_libs))
$(test_daemon): $(call obj,$(daemon_src)) $(step_obj) $(support) $(engine)
	$(call link)
$(bench_bins): $(B)/bench/%: $(B)/obj/tests/bench/%.o $(support) $(engine)
	$(call link)
$(B)/soak: $(call obj,$(soak_src)) $(support) $(engine)
	$(call link)
# The tests themselves need no sanitizer; their objects are those of unit-tests. The tested libraries come first,
# so that the linker takes the sanitized copy of each inline function.
$(B)/asan/unit-tests: $(asan_tested) $(call part_obj,$(unit_parts)) $(seeds_obj) $(support) $(B)/sources/unit
	$(call say,LINK,$@)
	$(V)$(CLANGXX) $(sanitize) -fsanitize=fuzzer-no-link -Wl,--whole-archive $(asan_tested) -Wl,--no-whole-archive \
		$(filter %.o,$^) $(support) $(client_libs) $(test_libs) $(LDLIBS) -o $@
$(fuzz_bins): $(B)/fuzz/%: $(B)/asan/tests/fuzz/%.o $(B)/asan/libtests-support.a $(B)/asan/libtracectl-client.a \
		$(B)/asan/libtracectl-generator.a $(B)/asan/libtracectl-engine.a
	$(call link_sanitized,$(client_libs),-fsanitize=fuzzer)

# ---- mutants ----

# tests/mutate puts changed sources into the folder M, which is searched before the tree. Changed BPF programs
# are an object file, which kernel-tests load in place of the built-in programs.
ifdef M
$(M)/bpf/tracer.bpf.o: $(M)/bpf/tracer.bpf.c
	$(call bpf_object,-DTC_TEST_DELAY -I$(M))

changed := $(patsubst $(M)/%,%,$(wildcard $(M)/daemon/*/*.cpp $(M)/daemon/*/*/*.cpp))
changed_steps := $(filter $(step_src),$(changed))
changed_parts := $(foreach part,$(engine_parts),$(if $(filter $(changed),$($(part)_src)),$(part)))
mutant_obj := $(patsubst %.cpp,$(M)/%.o,$(changed_steps)) $(patsubst %,$(M)/parts/%.o,$(changed_parts))
mutant_obj += $(patsubst %.cpp,$(B)/test/%.o,$(filter-out $(changed_steps),$(step_src)))

# Mutants are run once and deleted, so they have no debug information.
$(M)/%.o: CXXFLAGS += -g0
$(patsubst %.cpp,$(M)/%.o,$(changed_steps)): $(M)/%.o: $(M)/%.cpp
	$(call say,CXX,$@)
	$(V)$(CXX) $(cxx_flags) -DTRACECTL_TEST_BUILD -c $< -o $@
$(M)/parts/%.o: $(B)/parts/%.cpp
	$(call say,CXX,$@)
	$(V)mkdir -p $(@D)
	$(V)$(CXX) -I$(M) $(cxx_flags) -Wno-subobject-linkage -c $< -o $@
$(M)/kernel-tests: $(call part_obj,$(kernel_test_parts)) $(changed_programs) $(mutant_obj) $(support) $(engine)
	$(call link,$(kernel_test_flags) -Xlinker --strip-debug $(test_libs))
$(M)/unit-tests: $(call part_obj,$(unit_parts)) $(seeds_obj) $(mutant_obj) $(support) $(client) $(generator) $(engine) $(runtime)
	$(call link,-Xlinker --strip-debug $(client_libs) $(test_libs))
endif

# ---- programs to trace: one file each. A first line `build: FLAGS` gives its flags, a second line
# `compiler: PROGRAM` its compiler. Programs named runtime_* make probes at run time ----

define target
	$(call say,TARGET,$@)
	$(V)mkdir -p $(@D)
	$(V)flags=$$(sed -n '1s,^// build: ,,p' $<); \
	compiler=$$(sed -n '2s,^// compiler: ,,p' $<); \
	$${compiler:-$(1)} $${flags:--O2 -g} -Wall -Wextra -Werror -I. -I$(B) -Iusdt/include -MMD -MP -MF $@.d -MT $@ \
		$< $(filter %.a,$^) -o $@
endef
# The header of typed probes of a target that has a provider file.
$(B)/targets/%.h: tests/targets/%.d $(B)/tracectl-usdt
	$(call say,USDT,$@)
	$(V)mkdir -p $(@D)
	$(V)$(RUN) $(B)/tracectl-usdt -h -s $< -o $@
$(patsubst tests/targets/%.d,$(B)/targets/%,$(wildcard tests/targets/*.d)): $(B)/targets/%: $(B)/targets/%.h
$(B)/targets/%: tests/targets/%.c Makefile
	$(call target,$(CC))
$(B)/targets/%: tests/targets/%.cpp Makefile
	$(call target,$(CXX) -std=c++20)
$(filter $(B)/targets/runtime_%,$(targets)): $(runtime)

# ---- tests ----

check: all $(unit_bin) $(kernel_bin) $(test_daemon) deb
	@/usr/bin/python3 tests/run
# The sanitized programs are built by their stages.
check-all: all $(unit_bin) $(kernel_bin) $(test_daemon) $(soak_bin) $(bench_bins) deb $(tested_image)
	@/usr/bin/python3 tests/run matrix e2e-rest lint asan mutants fuzz model soak
build-fuzz: $(fuzz_bins)

# The kernels that Debian has, in virtual machines: hours; matrix-short: minutes.
matrix: all $(kernel_bin) $(if $(CROSS),$(B)/bench/verifier,$(bench_bins))
	@/usr/bin/python3 tests/matrix/run --document $(of_others)
matrix-short: all $(B)/bench/verifier
	@/usr/bin/python3 $(if $(CROSS),tests/matrix/run --short $(of_others),tests/run matrix)

# In a Debian tree of its own.
debian13:
	@tests/debian13

unit: $(targets) $(unit_bin)
	@$(if $(CROSS),SYSROOT=$(SYSROOT) $(RUN) $(unit_bin),/usr/bin/python3 tests/run unit)
asan: $(targets)
	@/usr/bin/python3 tests/run asan
model:
	@/usr/bin/python3 tests/run model
kernel-test: all $(kernel_bin)
	@/usr/bin/python3 tests/run kernel
mutants: all $(kernel_bin) $(unit_bin)
	@ALL_MUTANTS=1 /usr/bin/python3 tests/run mutants
e2e: all $(test_daemon) deb $(tested_image)
	@/usr/bin/python3 tests/run e2e e2e-rest
fuzz:
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-60} /usr/bin/python3 tests/run fuzz

bench: all $(bench_bins)
	@for program in $(bench_bins); do echo "== $$(basename $$program)"; $$program; done
	@for program in begin restart page status many real fields; do echo "== $$program"; /usr/bin/python3 tests/bench/$$program.py; done
soak: all $(soak_bin)
	@SOAK_SECONDS=$${SOAK_SECONDS:-600} /usr/bin/python3 tests/run -v soak
soak-upgrade: all deb
	@UPGRADES=$${UPGRADES:-500} /usr/bin/python3 tests/run -v upgrade
soak-overload: all
	@OVERLOAD_SECONDS=$${OVERLOAD_SECONDS:-3600} /usr/bin/python3 tests/run -v overload
soak-growth: all
	@cd tests/e2e && GROWTH_SESSIONS=$${GROWTH_SESSIONS:-10000} /usr/bin/python3 -m unittest -v growth_test
demo: all
	@scripts/demo

# ---- lint ----

formatted = $(shell find $(wildcard daemon usdt client tests) \( -name '*.h' -o -name '*.cpp' -o -name '*.c' \) | sort)

lint: check-includes check-format check-python $(patsubst %.cpp,$(B)/lint/%.tidy,$(single_src)) $(patsubst %,$(B)/lint/parts/%.tidy,$(product_parts))

# A source of which the last commits changed only a header is left out here; `make lint` lints it.
changed_src = $(or $(shell git diff --name-only HEAD~10 -- 2>/dev/null),$(single_src) $(engine_src) $(client_src) $(generator_src))
lint-changed: check-includes check-format check-python
	@$(MAKE) --keep-going $(patsubst %.cpp,$(B)/lint/%.tidy,$(filter $(single_src),$(changed_src))) \
		$(foreach part,$(product_parts),$(if $(filter $($(part)_src),$(changed_src)),$(B)/lint/parts/$(part).tidy)) nothing
nothing:

check-includes: $(B)/lint/bpf-headers
	@/usr/bin/python3 scripts/check-includes --self-test
	@/usr/bin/python3 scripts/check-includes

# Each header of the BPF programs compiles alone.
$(B)/lint/bpf-headers: $(wildcard bpf/*.h)
	$(call say,ALONE,"bpf/*.h")
	$(V)mkdir -p $(@D)
	$(V)$(CLANG) $(bpf_flags) -Wno-unused-function -fsyntax-only $^
	$(V)touch $@

check-format:
	@$(CLANG_FORMAT) --dry-run -Werror $(formatted)

# The types of the Python client and of the exporters: client/python/pyproject.toml says how strictly.
check-python: $(B)/lint/python
$(B)/lint/python: $(wildcard client/python/*.py client/python/*.toml client/python/tracectl-*)
	$(call say,MYPY,"client/python")
	$(V)mkdir -p $(@D)
	$(V)cd client/python && $(MYPY) --no-error-summary --cache-dir $(CURDIR)/$(B)/mypy
	$(V)touch $@

format:
	$(CLANG_FORMAT) -i $(formatted)

# The object depends on its headers, so a file is linted again when the file or one of its headers changes.
define tidy
	$(V)mkdir -p $(@D)
	$(V)$(CLANG_TIDY) --quiet $< -- -std=c++20 $(CPPFLAGS) 2>&1 >$@.out | \
		sed '/warnings\? generated\.$$/d' || { cat $@.out; false; }
	$(V)mv $@.out $@
endef
$(B)/lint/parts/%.tidy: $(B)/parts/%.cpp $(B)/obj/parts/%.o .clang-tidy
	$(call say,TIDY,"$*: $(notdir $($*_src))")
	$(tidy)
$(B)/lint/%.tidy: %.cpp $(B)/obj/%.o .clang-tidy
	$(call say,TIDY,$<)
	$(tidy)

# ---- install ----

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
# For the Python package, where Python itself searches. None by default: pip knows the folders of each Python.
PYTHONDIR ?=
to = $(DESTDIR)$(PREFIX)

# install_to: mode, folder, files (none is fine)
install_to = $(if $(strip $(3)),install -d '$(2)' && install -m $(1) $(3) '$(2)',:)

# The exporters find the Python client in their own folder, also when they are started by a symbolic link.
exporters := $(wildcard client/python/tracectl-*)
units := $(wildcard systemd/*.service systemd/*.socket)

# The units contain Debian's paths of the programs, which are replaced here.
install: build
	@$(call install_to,755,$(to)/bin,$(filter-out %/tracectld,$(programs)))
	@$(call install_to,755,$(to)/sbin,$(filter %/tracectld,$(programs)))
	@$(call install_to,644,$(to)/share/tracectl/python,$(wildcard client/python/*.py))
	@$(call install_to,755,$(to)/share/tracectl/python,$(exporters))
	@$(foreach e,$(notdir $(exporters)),ln -sf ../share/tracectl/python/$(e) '$(to)/bin/$(e)';)
	@$(if $(PYTHONDIR),$(call install_to,644,$(DESTDIR)$(PYTHONDIR)/tracectl,$(wildcard client/python/packaged/*)),:)
	@$(call install_to,644,$(DESTDIR)$(LIBDIR),$(runtime) $(runtime_so))
	@ln -sf $(notdir $(runtime_so)) '$(DESTDIR)$(LIBDIR)/$(basename $(notdir $(runtime_so)))'
	@$(call install_to,644,$(to)/include/tracectl,$(wildcard usdt/include/tracectl/*.h))
	@$(call install_to,644,$(DESTDIR)$(UNITDIR),$(units))
	@sed -i 's,=/usr/\(s*bin\)/tracectl,=$(PREFIX)/\1/tracectl,' $(patsubst %,'$(DESTDIR)$(UNITDIR)/%',$(notdir $(units)))
	@install -D -m 644 systemd/sysusers.conf '$(DESTDIR)$(SYSUSERSDIR)/tracectld.conf'
	@install -D -m 644 systemd/tmpfiles.conf '$(DESTDIR)$(TMPFILESDIR)/tracectld.conf'
	@$(foreach s,1 3 5 7 8,$(call install_to,644,$(to)/share/man/man$(s),$(wildcard docs/man/*.$(s)));)
	@$(call install_to,644,$(to)/share/tracectl,$(schema))
	@$(call install_to,644,$(to)/share/tracectl/grafana,$(wildcard packaging/grafana/*))
	@$(call install_to,644,$(to)/share/bash-completion/completions,packaging/completions/tracectl)
	@$(call install_to,644,$(to)/share/zsh/site-functions,packaging/completions/_tracectl)
	@$(call install_to,644,$(to)/share/fish/vendor_completions.d,packaging/completions/tracectl.fish)

# ---- packages of Debian: made from what is built, in a tree of links to this one ----

package := $(B)/deb/tracectl-$(VERSION)

deb: $(B)/deb/made
$(B)/deb/made: $(programs) $(schema) $(runtime) $(runtime_so) $(wildcard packaging/debian/* packaging/completions/* packaging/grafana/* \
		systemd/* client/python/* client/python/packaged/* docs/man/* usdt/include/tracectl/*.h)
	$(call say,DEB,$(@D))
	$(V)rm -rf $(@D) && mkdir -p $(package)
	$(V)ln -s $(addprefix $(CURDIR)/,$(wildcard *) $(B)) $(package)/
	$(V)cp -r packaging/debian $(package)/debian
	$(V)sed -i '1s/(.*)/($(VERSION)-1)/' $(package)/debian/changelog
	$(V)cd $(package) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL DEB_BUILD_OPTIONS=noautodbgsym \
		dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes >../log 2>&1 || { cat ../log; false; }
	$(V)touch $@

# ---- the image: made from what is built, and from the libraries of this machine ----

image: $(image)
	@echo "$<: $$(stat -c %s $< | numfmt --to=iec-i --suffix=B), compressed"
$(image): $(B)/tracectld $(B)/tracectl $(wildcard packaging/image/*) LICENSE
	$(call say,IMAGE,$@)
	$(V)mkdir -p $(@D)
	$(V)packaging/image/make-image $(B)/tracectld $(B)/tracectl $@

clean:
	rm -rf $(B)

-include $(patsubst %.o,%.d,$(engine_obj) $(call part_obj,$(client_parts) $(generator_parts) $(test_parts)) \
	$(call obj,$(single_src) $(support_src) $(bench_src) $(soak_src) $(runtime_src)) $(step_obj) $(seeds_obj) \
	$(asan_engine_obj) $(call asan_part_obj,$(client_parts) $(generator_parts)) \
	$(call asan_obj,$(runtime_src) $(support_src) $(fuzz_src)))
-include $(B)/bpf/tracer.bpf.d $(B)/bpf/emulator.bpf.d $(B)/tests/bpf/emulate_states.bpf.d $(addsuffix .d,$(targets))
