#!/usr/bin/python3
"""The tutorials: the tests write their programs and run their commands; the
output is as shown, except for numbers."""

import shlex

from gnomon_test import *

PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                     "docs", "tutorials")
BLOCK = re.compile(r"^```(\w+)(?: (\w+))?\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"\d[\d,.]*(?: ?(?:[KMGT]|B|%|[nmu]?s)\b|%)?")
# The library's path after `make install`, as the pages have it.
INSTALLED = "/usr/local/lib/gnomon/libgnomon.so"
# What a block in another language needs, of what need not be here.
NEEDS = {"rust": ["rustc"], "node": ["node"], "ruby": ["ruby"]}


def blocks(name):
    """(language, what it needs, text), in order."""
    with open(os.path.join(PLACE, name + ".md"), encoding="utf-8") as text:
        return BLOCK.findall(text.read())


def steps(text):
    """(command, lines that are shown)."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def pattern(line):
    """Of a line that is shown, or of its beginning."""
    parts = [r"\s+".join(map(re.escape, part.split()))
             for part in NUMBER.split(line)]
    return re.compile(r"\s*" + r"\s*[\d,.]+ ?[KMGTBnmus%]*\s*".join(parts))


def environment(directory):
    bin_ = os.path.join(directory, "bin")
    os.mkdir(bin_)
    with open(os.path.join(bin_, "gnomon"), "w", encoding="utf-8") as script:
        script.write("#!/bin/sh\nexec %s \"$@\"\n" % shlex.quote(GNOMON))
    os.chmod(script.name, 0o755)
    return {**os.environ, "PATH": bin_ + ":" + os.environ["PATH"],
            "COLUMNS": "80"}


def run_step(command, shown, where, env):
    command = command.replace(INSTALLED, shlex.quote(LIBRARY))
    done = subprocess.run(["sh", "-c", command], cwd=where, env=env,
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)
    equal(done.returncode, 0, "%s: %s" % (command, done.stderr))
    lines = iter(done.stdout.splitlines())
    for line in shown:
        check(any(pattern(line).match(one) for one in lines),
              "%s: %r is not in %s" % (command, line, done.stdout))


def follow(name, directory):
    """Returns how many commands there were."""
    env = environment(directory)
    where = os.path.join(directory, "work")
    os.mkdir(where)
    count, found = 0, blocks(name)
    for language, _, text in found:
        title = re.match(r"// (\S+)\n", text)
        if title:
            with open(os.path.join(where, title[1]), "w",
                      encoding="utf-8") as source:
                source.write(text[title.end():])
    for language, needs, text in found:
        missing = [tool for tool in NEEDS.get(needs, [])
                   if shutil.which(tool) is None]
        if language != "console" or missing:
            continue
        for command, shown in steps(text):
            run_step(command, shown, where, env)
            count += 1
    return count


@case
def a_leak_is_found(directory):
    check(follow("leak", directory) > 7, "few commands")


@case
def the_peak_has_an_owner(directory):
    check(follow("peak", directory) > 5, "few commands")


@case
def churn_is_found(directory):
    check(follow("churn", directory) > 7, "few commands")


@case
def containers(directory):
    check(follow("containers", directory) > 2, "few commands")


@case
def continuous_integration(directory):
    check(follow("ci", directory) > 4, "few commands")


@case
def languages(directory):
    check(follow("languages", directory) > 1, "few commands")


@case
def manifests_are_yaml(_):
    try:
        import yaml
    except ImportError:
        raise Skip("the module yaml is not installed") from None
    count = 0
    for path in sorted(glob.glob(os.path.join(PLACE, "*.md"))):
        for language, _, text in blocks(os.path.basename(path)[:-3]):
            if language == "yaml":
                check(isinstance(yaml.safe_load(text), dict), path)
                count += 1
    check(count > 2, "%d manifests" % count)


if __name__ == "__main__":
    main()
