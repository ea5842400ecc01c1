"""Shells, and the tools that scripts are made of."""

import gzip
import os

from catalogue import batch

SCRIPT = r"""
i=0; total=0
while [ $i -lt 600 ]; do
	i=$((i + 1)); total=$((total + i * 7919 % 31))
	case $i in *7) text="$text$i,";; esac
done
echo "$total ${#text}"
ls -d /usr /etc | tr a-z A-Z | sort -r | while read -r line; do
	echo "line: $line $(echo "$line" | wc -c)"
done
(cd /usr && pwd) & wait
f() { local n=$1; [ "$n" -gt 0 ] && f $((n - 1)) || echo deep; }
f 50
trap 'echo bye' EXIT
cat <<EOF | grep -c x
x $total
EOF
kill -0 $$ && exit 7
"""

FISH = r"""
set total 0
for i in (seq 300)
    set total (math $total + $i x 7919 % 31)
end
echo $total
ls -d /usr /etc | string upper | sort -r
function f; test $argv[1] -gt 0; and f (math $argv[1] - 1); or echo deep; end
f 20
exit 7
"""


def shell(name, package, *argv, **more):
    batch(name, "Shells and tools", package, [*argv, "-c", SCRIPT], **more)


shell("bash", "bash", "bash")
shell("dash", "dash", "dash")
shell("zsh", "zsh", "zsh", "-f")
shell("ksh", "ksh93u+m", "ksh93")
shell("busybox sh", "busybox", "busybox", "sh", stacks=0.2,
      note="Debian builds it without unwind tables and without frame pointers: "
      "a stack ends at the first of its own frames. The complete stacks are "
      "those of other programs that the script calls.")
batch("fish", "Shells and tools", "fish", ["fish", "--no-config", "-c", FISH])


def lines(place, count=60000):
    place.file("lines", "".join(
        "%d %s word%d\n" % (i * 7919 % 100003, "x" * (i % 40), i)
        for i in range(count)))


def tree(place):
    """Some hundreds of files in folders."""
    for i in range(20):
        for j in range(25):
            place.file("tree/%d/file%d.txt" % (i, j),
                       "text %d\n" % (i * j) * (j * 20))
    for folder, _, names in os.walk(place.path("tree")):
        for name in [folder] + [os.path.join(folder, n) for n in names]:
            os.utime(name, (10 ** 9, 10 ** 9))


def tool(name, package, argv, prepare=lines, **more):
    batch(name, "Shells and tools", package, argv, prepare, **more)


tool("env", "coreutils", ["env"])
tool("sort", "coreutils", ["sort", "-n", "--parallel=2", "lines"])
tool("ls", "coreutils", ["ls", "-lR", "/usr/share/doc"])
tool("find", "findutils", ["find", "/usr/share", "-name", "*.txt", "-printf",
                           "%p %s\n"])
tool("xargs", "findutils",
     ["sh", "-c", "find tree -type f | sort | xargs -n 40 md5sum"], tree)
tool("grep", "grep", ["grep", "-c", "-E", "x{5,9} word[0-9]*7", "lines"])
tool("sed", "sed", ["sed", "-E", "s/([0-9]+) (x*)/\\2-\\1/; 10~3d", "lines"])
tool("gawk", "gawk", ["gawk", "{ n[$1 % 1000] += length($2); s = s substr($3, "
                      "5, 1) } END { for (i in n) t += n[i]; print t, "
                      "length(s), asort(n) }", "lines"])
tool("mawk", "mawk", ["mawk", "{ n[$1 % 1000] += length($2) } END { for (i in "
                      "n) t += n[i]; print t }", "lines"])
tool("bc", "bc", ["bc", "-lq"], stdin=b"scale=800\n4*a(1)\n2^3000\n")
tool("ripgrep", "ripgrep", ["rg", "-c", "--sort", "path", "word1", "."], tree,
     needs=["rg"])
tool("fd", "fd-find", ["fdfind", "-j2", "file1.*"], tree)
tool("tar", "tar", ["tar", "--sort=name", "--owner=0", "--group=0", "-cf",
                    "out.tar", "tree"], tree, hide=["tree"])
tool("gzip", "gzip", ["gzip", "-9nk", "lines"])
tool("xz", "xz-utils", ["xz", "-k", "-3", "-T2", "lines"])
tool("zstd", "zstd", ["zstd", "-q", "-T2", "-12", "lines"])
tool("brotli", "brotli", ["brotli", "-q", "7", "-k", "lines"])
tool("lz4", "lz4", ["lz4", "-q", "lines", "lines.lz4"])
tool("zip", "zip", ["zip", "-qrX", "out.zip", "tree"], tree, hide=["tree"])
tool("rsync", "rsync", ["rsync", "-a", "--delete", "tree/", "copy/"], tree)
tool("jq", "jq", ["jq", "-n", "[range(30000) | {a: ., b: (. * 7919 | "
                  "tostring)}] | group_by(.a % 7) | map(length)"])
tool("xmllint", "libxml2-utils",
     ["xmllint", "--xpath", "count(//item[@n mod 3 = 0])", "data.xml"],
     lambda place: place.file("data.xml", "<all>%s</all>" % "".join(
         "<item n='%d'><b>text %d</b></item>" % (i, i) for i in range(20000))))
tool("groff", "groff-base", ["groff", "-man", "-Tutf8", "page.1"],
     lambda place: place.file("page.1", gzip.decompress(
         open("/usr/share/man/man1/perlop.1.gz", "rb").read())
         if os.path.exists("/usr/share/man/man1/perlop.1.gz") else
         ".TH A 1\n" + ".SH B\n.B text\nmore of it\n.PP\n" * 2000))
tool("dpkg", "dpkg", ["dpkg", "-l"])
tool("apt-cache", "apt", ["apt-cache", "depends", "bash"])
tool("strace", "strace", ["strace", "-f", "-o", "log", "sh", "-c",
                          "ls -d /usr; (exit 3)"], hide=["log"], countable=False)
tool("ldd", "libc-bin", ["ldd", "/usr/bin/bash"], least=1,
     known=(rb"\t[^\n]*libgnomon\.so[^\n]*\n", b"",
            "It prints the libraries that the loader would load: under gnomon "
            "one more, libgnomon.so."))
