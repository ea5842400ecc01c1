"""Writes docs/COMPATIBILITY.md from the rows of check.py."""

SHORT_SECONDS = 0.1		# below, the added time says more than a ratio

HEAD = """# Compatibility

How gnomon affects real programs, and what it records of them: %(count)d Debian
programs, including servers under load. `make check-programs` runs them and writes this
page (`make deps-programs` installs them, `T=text` runs some). It ends with status 1 if
gnomon harmed a program.

Each program ran several times bare and under `gnomon run`, in the same empty directory
with the same input. The check compares exit status, output, error output and every file
that the program left. The columns:

* **output**: how closely output agrees, as far as bare runs agree with each other.
  *Same*: byte by byte. *Same but for numbers*: numbers (times, pids, ports) differ
  between bare runs too. *Same lines*: the order of lines differs too. *Same words*:
  only words that are always there can be compared (terminals redraw as time goes by).
* **processes** that left a trace; an exec begins a new trace.
* **count**: difference between the number of allocations and the count of a small
  counting library, preloaded instead of gnomon in a run of its own. *–* for servers,
  terminals and programs that do not repeat the same work. (Programs that copy their
  environment make a few allocations less under gnomon: it lacks that library's
  variables.)
* **frees matched**: frees whose allocation is in the same trace. A forked process may
  free blocks of its parent: the number after the plus. Any other event without its
  counterpart counts as harm, unless explained below.
* **live**: blocks never freed, all processes together.
* **complete**: allocations whose stack reaches the outermost frame or, *JIT*, ends in
  code made at run time and is marked so. Less than 99 %% counts as harm, unless
  explained below.
* **slower**: ratio of wall times, recorded to bare, each the shortest of some runs,
  including all work of `gnomon run`. If a bare run takes less than 0.1 s, the added
  time, mostly for start and end of each process. For servers, the ratio of their
  clients' request rates. The machine had two cores, shared with other work: a few per
  cent either way mean nothing. [BENCHMARKS](BENCHMARKS.md) has careful measurements.

%(dropped)s

"""

# tests/arch with QEMU_CPU and foreign.py measured these; foreign.py prints them.
OTHERS = """## Other architectures

The programs above ran on x86-64. The programs below ran only under qemu's user
emulation (7.2.22 of Debian 12, on Linux 6.18 for x86-64), with glibc 2.36. No real
processor, other kernel or other C library was tested.

| architecture | cores, as qemu emulates them |
|---|---|
| AArch64 | Cortex-A35, A53, A72, A76, Neoverse N1, A64FX, `max` |
| ARMv7, hard float, ARM and Thumb | Cortex-A7, A8, A9, A15, `max` |
| MIPS64 little-endian, n64, hard float | MIPS64R2-generic, 5KEf, Loongson-3A1000, Loongson-3A4000 |
| MIPS64 big-endian, n64, hard float | MIPS64R2-generic, 5KEf |

Tested on each core: a C program that counts its own allocations, an abort that reaches
the program, names of threads, and complete stacks of a C++ program and of a C program
without unwind tables. `tests/arch` (`make check-arch`) compares more, on qemu's default
core.

`make check-programs ARCH=aarch64` (`arm`, `mips64el`) runs Debian programs for that
architecture, bare and under `gnomon run`; Debian has none for `mips64`. Exit status,
output and error output were the same byte by byte; no event was dropped or lacked its
counterpart. A program with less than 99 % complete stacks fails. Allocations, and the
share of complete stacks:

| program | AArch64 | ARM | MIPS64 little-endian |
|---|---:|---:|---:|
| bash | 74.9 k, 100 % | 74.9 k, 100 % | 74.9 k, 100 % |
| gawk | 4771, 100 % | 4750, 100 % | 4759, 100 % |
| grep | 150, 100 % | 150, 100 % | 150, 100 % |
| jq | 12.2 k, 100 % | 12.2 k, 100 % | 12.2 k, 100 % |
| lua | 4010, 100 % | 4010, 100 % | 4010, 100 % |
| perl | 2022, 100 % | 1993, 100 % | 2006, 100 % |
| python3 | 853, 100 % | 664, 100 % | 853, 100 % |
| sed | 83 k, 100 % | 83 k, 100 % | 83 k, 100 % |
| sort | 12, 100 % | 12, 100 % | 12, 100 % |
| sqlite3 | 3632, 100 % | 3628, 100 % | 3632, 99.34 % |
| xz | 16, 100 % | 16, 100 % | 16, 100 % |

Known limits there:

* *Stacks of C without unwind tables*, which ARM and MIPS64 have by default, end
  early in functions whose code cannot be followed: a few of sqlite3's on MIPS64.
* *Programs of this machine that an emulated one starts*, including shells and scripts,
  run unchanged but are not recorded. If the kernel does not execute programs for the
  target (binfmt_misc), execvp falls back to `/bin/sh`, as it does bare, and that
  shell's loader reports that it cannot load the library.
* *Allocators linked into a program* are not recorded.
* *Other kinds of these processors*: ARM before ARMv7, soft float, big-endian ARM,
  MIPS's o32 and n32, release 6. There is no port to them; `gnomon run` says so if the
  file's word size or byte order shows it.
"""


