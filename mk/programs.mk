# Real programs of Debian, bare and recorded.
#
#   make deps-programs              the packages they come from (by apt)
#   make check-programs [T=text]    all, or those with that in "group: name";
#                                   writes docs/COMPATIBILITY.md once all ran
#
# check-programs installs nothing: what is missing is left out, and said. Some
# of the packages would start a server; RUNLEVEL=1 tells Debian not to.

DEPS_PROGRAMS := apache2 apache2-utils bc bind9-dnsutils brotli busybox \
	chromium clang cmake cppcheck curl dash default-jre-headless emacs-nox \
	fd-find ffmpeg fish g++ gawk gdb ghostscript git gnuplot-nox gnupg \
	golang-go graphviz groff-base guile-3.0 haproxy htop imagemagick jq ksh \
	less libimage-exiftool-perl libpython3.11-testsuite libxml2-utils \
	lighttpd lua5.4 lz4 mariadb-server mawk mc memcached mercurial nano \
	nginx-light ninja-build nodejs openssh-client openssl pandoc perl \
	php-cli poppler-utils postgresql-15 procps python3 r-base-core \
	redis-server redis-tools ripgrep rsync ruby ruby-webrick rustc sox \
	sqlite3 strace subversion swi-prolog-nox tcl tmux unbound vim w3m wget \
	wrk xz-utils zip zsh zstd

COMPAT_RUN = GNOMON_BUILD=$(abspath $(O)) /usr/bin/python3 -B \
	tests/compat/check.py $(if $(T),-p '$(T)') \
	--results $(O)/compatibility.json --document docs/COMPATIBILITY.md

.PHONY: deps-programs check-programs
deps-programs: deps
	$(Q)RUNLEVEL=1 tests/tools/install-packages $(DEPS_PROGRAMS)
$(TEST_O)/libcounter.so: tests/compat/libcounter.c
	$(call say,SHARED,$@)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -Wextra -fPIC -shared -fno-builtin -o $@ $<
check-programs: all $(TEST_O)/trace_dump $(TEST_O)/libcounter.so
	$(Q)$(COMPAT_RUN)
