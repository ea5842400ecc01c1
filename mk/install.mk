# Installing.
#
#   make install         the command, its libraries, headers, pages of the manual;
#                        with ARCH= the files that `gnomon run` needs for
#                        programs of another architecture
#   make install-target  the files for a target, in its root: ARCH= DESTDIR=
#   make uninstall       removes what these two have installed, given the same
#                        variables
#
# Variables are those of the GNU coding standards. PREFIX is another name of
# prefix. DESTDIR precedes every path, but no installed file contains it.
#
#   libexecdir/gnomon    gnomon's internal files: the command, the preloaded
#                        library, the recorder. They find each other since they
#                        lie in one folder. libexecdir defaults to libdir
#   bindir/gnomon        a relative link to the command there: the command finds
#                        its library under any folder names, and after the tree
#                        is moved as a whole

prefix = $(PREFIX)
exec_prefix = $(prefix)
bindir = $(exec_prefix)/bin
libdir = $(exec_prefix)/lib
libexecdir = $(libdir)
includedir = $(prefix)/include
datarootdir = $(prefix)/share
datadir = $(datarootdir)
mandir = $(datarootdir)/man
pkgconfigdir = $(libdir)/pkgconfig
bashcompletiondir = $(datadir)/bash-completion/completions
zshfunctiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
privatedir = $(libexecdir)/gnomon
# For archives that can be unpacked anywhere (mk/tarball.mk).
pcprefix = $(prefix)
INSTALL_CMD = $(CMD)

