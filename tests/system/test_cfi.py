#!/usr/bin/python3
# TIMEOUT: 300
"""gnomon cfi: unwind tables of files of all architectures, compared with
readelf and checked against the code."""

from gnomon_test import *

NATIVE = {"x86_64": "/lib/x86_64-linux-gnu"}
CROSS = {"aarch64": "/usr/aarch64-linux-gnu/lib",
         "mips64el": "/usr/mips64el-linux-gnuabi64/lib",
         "mips64": "/usr/mips64-linux-gnuabi64/lib",
         "arm": "/usr/arm-linux-gnueabihf/lib"}
FDE = re.compile(r"FDE (?:cie=\S+ )?pc=([0-9a-f]+)\.\.([0-9a-f]+)")
CIE = re.compile(r"^([0-9a-f]+) \S+ \S+ CIE ")
OF_CIE = re.compile(r"cie=([0-9a-f]+)")
IN_REGISTER = re.compile(r"\br\d+ \((\w+)\)")


def libraries(places):
    found = [glob.glob(os.path.join(place, name))
             for place in places.values()
             for name in ("libc.so.6", "libstdc++.so.6")]
    paths = [path[0] for path in found if path]
    if not paths:
        raise Skip("no C libraries of %s are installed" % " ".join(places))
    return paths


def column(name):
    """A register as new versions of readelf name it."""
    if name.startswith("$"):
        return "r" + name[1:]
    return {"x46": "vg"}.get(name, name)


def mips_column(name):
    if name == "sp":
        return "r29"
    if name.startswith("f"):
        return "r%d" % (int(name[1:]) + 32)
    return column(name)


def is_row(line):
    return re.match(r"[0-9a-f]{8,16} \S", line) and "IE" not in line and \
        "FDE" not in line and "ZERO" not in line


def rows_of_readelf(path):
    """{(start, end): {address: (cfa, {column: rule})}} of .eh_frame."""
    text = bare(["readelf", "--debug-dump=frames-interp", "--wide", path]).out
    result, cies, rows, columns, ours = {}, {}, {}, [], False
    for line in text.splitlines():
        fde, cie = FDE.search(line), CIE.match(line)
        if line.startswith("Contents of the "):
            ours = ".eh_frame " in line
        elif not ours:
            continue
        elif line.startswith("   LOC "):
            columns = [column(name) for name in line.split()[1:]]
        elif cie:
            rows = cies[cie.group(1)] = {}
        elif fde:
            start, end = (int(part, 16) for part in fde.groups())
            rows = {}
            common = cies[OF_CIE.search(line).group(1)]
            result[start, end] = (common, rows)
        elif is_row(line):
            words = IN_REGISTER.sub(r"\1", line).split()
            rows[int(words[0], 16)] = (words[1], {
                name: rule for name, rule in zip(columns[1:], words[2:])
                if rule != "u"})
    return {key: rows or {key[0]: next(iter(common.values()))}
            for key, (common, rows) in result.items()}


def rows_of_ours(path, is_mips):
    name_of = mips_column if is_mips else column
    document = json.loads(gnomon("cfi", "dump", "--json", "--rules", path).out)
    result = {}
    for function in document["rows"]:
        check(function["whole"], "makes no sense: %r" % function)
        if function["table"] != ".eh_frame":
            continue
        result[function["start"], function["end"]] = {
            row["start"]: (re.sub(r"^(\$?\w+)", lambda m: name_of(m.group(1)),
                                  row["cfa"]),
                           {name_of(name): name_of(rule)
                            if rule[0] == "$" else rule
                            for name, rule in row["registers"].items()
                            if rule != "u"})
            for row in function["rows"]}
    return result


def meaning(rows):
    """Without rows that say what the one before says."""
    kept, before = {}, None
    for address, row in sorted(rows.items()):
        if row != before:
            kept[address] = row
        before = row
    return kept


