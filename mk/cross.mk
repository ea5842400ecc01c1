# Target libraries that the cross compiler lacks (mk/arch.mk): files from
# Debian's packages for the target, which are not installed here. Also the
# source of a real program, for tests of ports (tests/arch/test_program.py).

DEBIAN_aarch64 := arm64
DEBIAN_arm := armhf
DEBIAN_mips64el := mips64el
SYSROOT_PACKAGES := libzstd-dev libcmocka-dev libcmocka0

.PHONY: sysroots
sysroots: $(foreach a,aarch64 arm mips64el,build/$a/sysroot/.fetched)
build/%/sysroot/.fetched: mk/cross.mk tests/tools/fetch-sysroot \
		tests/tools/private-apt
	$(call say,FETCH,$(@D))tests/tools/fetch-sysroot $(DEBIAN_$*) $(@D) \
		$(SYSROOT_PACKAGES) && touch $@

.PHONY: sources
sources: build/sources/lua5.4/.fetched
build/sources/%/.fetched: tests/tools/fetch-source tests/tools/private-apt
	$(call say,FETCH,$(@D))tests/tools/fetch-source $* $(@D) && touch $@

ifdef CROSSED
SYSROOT ?= build/$(ARCH)/sysroot
SYSROOT_LIB = $(SYSROOT)/usr/lib $(wildcard $(SYSROOT)/usr/lib/*-linux-gnu*)
SYSROOT_LINK := $(addprefix -L,$(SYSROOT_LIB))
RECORDER_ZSTD := $(wildcard $(addsuffix /libzstd.a,$(SYSROOT_LIB)))

# Headers that are the same everywhere.
HEADERS := $(O)/headers
$(HEADERS)/%.h:
	$(Q)mkdir -p $(@D) && cp $(firstword \
		$(wildcard $(SYSROOT)/usr/include/$*.h) /usr/include/$*.h) $@
HOST_CFLAGS += -I$(HEADERS)
HOST_HEADERS := $(HEADERS)/xxhash.h \
	$(if $(RECORDER_ZSTD),$(HEADERS)/zstd.h $(HEADERS)/zstd_errors.h)
.SECONDARY: $(HOST_HEADERS)
else
RECORDER_ZSTD := yes
endif
