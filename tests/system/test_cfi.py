#!/usr/bin/python3
# TIMEOUT: 300
"""gnomon cfi: unwind tables of files of all architectures: read as readelf
reads them, and held against the code."""

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
    """A register as readelf names it."""
    if name.startswith("$"):
        return "r" + name[1:]
    return {"v%d" % n: "v%d" % n for n in range(32)}.get(name, name)


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
            columns = line.split()[1:]
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


main()
