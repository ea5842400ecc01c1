#!/usr/bin/python3
# TIMEOUT: 60
"""The project's own files: the workflow is YAML whose commands exist; packages
of distributions are well formed and require what mk/packages lists."""

import shlex

from gnomon_test import *

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
WORKFLOW = os.path.join(ROOT, ".github", "workflows", "ci.yml")
# Columns of mk/packages, what wants them, and what a builder has anyway.
WANTS = {2: ("debian/control", {"gcc", "libc6-dev", "linux-libc-dev",
                                "binutils"}),
         3: ("packaging/gnomon.spec", set()),
         4: ("packaging/PKGBUILD", set()),
         5: ("packaging/APKBUILD", set())}


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as source:
        return source.read()


def need_python(module):
    try:
        return __import__(module)
    except ImportError:
        raise Skip("the module %s is not installed" % module) from None


def jobs():
    document = need_python("yaml").safe_load(text_of(WORKFLOW))
    check(document["jobs"], "no jobs")
    return document["jobs"]


def combinations(job):
    """The values of a job's matrix, one dictionary each."""
    found = [{}]
    for key, values in job.get("strategy", {}).get("matrix", {}).items():
        found = [dict(one, **{key: value}) for one in found
                 for value in values]
    return found


def filled(command, values):
    def value_of(match):
        value = values
        for part in match[1].split(".")[1:]:
            value = value[part]
        return str(value)
    return re.sub(r"\$\{\{ (matrix\.[\w.]+) \}\}", value_of, command)


def commands():
    """(job, words) of all that a step runs, matrices filled in."""
    for name, job in jobs().items():
        for values in combinations(job):
            for step in job["steps"]:
                for line in filled(step.get("run", ""), values).split("&&"):
                    if line.strip():
                        yield name, shlex.split(line)


def goals_there():
    done = bare(["make", "-C", ROOT, "-qp", "PACKAGES_TOOL=/bin/true",
                 "O=" + BUILD], environment(MAKEFLAGS=None, MAKELEVEL=None))
    return set(re.findall(r"^([\w-]+):", done.out, re.M))


@case
def the_workflow_runs_goals_that_exist(directory):
    there, asked = goals_there(), set()
    for name, words in commands():
        if words[0] != "make":
            continue
        goals = {word for word in words[1:]
                 if "=" not in word and not word.startswith("-")}
        check(goals, "%s: make without a goal" % name)
        equal(goals - there, set(), name + ": no such goals")
        asked |= goals
        for word in words[1:]:
            if word.startswith("ARCH="):
                check(os.path.isdir(os.path.join(
                    ROOT, "arch", word[5:].replace("mips64el", "mips64"))),
                      "no port: " + word)
    equal({"all", "check", "lint", "check-arch", "check-asan", "check-tsan",
           "fuzz", "coverage", "tarball"} - asked, set(), "what is not run")


@case
def the_workflow_has_what_each_step_needs(directory):
    for name, job in jobs().items():
        check("timeout-minutes" in job, name + " may run for ever")
        for step in job["steps"]:
            check(("run" in step) != ("uses" in step), "%s: %r" % (name, step))


@case
def documents_name_goals_that_exist(directory):
    there = goals_there()
    for path in ("CONTRIBUTING.md", "packaging/README.md", "CHANGELOG.md",
                 "debian/rules", "Containerfile"):
        for line in re.findall(r"`make ([^`]+)`|^make ([^#\n]+)",
                               text_of(path), re.M):
            words = "".join(line).split()
            goals = {word for word in words if re.fullmatch(r"[\w-]+", word)}
            equal(goals - there, set(), path + ": make " + " ".join(words))


def spelled(path):
    """The words of a package's file, comments aside."""
    text = re.sub(r"^\s*#.*", "", text_of(path), flags=re.M)
    return set(re.findall(r"[\w./+-]+", text))


@case
def packages_want_what_building_needs(directory):
    rows = [line.split() for line in text_of("mk/packages").splitlines()
            if re.match(r"build[ ,]", line)]
    check(len(rows) > 15, "%d rows" % len(rows))
    for column, (path, there) in WANTS.items():
        words = spelled(path) | there
        for row in rows:
            for names in row[column].split(","):
                check(names == "-" or words & set(names.split("|")),
                      "%s does not have %s" % (path, names))


@case
def shell_packages_are_well_formed(directory):
    for path, shell in (("PKGBUILD", "bash"), ("APKBUILD", "sh")):
        done = bare([shell, "-n", os.path.join(ROOT, "packaging", path)])
        equal((done.status, done.err), (0, ""), path)


@case
def the_spec_is_well_formed(directory):
    need("rpmspec")
    version = bare([GNOMON, "--version"]).out.split()[1]
    done = bare(["rpmspec", "--query", "--queryformat",
                 "%{NAME} %{VERSION}\n", "--define", "_sourcedir " + directory,
                 os.path.join(ROOT, "packaging", "gnomon.spec")])
    equal(done.status, 0, "rpmspec: " + done.err)
    for name in ("gnomon", "gnomon-devel", "gnomon-unwind",
                 "gnomon-unwind-devel"):
        check("%s %s" % (name, version) in done.out.splitlines(), done.out)


@case
def the_nix_expression_is_well_formed(directory):
    need("nix-instantiate")
    done = bare(["nix-instantiate", "--parse", os.path.join(
        ROOT, "packaging", "default.nix")], environment(
            NIX_STATE_DIR=directory, NIX_STORE_DIR=directory, HOME=directory))
    equal(done.status, 0, "nix-instantiate: " + done.err)


main()