def compare(path):
    ours = rows_of_ours(path, "mips" in path)
    theirs = rows_of_readelf(path)
    equal(sorted(ours), sorted(key for key in theirs
                               if key[0] != key[1]), path + ": functions")
    count = 0
    for key in ours:
        equal(meaning(ours[key]),
              meaning({address: row for address, row in theirs[key].items()
                       if address < key[1]}),
              "%s: 0x%x" % (path, key[0]))
        count += len(ours[key])
    print("# %s: %d functions, %d rows" % (path, len(ours), count))


@case
def rules_equal_readelf(directory):
    """Of this machine's libraries, at every row."""
    for path in libraries(NATIVE):
        compare(path)


@case
def rules_of_others_equal_readelf(directory):
    """Both sizes of words, both orders of bytes."""
    for path in libraries(CROSS):
        if "arm-" not in path:
            compare(path)


PLAIN = r"""
#include <stdlib.h>
#include <string.h>
static void *volatile kept[64];
__attribute__((noinline)) void *take(int i) { return kept[i] = malloc(i + 1); }
__attribute__((noinline)) int deep(int depth, int i)
{
    char room[depth * 16 + 16];
    memset(room, i, sizeof(room));
    if (depth)
        return deep(depth - 1, i) + room[0];
    take(i);
    return room[1];
}
__attribute__((noinline)) int choose(int i)
{
    switch (i % 5) {
    case 0: return deep(3, i);
    case 1: take(i); return 7;
    case 2: return deep(7, i) * 2;
    case 3: free(kept[i]); return deep(1, i) + 1;
    default: return take(i) != 0;
    }
}
static int compare(const void *a, const void *b)
{
    free(malloc(100 + *(const char *)a));
    return *(const char *)a - *(const char *)b;
}
/* Its code alone does not tell its frame: no way leads out of it. */
static __attribute__((noreturn, noinline)) void quit(int status)
{
    take(59);
    exit(status);
}
static void (*volatile last)(int) = quit;
int main(void)
{
    int sum = 0;
    char text[] = "without tables";
    for (int i = 0; i < 60; i++)
        sum += choose(i);
    qsort(text, sizeof(text) - 1, 1, compare);
    if (sum == 54321)
        quit(3);
    last(sum == 12345);
    return 2;
}
"""
WITHOUT = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]


