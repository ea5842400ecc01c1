# Archives.
#
#   make dist      $(O)/gnomon-VERSION.tar.gz: the sources, as committed
#   make tarball   $(O)/gnomon-VERSION-ARCH-linux.tar.gz: the files of `make
#                  install`, to be unpacked anywhere on any Linux of this
#                  architecture. The command needs no shared library: it is
#                  linked with archives, as the recorder always is. Nor does the
#                  preloaded library, which works under glibc and musl.
#
#   make check-tarball   the same archive in bare roots of Debian 11, 12 and 13, as
#                  root; not part of check, since it downloads them
#
# Left out of the static command:
#   dlopen    of libdebuginfod, since a library for another glibc than the
#             command's cannot be loaded: it contacts no debuginfod servers
#   TLS       of libmicrohttpd, which gnomon never uses: Debian has not all
#             libraries that GnuTLS needs as archives
# --chown does not know users and groups that only a service knows (LDAP,
# systemd).

DIST := $(O)/gnomon-$(VERSION).tar.gz
TARBALL_NAME := gnomon-$(VERSION)-$(ARCH)-linux
TARBALL := $(O)/$(TARBALL_NAME).tar.gz
STATIC_O := $(O)/static
STATIC_CMD := $(STATIC_O)/gnomon
# Archives that the other libraries need.
STATIC_LIBS := -ltinfo -lbsd -lmd

.PHONY: dist tarball check-tarball
dist:
	$(call say,DIST,$(DIST))mkdir -p $(O)
	$(Q)git archive --format=tar.gz --prefix=gnomon-$(VERSION)/ \
		-o $(DIST) HEAD

# Functions of TLS that fail (GNUTLS_E_UNIMPLEMENTED_FEATURE); no dlopen.
$(STATIC_O)/left_out.c: $(call made-by,tarball) | $(call packages,build tarball)
	$(call say,STATIC,$@)mkdir -p $(@D)
	$(Q)nm -u "$$($(CC) -print-file-name=libmicrohttpd.a)" 2>/dev/null | \
		awk '$$2 ~ /^gnutls_/ && !seen[$$2]++ \
			{ print "long " $$2 "(void) { return -1250; }" } \
		END { print "void *dlopen(const char *name, int flags)"; \
			print "{ (void)name; (void)flags; return 0; }" }' >$@

$(STATIC_CMD): $(CLI_OBJ) $(HOST_SHARED_OBJ) $(STATIC_O)/left_out.c \
		$(call made-by,host)
	$(call say,LD,$@)true
	$(Q)$(CC) -static-pie -w $(CFLAGS) $(LDFLAGS) -o $@ \
		$(filter %.o %/left_out.c,$^) $(HOST_LIBS) $(STATIC_LIBS) \
		2>$@.log || { cat $@.log >&2; exit 1; }

# The archive is reproducible. pkg-config finds it where it is unpacked.
TARBALL_DATE ?= $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct))
tarball: all docs $(STATIC_CMD)
	$(call say,TARBALL,$(TARBALL))rm -rf $(STATIC_O)/$(TARBALL_NAME)
	$(Q)$(MAKE) --no-print-directory -s install prefix= \
		DESTDIR='$(STATIC_O)/$(TARBALL_NAME)' INSTALL_CMD=$(STATIC_CMD) \
		pcprefix='$$$${pcfiledir}/../..'
	$(Q)cd $(STATIC_O)/$(TARBALL_NAME) && strip -g lib/gnomon/* lib/*.so.*.* \
		lib/*.a
	$(Q)cp LICENSE README.md $(STATIC_O)/$(TARBALL_NAME)
	$(Q)tar -C $(STATIC_O) --sort=name --owner=0 --group=0 --numeric-owner \
		--mtime=@$(TARBALL_DATE) -cf - $(TARBALL_NAME) | gzip -n9 >$(TARBALL)

check-tarball: tarball | $(call packages,fresh)
	$(Q)FRESH_DIR=$(abspath $(O))/fresh TARBALL=$(abspath $(TARBALL)) \
		tests/tools/check-fresh $(addprefix tarball-,\
			$(or $(ROOMS),bullseye bookworm trixie))
