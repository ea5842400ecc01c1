"""Versions: docs/VERSIONS.md against the sources (for lint.py), and other files
that contain the release number."""

import re

PAGE = "docs/VERSIONS.md"
ROW = re.compile(r"^\| ([^|]+) \| ([\d.]+) \| `([^`]+)`, `([^`]+)` \|", re.M)
ROWS_MIN = 11
SCHEMA = re.compile(r'json_uint\([^;]*"schema", (\d+)\);')
# How a file says it; VERSION stands for the release's.
RELEASE = {
    "library/gnomon/gnomon.h": r'^/\* "VERSION"; "" of the stub',
    "CHANGELOG.md": r"^## VERSION \(",
    "debian/changelog": r"\Agnomon \(VERSION-\d+\) ",
    "packaging/gnomon.spec": r"^Version: +VERSION$",
    "packaging/PKGBUILD": r"^pkgver=VERSION$",
    "packaging/APKBUILD": r"^pkgver=VERSION$",
    "packaging/default.nix": r'^  version = "VERSION";$',
}


def text_of(path):
    with open(path, encoding="utf-8") as source:
        return source.read()


def value_of(name, path):
    """What this file defines the name as."""
    name = re.escape(name)
    found = re.search(
        r"^#define %s\s+(\d+)\b|^%s := ([\d.]+)$|^#define %s \"/api/v(\d+)/\"|"
        r"json_uint\(.*%s, (\d+)\)" % ((name,) * 4), text_of(path), re.M)
    return found and next(filter(None, found.groups()))


def check(offend, c_files):
    rows = ROW.findall(text_of(PAGE))
    if len(rows) < ROWS_MIN:
        offend(PAGE, "has %d rows of versions, of %d" % (len(rows), ROWS_MIN))
    for what, number, name, path in rows:
        value = value_of(name, path)
        if value != number:
            offend(PAGE, "%s is %s, but %s in %s is %s" % (
                what, number, name, path, value))
    schema = dict((row[2], row[1]) for row in rows)['"schema"']
    for path in c_files:
        for number in SCHEMA.findall(text_of(path)):
            if path.startswith("cli/") and number != schema:
                offend(path, "has schema %s, and %s says %s" % (number, PAGE,
                                                                schema))
    release = value_of("VERSION", "Makefile")
    for path, pattern in RELEASE.items():
        if not re.search(pattern.replace("VERSION", re.escape(release)),
                         text_of(path), re.M):
            offend(path, "does not have version " + release)
