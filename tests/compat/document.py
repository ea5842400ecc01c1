"""Writes docs/COMPATIBILITY.md out of the rows that check.py made."""

SHORT_SECONDS = 0.1		# below, what is added says more than a factor

HEAD = """# Compatibility

What gnomon does to real programs, and what it sees of them: %(count)d programs
of Debian, servers under load among them. `make check-programs` runs them and
writes this page (`make deps-programs` installs them, `T=text` runs some); it
ends with status 1 if one of them was harmed.

Each program ran several times bare and under `gnomon run`, in the same empty
directory with the same input. Compared are exit status, output, error output
and every file it left. How far its bare runs agree decides how closely:

* **output**: *same*, byte by byte; *same but for numbers*, where numbers (times,
  pids, ports) differ between bare runs too; *same lines*, where their order
  does; *same words*, where only words that are always there can be compared
  (terminals redraw as time goes by).
* **processes** that left a trace; an exec begins a new one.
* **count**: how far the number of allocations is from what a small counting
  library, preloaded instead of gnomon, counts in a run of its own; *–* for
  servers, terminals and what does not do the same work twice. (Programs that
  copy their environment make some allocations less: it lacks that library's
  variables.)
* **frees matched**: those that had their allocation in the same trace. A forked
  process may free what its parent had allocated: these stand behind the plus.
  Any other event without its counterpart counts as harm, but where it is
  explained below.
* **live**: blocks never freed, all processes together.
* **whole**: allocations whose stack reaches the outermost frame or, *JIT*, ends
  in code made at run time, and says so. Less than 99 %% counts as harm, but
  where it is explained below.
* **slower**: wall time recorded to bare, the shortest of some runs, with all that
  `gnomon run` does around it; where a bare run takes less than 0.1 s, what is
  added, most of it for start and end of each process. For servers, the ratio of
  the rates that their clients reached. On a machine with two cores, shared with
  other work: a few per cent either way say nothing. The README has what was
  measured with care.

%(dropped)s

"""

# What was run there, by tests/arch with QEMU_CPU and by foreign.py, which prints
# the figures.
OTHERS = """## Other architectures

All of the above ran on x86-64. What follows ran under qemu's user emulation alone
(7.2.22 of Debian 12, on Linux 6.18 for x86-64), with glibc 2.36: no such
processor or kernel was there, nor another C library.

| architecture | cores, as qemu emulates them |
|---|---|
| AArch64 | Cortex-A35, A53, A72, A76, Neoverse N1, A64FX, `max` |
| ARMv7, hard float, ARM and Thumb | Cortex-A7, A8, A9, A15, `max` |
| MIPS64 little-endian, n64, hard float | MIPS64R2-generic, 5KEf, Loongson-3A1000, Loongson-3A4000 |
| MIPS64 big-endian, n64, hard float | MIPS64R2-generic, 5KEf |

On each core: a C program that counts its own allocations, an abort that is passed
on, names of threads, and whole stacks of a C++ program and of a C program without
unwind tables. What else is compared, on qemu's own choice of a core, is in
`tests/arch` (`make check-arch`).

`make check-programs ARCH=aarch64` (`arm`, `mips64el`) runs programs of Debian for
that architecture, bare and under `gnomon run`; Debian has none for `mips64`. Exit
status, output and error output were the same byte by byte, no event was dropped or
without its counterpart. A program with less than 99 % of its stacks whole fails.
Allocations, and how many of them have a whole stack:

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

What is known not to work there:

* *Stacks of C without unwind tables*, which ARM and MIPS64 have by default, end
  early in functions whose code cannot be followed: a few of sqlite3's on MIPS64.
* *Programs of this machine that an emulated one starts*, shells and scripts among
  them, run as ever, but are not recorded. Where the kernel does not execute
  programs for the target (binfmt_misc), execvp goes on to `/bin/sh`, as it does
  bare, and that shell's loader says that it cannot load the library.
* *Allocators linked into a program* are not recorded.
* *Other kinds of these processors*: ARM before ARMv7, soft float, big-endian ARM,
  MIPS's o32 and n32, release 6. There is no port to them; `gnomon run` says so
  where the file's word size or byte order tells.
"""


def count(number):
    """As a reader wants it: 1 234, 12.3 k, 4.5 M."""
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
             "count | frees matched | live | whole | slower |",
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
    """A sentence of each, without what belongs to one machine."""
    return [" ".join(word for word in harm.split() if "/" not in word)[:300]
            .rstrip(".") + "." for harm in harms]
