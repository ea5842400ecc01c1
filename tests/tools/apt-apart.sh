# Sourced by what fetches of Debian's archive: a state of apt's own in $work, for
# $architecture, one of Debian's, and $kind: "deb" or "deb-src". The host's
# package database is neither asked nor changed; files come from where the host's
# Debian packages come from. $work goes when the shell ends.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" \
	"$work/etc" "$work/files"
: >"$work/state/status"

keys=
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ ! -e $keyring ] || keys="[signed-by=$keyring] "
apt-get indextargets 'Created-By: Packages' --format \
	'$(ORIGIN)|$(COMPONENT)|$(REPO_URI)|$(RELEASE)' |
	awk -F '|' -v keys="$keys" -v kind="$kind" \
	'$1 == "Debian" && $2 == "main" && !/security/ {
		line = kind " " keys $3 " " $4 " main"
		if (!seen[line]++)
			print line
	}' >"$work/etc/sources.list"
cat >"$work/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures "$architecture";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "$work/state";
Dir::State::status "$work/state/status";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/etc/sources.list";
Dir::Etc::sourceparts "-";
END
export APT_CONFIG="$work/apt.conf"
apt-get -qq update