def built(directory, name, *flags, compiler="gcc"):
    need(compiler)
    source = os.path.join(directory, "plain.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(PLAIN)
    path = os.path.join(directory, name)
    done = bare([compiler, "-w", "-O2", *WITHOUT, *flags, source, "-o", path])
    equal(done.status, 0, done.err)
    return path


def library_of(directory, name, text, *flags, compiler="gcc"):
    """A shared library of this source, after whose name it is called."""
    if not shutil.which(compiler):
        raise Skip(compiler + " is not installed")
    source = os.path.join(directory, name)
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    path = os.path.splitext(source)[0] + ".so"
    done = bare([compiler, "-shared", "-nostdlib", *flags, source, "-o", path])
    equal(done.status, 0, done.err)
    return path


def stops(trace):
    return {words[0]: int(words[1]) for words in
            (line.split() for line in gnomon("info", trace).out.splitlines())
            if len(words) > 1 and words[0].startswith("stop_") and
            words[1].isdigit()}


def record(path, directory, **variables):
    done = recorded([path], directory, env=environment(**variables))
    equal(done.status, 0, done.err)
    return done


@case
def prepared_rules_complete_stacks(directory):
    """Of a program without tables, named and stripped, at a fixed address and
    not, with tables for debuggers, which are not mapped: each stack comes to the
    outermost frame."""
    for number, flags in enumerate([[], ["-s"], ["-no-pie"], ["-g"]]):
        path = built(directory, "plain%d" % number, *flags)
        rules = os.path.join(directory, "rules%d" % number)
        places = [os.path.join(directory, "%s%d" % (name, number))
                  for name in ("before", "after")]
        for place in places:
            os.mkdir(place)
        gnomon("cfi", "prepare", "-o", rules, path)
        done = recorded([path], places[0], by="preload")
        check(stops(done.trace).get("stop_no_rule"), "it has tables")
        done = recorded([path], places[1], by="preload",
                        env=environment(GNOMON_CFI_DIR=rules))
        equal(list(stops(done.trace)), ["stop_bottom"], " ".join(flags))


# On x86-64 the CFA is a word of frames like these, which the frame pointer tells;
# of the innermost its code alone does not tell it.
ALIGNED = r"""
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
volatile int zero;
#define OWN __attribute__((noinline, noclone))
OWN void see(void *a, void *b) { __asm__ volatile("" :: "r"(a), "r"(b) : "memory"); }
OWN void *take(int n) { return malloc(n + 1); }
OWN __attribute__((noreturn)) void ends(int n)
{
    _Alignas(64) char room[64];
    see(room, alloca(n + 16));
    take(1000);
    exit(n);
}
OWN int third(int a, int b, int c, int d)
{
    _Alignas(32) char room[64];
    for (int i = 1; i < 4; i++) {
        char more[i * 20 + a];
        see(more, room);
        take(100 + i);
        if (i == 3 && !zero)
            ends(a);
    }
    return a * b + c * d + room[a];
}
OWN int second(int a)
{
    take(10);
    return third(a, a + 1, 3, 4) + a;
}
OWN int compare(const void *a, const void *b)
{
    return second(zero) + *(const char *)a - *(const char *)b;
}
OWN int first(int a)
{
    _Alignas(64) char list[64] = "ab";
    see(list, alloca(a + 16));
    qsort(list, 2, 1, compare);
    return list[0];
}
int main(void) { return first(zero) + zero; }
"""
WORDS = re.compile(r"DW_CFA_(?:def_cfa_)?expression.*")


def built_aligned(directory, name, *flags):
    need("gcc")
    source = os.path.join(directory, "aligned.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(ALIGNED)
    path = os.path.join(directory, name)
    done = bare(["gcc", "-w", "-O2", "-fomit-frame-pointer", *flags, source,
                 "-o", path])
    equal(done.status, 0, done.err)
    return path


def expressions(path):
    """Of the tables of a file, without those of linkage tables."""
    text = bare(["readelf", "--debug-dump=frames", "--wide", path]).out
    return {line for line in WORDS.findall(text) if "rip" not in line}


@case
def prepared_rules_of_stacks_that_are_aligned(directory):
    """As the compiler says them: what it says in tables is found by the code, and
    taken over from .debug_frame."""
    need("objcopy")
    tabled = built_aligned(directory, "tabled", "-s")
    stripped = tabled + ".stripped"
    bare(["objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", tabled,
          stripped])
    known = expressions(tabled)
    check(len(known) > 6, str(known))
    for path in stripped, built_aligned(directory, "debug", "-g", *WITHOUT):
        row = json.loads(gnomon("cfi", "prepare", "--json", path, "-o",
                                path + "-rules").out)["rows"][0]
        equal(expressions(row["file"]), known, "rules of " + path)
        check(re.search("CFA=exp.* rbp=exp.* ra=c-8",
                        gnomon("cfi", "dump", "--rules", row["file"]).out),
              "shown")
    summary = json.loads(gnomon("cfi", "check", "--json",
                                tabled).out)["rows"][0]["summary"]
    equal(summary["disagreed"], 0, "disagreed")


@case
def prepared_rules_complete_stacks_that_are_aligned(directory):
    """All functions are named, where they are not by the code alone."""
    for name, flags in ("code", []), ("debug", ["-g"]):
        path = built_aligned(directory, name, *WITHOUT, *flags)
        rules = os.path.join(directory, name + "-rules")
        gnomon("cfi", "prepare", "-o", rules, path)
        for variables in {}, {"GNOMON_CFI_DIR": rules}:
            place = os.path.join(directory, "%s-%d" % (name, len(variables)))
            os.mkdir(place)
            done = recorded([path], place, by="preload", env=environment(
                GNOMON_DEBUG_ORACLE="1", **variables))
            found = [[frame.get("function") for frame in reversed(row["stack"])]
                     for row in Report(done.trace).rows]
            found = {tuple(name for name in stack if name in (
                "main", "first", "compare", "second", "third", "ends"))
                for stack in found if "main" in stack}
            counters = info(done.trace)["counters"]
            equal(int(counters["oracle_differences"]), 0, "oracle")
            equal(("main", "first", "compare", "second", "third", "ends") in
                  found, bool(variables), str(found))
            check(("main", "first", "compare", "second", "third") in found,
                  str(found))
            equal("stop_no_rule" in stops(done.trace), not variables,
                  "ends early")


@case
def run_prepares_what_is_missing(directory):
    """Once: it says so, and finds it there the next time."""
    path = built(directory, "plain")
    for said in True, False:
        place = os.path.join(directory, "said-%s" % said)
        os.mkdir(place)
        done = record(path, place,
                      XDG_CACHE_HOME=os.path.join(directory, "cache"))
        equal("rules were made for plain" in done.err, said, done.err)
        equal(list(stops(done.trace)), ["stop_bottom"], "ends")
    kept = glob.glob(os.path.join(directory, "cache/gnomon/cfi/*.cfi"))
    equal(len(kept), 1, "files")
    equal(json.loads(gnomon("cfi", "prepare", "--json", path, "-o",
                            directory).out)["rows"][0]["file"].split("/")[-1],
          os.path.basename(kept[0]), "name")


@case
def run_prepares_nothing_for_static_programs(directory):
    """No library is put in front of them, so nobody would read the rules."""
    path = built(directory, "still", "-static")
    done = recorded([path], directory,
                    env=environment(XDG_CACHE_HOME=directory))
    equal(done.status, 0, done.err)
    check("statically linked" in done.err, done.err)
    check("rules" not in done.err, done.err)
    equal(glob.glob(os.path.join(directory, "gnomon/cfi/*")), [], "rules")


@case
def bad_rule_files_are_refused(directory):
    """Cut short anywhere, or another program's: a message, and no rules."""
    path = built(directory, "plain")
    rules = os.path.join(directory, "rules")
    gnomon("cfi", "prepare", "-o", rules, path)
    name = glob.glob(rules + "/*.cfi")[0]
    with open(name, "rb") as file:
        good = file.read()
    other = bytearray(good)
    other[good.index(b"GNU\0") + 4] ^= 1
    for number, bad in enumerate([good[:40], good[:200], bytes(other),
                                  good[:300] + b"\xff" * 100 + good[400:]]):
        with open(name, "wb") as file:
            file.write(bad)
        place = os.path.join(directory, "bad%d" % number)
        os.mkdir(place)
        done = recorded([path], place, by="preload",
                        env=environment(GNOMON_CFI_DIR=rules))
        equal(done.status, 0, done.err)
        check("makes no sense as rules" in done.err, done.err)
        check(stops(done.trace).get("stop_no_rule"), "rules were taken")


@case
def rules_are_made_for_others(directory):
    """For all targets, from code that no table covers; readelf shows them."""
    for target in "aarch64-linux-gnu", "arm-linux-gnueabihf", \
            "mips64el-linux-gnuabi64", "mips64-linux-gnuabi64":
        if not shutil.which(target + "-gcc"):
            print("# " + target + "-gcc is not installed")
            continue
        path = built(directory, target, compiler=target + "-gcc")
        rules = os.path.join(directory, "rules-" + target)
        document = json.loads(gnomon("cfi", "prepare", "--json", "-o", rules,
                                     path).out)
        row = document["rows"][0]
        check(row["ruled_bytes"] >= 0.6 * row["code_bytes"], str(row))
        text = bare(["readelf", "--debug-dump=frames-interp",
                     row["file"]]).out
        check(len(FDE.findall(text)) >= 5, target + ": " + text)


@case
def checks_agree(directory):
    """What a compiler says of its own code is right; where somebody's CFI is
    wrong, check says where, and ends with status 1."""
    path = built(directory, "good", "-fasynchronous-unwind-tables")
    summary = json.loads(gnomon("cfi", "check", "--json",
                                path).out)["rows"][0]["summary"]
    equal(summary["disagreed"], 0, "disagreed")
    check(summary["agreed"] >= 5, str(summary))
    library = library_of(
        directory, "wrong.s",
        ".globl wrong\n.type wrong, @function\nwrong:\n"
        ".cfi_startproc\npush %rbx\n.cfi_def_cfa_offset 24\n"
        "mov %rdi, %rbx\npop %rbx\n.cfi_def_cfa_offset 8\nret\n"
        ".cfi_endproc\n.size wrong, . - wrong\n")
    done = gnomon("cfi", "check", library, statuses=(1,))
    check("wrong: 0x1001: CFA: the table says rsp+24, the code rsp+16" in
          done.out, done.out)
    text = gnomon("cfi", "dump", library, "wrong").out
    check(re.search(r"CFA=rsp\+24 ra=c-8 +0x1001  mov rbx, rdi", text), text)


@case
def clones_are_shown_with_their_function(directory):
    """By either name of it; what only begins alike is another function."""
    names = ("_Z7throweri", "_Z7throweri.isra.0", "_Z7throwerid", "plain",
             "plain.part.0", "plainly")
    library = library_of(directory, "clones.s", "".join(
        ".globl {0}\n.type {0}, @function\n{0}:\n.cfi_startproc\nret\n"
        ".cfi_endproc\n.size {0}, . - {0}\n".format(name) for name in names))
    throwers = ["thrower", "thrower [clone .isra.0]"]
    clone = "thrower(int) [clone .isra.0]"
    for asked, shown in (("thrower(int)", throwers), ("_Z7throweri", throwers),
                         ("thrower", [*throwers, "thrower"]),
                         ("_Z7throweri.isra.0", throwers[1:]),
                         (clone, throwers[1:]), (throwers[1], throwers[1:]),
                         ("plain", ["plain", "plain.part.0"])):
        rows = json.loads(gnomon("cfi", "dump", "--json", library,
                                 asked).out)["rows"]
        equal([row["function"] for row in rows], shown, asked)


@case
def wrong_use(directory):
    path = built(directory, "nameless", "-Wl,--build-id=none")
    cut = os.path.join(directory, "cut")
    with open(path, "rb") as whole, open(cut, "wb") as file:
        file.write(whole.read(3000))
    for arguments, said in (
            ([], "no action given"), (["check"], "no binary is named"),
            (["wash", path], "cfi: wash: no such action"),
            (["check", cut], "cut short or damaged"),
            (["check", "/nowhere"], "No such file"),
            (["check", __file__], "not an ELF file"),
            (["dump", path, "no_such_function"], "no_such_function"),
            (["check", "--rules", path], "--rules: cfi check does not"),
            (["dump", "-o", directory, path], "--output: cfi dump writes"),
            (["prepare", "-o", directory, path], "--build-id")):
        done = gnomon("cfi", *arguments, statuses=(2,))
        check(said in done.err, "%s: %s" % (arguments, done.err))


SIGNS = r"""
.globl signs
.type signs, %function
signs:
.cfi_startproc
paciasp
RULE
str x30, [sp, #-16]!
.cfi_def_cfa_offset 16
.cfi_offset 30, -16
bl other
ldr x30, [sp], #16
.cfi_restore 30
.cfi_def_cfa_offset 0
autiasp
RULE
ret
.cfi_endproc
.size signs, . - signs
"""


@case
def signed_return_addresses_are_checked(directory):
    """Whether a return address is signed: where no rule says so, check does,
    and rules that are made say it."""
    tools = "aarch64-linux-gnu-"
    for name, rule, disagreed in (("good", ".cfi_negate_ra_state", 0),
                                  ("wrong", "", 1)):
        path = library_of(directory, name + ".s", SIGNS.replace("RULE", rule),
                          "-Wl,--build-id", compiler=tools + "gcc")
        row = json.loads(gnomon("cfi", "check", "--json", path,
                                statuses=(disagreed,)).out)["rows"][0]
        equal(row["summary"]["disagreed"], disagreed, name)
    equal(row["disagreements"][0]["table"], "not signed", "what")
    equal(row["disagreements"][0]["instructions"], 4, "how often")
    bare([tools + "objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", path])
    made = json.loads(gnomon("cfi", "prepare", "--json", "-o", directory,
                             path).out)["rows"][0]["file"]
    text = bare(["readelf", "--debug-dump=frames", made]).out
    equal(text.count("DW_CFA_GNU_window_save") +
          text.count("DW_CFA_AARCH64_negate_ra_state"), 2, text)


DOUBLES = r"""
.syntax unified
.fpu vfpv3-d16
.arm
.globl keeps
.type keeps, %function
keeps:
.fnstart
push {r4, lr}
.save {r4, lr}
vpush {d8, d9}
.vsave {RULE}
vmov.f64 d8, d0
vmov.f64 d9, d1
bl other
vpop {d8, d9}
pop {r4, pc}
.fnend
.size keeps, . - keeps
"""
KEEPS = r"""
double get(double);
double keeps(double a, double b) { return get(a) * get(b) + get(a + b); }
"""


@case
def saved_doubles_of_arm_are_checked(directory):
    """d8 to d15: in .ARM.exidx, and in .debug_frame, by their halves."""
    compiler = "arm-linux-gnueabihf-gcc"
    for name, rule, disagreed in (("good", "d8, d9", 0),
                                  ("wrong", "d9, d10", 1)):
        path = library_of(directory, name + ".s",
                          DOUBLES.replace("RULE", rule), compiler=compiler)
        found = json.loads(gnomon("cfi", "check", "--json", path,
                                  statuses=(disagreed,)).out)["rows"][0]
        equal(found["summary"]["disagreed"], disagreed, name)
    equal([one["what"] for one in found["disagreements"]],
          ["d8", "d9", "d10"], "which")
    path = library_of(directory, "keeps.c", KEEPS, "-fPIC", "-g", "-O2",
                      compiler=compiler)
    summary = json.loads(gnomon("cfi", "check", "--json",
                                path).out)["rows"][0]["summary"]
    check(summary["agreed"] >= 1, str(summary))
    text = gnomon("cfi", "dump", "--rules", path).out
    check(re.search(r"s16=c-\d+ s17=c-\d+", text), text)


# Where the handler goes, no jump does.
THROWS = r"""
void risky(int), after(int);

int catches(int n)
{
	int caught = 0;

	for (int i = 0; i < n; i++)
		try {
			risky(i);
		} catch (int) {
			after(i);
			caught++;
		}
	return caught;
}
"""


@case
def handlers_of_arm_are_reached_beside_debug_frame(directory):
    """.debug_frame has no tables of call sites, .ARM.exidx has."""
    compiler = "arm-linux-gnueabihf-g++"
    if not shutil.which(compiler):
        raise Skip(compiler + " is not installed")
    source = os.path.join(directory, "throws.cc")
    with open(source, "w", encoding="utf-8") as out:
        out.write(THROWS)
    path = os.path.join(directory, "throws.so")
    done = bare([compiler, "-shared", "-nostartfiles", "-fPIC", "-g", "-O2",
                 source, "-o", path])
    equal(done.status, 0, done.err)
    found = json.loads(gnomon("cfi", "check", "--json", path).out)["rows"][0]
    equal((found["summary"]["undecidable"], found["summary"]["disagreed"]),
          (0, 0), str(found))
    check(found["summary"]["agreed"] >= 1, str(found))


# Its stack is elsewhere while it calls: only the table knows what rbx is.
MOVED = r"""
.cfi_sections .debug_frame
.globl moved
.type moved, @function
moved:
.cfi_startproc
push %rbx
.cfi_def_cfa_offset 16
.cfi_offset rbx, -16
mov %rsp, %rbx
.cfi_def_cfa_register rbx
mov (%rdi), %rsp
call other
mov %rbx, %rsp
.cfi_def_cfa_register rsp
pop %rbx
.cfi_def_cfa_offset 8
ret
.cfi_endproc
.size moved, . - moved
"""


def rows_for_debuggers(path, table):
    """{(start, address): (cfa, registers)}, without those that say nothing."""
    document = json.loads(gnomon("cfi", "dump", "--json", "--rules", path).out)
    return {(function["start"], row["start"]):
            (row["cfa"], {name: rule for name, rule in row["registers"].items()
                          if rule not in ("u", "s")})
            for function in document["rows"] if function["table"] == table
            for row in function["rows"]}


@case
def rules_for_debuggers_are_taken_over(directory):
    """Of .debug_frame, in the file or in its separate debug file."""
    need("objcopy")
    path = library_of(directory, "moved.s", MOVED, "-Wl,--build-id")
    known = rows_for_debuggers(path, ".debug_frame")
    check(("rbx+16", {"ra": "c-8", "rbx": "c-16"}) in known.values(),
          str(known))
    for number, command in enumerate((
            [], ["objcopy", "--only-keep-debug", path, path + ".debug"],
            ["objcopy", "--strip-debug", "--add-gnu-debuglink=" + path +
             ".debug", path], ["rm", path + ".debug"])):
        if command:
            bare(command, cwd=directory)
        rules = os.path.join(directory, "rules%d" % number)
        row = json.loads(gnomon("cfi", "prepare", "--json", "-o", rules,
                                path).out)["rows"][0]
        made = {place: rule for place, rule in
                rows_for_debuggers(row["file"], ".eh_frame").items()
                if place[0] == min(known)[0]}
        if number < 3:
            equal(made, known, "rows, %d" % number)
        else:
            check(("rbx+16", {"ra": "c-8", "rbx": "c-16"}) not in
                  made.values(), "nobody told it")


def ranges(path):
    """(start, end, cfa) of each row that is by a register, in order."""
    document = json.loads(gnomon("cfi", "dump", "--json", "--rules", path).out)
    found = []
    for function in document["rows"]:
        if function["table"] == ".eh_frame":
            rows = function["rows"]
            ends = [row["start"] for row in rows[1:]] + [function["end"]]
            found += [(row["start"], end, row["cfa"])
                      for row, end in zip(rows, ends)]
    return sorted(found)


def other_offsets(made, true):
    """Bytes where a CFA by the same register has another offset."""
    count, i = 0, 0
    for start, end, cfa in made:
        while i > 0 and true[i][0] > start:
            i -= 1
        for first, last, right in true[i:]:
            if first >= end:
                break
            i += last <= start
            common = min(end, last) - max(start, first)
            if common > 0 and cfa != right and \
                    cfa.split("+")[0] == right.split("+")[0]:
                count += common
    return count


@case
def nearly_all_code_has_rules(directory):
    """Of C libraries that have tables for a part of their code, or for none."""
    for port, share in ("arm", .942), ("mips64el", .972):
        library = os.path.join(CROSS[port], "libc.so.6")
        if not os.path.exists(library):
            print("# " + library + " is not installed")
            continue
        row = json.loads(gnomon("cfi", "prepare", "--json", "-o", directory,
                                library).out)["rows"][0]
        check(row["ruled_bytes"] >= share * row["code_bytes"], str(row))


@case
def made_rules_equal_the_removed_tables(directory):
    """Of the C library without its tables and names: nearly all of its code has
    rules, and they are those of the tables."""
    tools = "aarch64-linux-gnu-"
    library = os.path.join(CROSS["aarch64"], "libc.so.6")
    if not os.path.exists(library) or not shutil.which(tools + "objcopy"):
        raise Skip(library + " is not installed")
    bare_library = os.path.join(directory, "bare.so")
    bare([tools + "objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "-R",
          ".gcc_except_table", library, bare_library])
    row = json.loads(gnomon("cfi", "prepare", "--json", "-o", directory,
                            bare_library).out)["rows"][0]
    check(row["ruled_bytes"] >= 0.97 * row["code_bytes"], str(row))
    wrong = other_offsets(ranges(row["file"]), ranges(library))
    check(wrong <= row["ruled_bytes"] / 10000, "%d bytes" % wrong)


main()
