#!/usr/bin/python3
"""The manual pages: their sections, and the pages that they name."""

from gnomon_test import *

PAGES = os.path.join(BUILD, "man")
# In the order of man-pages(7).
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS",
            "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"]
ALWAYS = {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
          "EXAMPLES", "SEE ALSO"}
OTHERS = {"ld.so(8)", "readelf(1)", "sqlite3(1)"}


def pages():
    for path in sorted(glob.glob(PAGES + "/*.1")):
        with open(path, encoding="utf-8") as page:
            yield os.path.basename(path)[:-2], page.read()


def section(page, name):
    found = re.search(r'^\.SH "?%s"?\n(.*?)(?=^\.SH|\Z)' % name, page,
                      re.M | re.S)
    return found[1] if found else ""


@case
def sections_in_their_order(_):
    count = 0
    for name, page in pages():
        count += 1
        equal(page.split()[1].replace("\\-", "-"), name.upper(), "title")
        found = re.findall(r'^\.SH "?([A-Z ]+)"?$', page, re.M)
        equal(found, [one for one in SECTIONS if one in found], name)
        equal(ALWAYS - set(found), set(), name + " lacks")
    check(count > 20, "%d pages" % count)


@case
def related_pages_exist(_):
    names = {name + "(1)" for name, _ in pages()}
    for name, page in pages():
        text = re.sub(r"\\f[BR]", "", section(page, "SEE ALSO"))
        related = text.replace("\\-", "-").replace(",", " ").split()
        equal(set(related) - names - OTHERS, set(), name)
        check(name + "(1)" not in related, name + " names itself")


@case
def what_a_command_uses(_):
    """By its name, and by its options."""
    page = dict(pages())
    for command, name, text in (
            ("run", "ENVIRONMENT", "GNOMON_SOME_NAME"),
            ("run", "FILES", "TRACE.stats"),
            ("report", "ENVIRONMENT", "DEBUGINFOD_URLS"),
            ("report", "ENVIRONMENT", "NO_COLOR"),
            ("report", "FILES", "TRACE.idx")):
        check(text in section(page["gnomon-" + command], name),
              "%s: %s" % (command, text))
    equal(section(page["gnomon-strip"], "ENVIRONMENT"), "", "strip uses none")
    statuses = re.findall(r"^\.TP\n\\fB(\d+)\\fR$",
                          section(page["gnomon-run"], "EXIT STATUS"), re.M)
    equal(statuses, ["127", "126", "125"], "statuses of run")


@case
def man_accepts_them(_):
    need("groff")
    for name, page in pages():
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"],
                              input=page.encode(), stderr=subprocess.PIPE,
                              check=False)
        equal(done.stderr.decode(), "", name)


if __name__ == "__main__":
    main()