# Files: mode, source, destination.
INSTALL_LIBRARY = \
	755|$(LIB)|$(privatedir)/libgnomon.so \
	755|$(LIB_OFF)|$(privatedir)/libgnomon-off.so \
	$(foreach r,$(RECORDER) $(RECORDER_OTHER),\
		755|$r|$(privatedir)/$(notdir $r)) \
	$(foreach h,$(notdir $(wildcard library/gnomon/*.h)),\
		644|library/gnomon/$h|$(includedir)/gnomon/$h) \
	$(foreach a,$(STUB_A) $(UNWIND_A),644|$a|$(libdir)/$(notdir $a)) \
	$(foreach s,$(STUB_SO) $(UNWIND_SO),755|$s|$(libdir)/$(notdir $s))
INSTALL_COMMAND = \
	755|$(INSTALL_CMD)|$(privatedir)/gnomon \
	644|$(O)/completion/gnomon.bash|$(bashcompletiondir)/gnomon \
	644|$(O)/completion/_gnomon|$(zshfunctiondir)/_gnomon \
	644|$(O)/completion/gnomon.fish|$(fishcompletiondir)/gnomon.fish
INSTALL_PC := gnomon.pc gnomon-unwind.pc

define newline


endef
to = '$(DESTDIR)$(1)'
part = $(word $(1),$(subst |, ,$(2)))
install-files = $(foreach f,$(1),install -D -m $(call part,1,$f) \
	$(call part,2,$f) $(call to,$(call part,3,$f))$(newline)	)
remove-files = $(foreach f,$(1),rm -f \
	$(call to,$(call part,3,$f))$(newline)	)
# A path in pkg-config's form: relative to the prefix if it is below it.
below-prefix = $(patsubst $(prefix)/%,$${prefix}/%,$(1))
install-pc = sed -e 's,@PREFIX@,$(pcprefix),' -e 's,@VERSION@,$(VERSION),' \
	-e 's,@LIBDIR@,$(call below-prefix,$(libdir)),' \
	-e 's,@INCLUDEDIR@,$(call below-prefix,$(includedir)),' \
	$(1).in > $(call to,$(pkgconfigdir)/$(notdir $(1)))

.PHONY: install install-target install-library uninstall uninstall-library
INSTALLS := $(if $(CROSSED),install-target,install \
	$(if $(ARCH_GIVEN),install-target))
$(INSTALLS): install-library
install-library: all
	$(call install-files,$(INSTALL_LIBRARY))
	ln -sf $(STUB_FILE) $(call to,$(libdir)/$(STUB_SONAME))
	ln -sf $(STUB_FILE) $(call to,$(libdir)/$(STUB_NAME).so)
	ln -sf $(UNWIND_FILE) $(call to,$(libdir)/$(UNWIND_SONAME))
	ln -sf $(UNWIND_FILE) $(call to,$(libdir)/$(UNWIND_NAME).so)
	install -d $(call to,$(pkgconfigdir))
	$(call install-pc,stub/gnomon.pc)
	$(call install-pc,library/gnomon-unwind.pc)
	chmod 644 $(foreach p,$(INSTALL_PC),$(call to,$(pkgconfigdir)/$p))

# Other versions, too: installing a newer one over an older leaves both.
uninstall-library:
	$(call remove-files,$(INSTALL_LIBRARY))
	rm -f $(foreach n,$(STUB_NAME) $(UNWIND_NAME),\
		$(call to,$(libdir)/$n).so $(call to,$(libdir)/$n).so.*)
	rm -f $(foreach p,$(INSTALL_PC),$(call to,$(pkgconfigdir)/$p))
	$(call remove-folder,$(includedir)/gnomon)
# Removes only gnomon's own folders, and only if they are empty.
remove-folder = if [ -d $(call to,$(1)) ]; then \
	rmdir --ignore-fail-on-non-empty $(call to,$(1)); fi

ifdef CROSSED
# Files built for another architecture go beside the command's own files, where
# `gnomon run` finds them.
INSTALL_HERE = $(privatedir)/$(ARCH)
INSTALL_OTHER = $(foreach f,$(LIB) $(LIB_OFF) $(RECORDER),\
	755|$f|$(INSTALL_HERE)/$(notdir $f)) \
	755|$(EMULATED)/gnomon-recorder|$(INSTALL_HERE)/emulated/gnomon-recorder
INSTALL_BY = $(INSTALL_HERE)/emulated/by/gnomon-recorder
install: all $(O)/emulated/gnomon-recorder
	$(call install-files,$(INSTALL_OTHER))
	install -d $(call to,$(patsubst %/,%,$(dir $(INSTALL_BY))))
	ln -sf "$$(readlink $(EMULATED)/by/gnomon-recorder)" \
		$(call to,$(INSTALL_BY))
uninstall: uninstall-library
	$(call remove-files,$(INSTALL_OTHER))
	rm -f $(call to,$(INSTALL_BY))
	$(foreach d,$(INSTALL_HERE)/emulated/by $(INSTALL_HERE)/emulated \
		$(INSTALL_HERE) $(privatedir),\
		$(call remove-folder,$d)$(newline)	)
else
ifeq ($(ARCH_GIVEN),)
install-target:
	@echo 'install-target: for which architecture? Say it, and where the root' \
		'of the target is:' >&2; \
	echo '    make ARCH=$(firstword $(ARCH_PORTS)) DESTDIR=/srv/root $@' >&2; \
	echo 'ARCH: $(NATIVE) $(filter-out $(NATIVE),$(ARCH_PORTS))' >&2; exit 1
endif
install: all docs
	$(call install-files,$(INSTALL_COMMAND))
	install -d $(call to,$(bindir)) $(call to,$(mandir)/man1)
	ln -sfr $(call to,$(privatedir)/gnomon) $(call to,$(bindir)/gnomon)
	install -m 644 $(O)/man/*.1 $(call to,$(mandir)/man1)
# Removes manual pages by gnomon's names: listing the pages would need a built
# command.
uninstall: uninstall-library
	$(call remove-files,$(INSTALL_COMMAND))
	rm -f $(call to,$(bindir)/gnomon) $(call to,$(mandir)/man1/gnomon.1) \
		$(call to,$(mandir)/man1)/gnomon-*.1
	$(call remove-folder,$(privatedir))
endif