def count(number):
    """A number for people: 1 234, 12.3 k, 4.5 M."""
    if number < 10000:
        return str(number)
    for unit in ("k", "M", "G"):
        number /= 1000
        if number < 1000:
            return "%.3g %s" % (number, unit)
    return "%.3g T" % (number / 1000)


def slower(row):
    ratio, seconds = row.get("slow_down"), row.get("seconds")
    if not ratio:
        return "–"
    if not row["load"] and seconds and seconds < SHORT_SECONDS:
        return "+%.0f ms" % max(0, 1000 * seconds * (ratio - 1))
    return "%.2f×" % ratio


def verdict(row):
    if row["harms"]:
        return "**harmed**"
    if row["known"]:
        return "differs, see below"
    return row["level"]


def share(row):
    text = "%.2f %%" % (100 * row["whole"])
    if text == "100.00 %":
        text = "100 %" if row["whole"] == 1 else "> 99.99 %"
    if row["jit"] > row["stacks"] / 1000:
        text += " (%.0f %% JIT)" % (100 * row["jit"] / row["stacks"])
    return text


def count_off(row):
    if row.get("off") is None:
        return "–"
    return "exact" if row["off"] == 0 else "%+.2g %%" % (100 * row["off"])


def matched(row):
    text = "all of " + count(row["frees"]) if not row["unpaired"] else \
        "%s, %s not" % (count(row["frees"]), count(row["unpaired"]))
    return text + (" + " + count(row["inherited"]) if row["inherited"] else "")


def table_line(row):
    name = row["name"] + (", " + row["load"] if row["load"] else "")
    cells = [name, row["version"]]
    if "missing" in row:
        return "| %s | | not installed | | | | | | | |" % name
    if "events" not in row:
        return "| %s | %s | **failed** | | | | | | | |" % tuple(cells)
    cells += [verdict(row), str(row["processes"]), count(row["allocations"]),
              count_off(row), matched(row), count(row["live_blocks"]), share(row),
              slower(row)]
    return "| " + " | ".join(cells) + " |"


def table(rows):
    lines = ["| program | version | output | processes | allocations | "
             "count | frees matched | live | complete | slower |",
             "|---|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    return "\n".join(lines + [table_line(row) for row in rows])


def write_document(path, rows):
    groups = list(dict.fromkeys(row["group"] for row in rows))
    dropped = sum(row.get("dropped", 0) for row in rows)
    text = HEAD % {"count": sum("events" in row for row in rows),
                   "dropped": "%d events were dropped." % dropped if dropped
                   else "No event was dropped in any of them."}
    for group in groups:
        text += "## %s\n\n%s\n\n" % (
            group, table([row for row in rows if row["group"] == group]))
    notes = [row for row in rows if row["note"] or row.get("known") or
             row.get("harms")]
    if notes:
        text += "## What differs, and why\n\n"
    for row in notes:
        text += "**%s.** %s\n\n" % (row["name"], " ".join(
            [row["note"], row.get("known", "")] + without_paths(row.get("harms", []))).strip())
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + OTHERS)


def without_paths(harms):
    """One sentence for each, without paths of one machine."""
    return [" ".join(word for word in harm.split() if "/" not in word)[:300]
            .rstrip(".") + "." for harm in harms]
