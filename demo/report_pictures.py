#!/usr/bin/python3
"""make report-pictures: the terminal output of `gnomon report` for five
programs, and for that of `make demo`, as SVG in light and dark.

usage: report_pictures.py FOLDER
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "system"))

from gnomon_test import GNOMON  # noqa: E402

COLUMNS = 80
CHARACTER, LINE, MARGIN = 8.4, 18, 16
SGR = re.compile(r"\x1b\[([\d;]*)m")
STYLE = """
text { font: 14px "DejaVu Sans Mono", Menlo, Consolas, monospace;
white-space: pre; fill: #1f2328 }
.page { fill: #ffffff; stroke: #d1d9e0 }
.bold { font-weight: bold } .dim { fill: #6e7781 } .c36 { fill: #1b7c83 }
.c31 { fill: #b42318 } .c32 { fill: #1a7f37 } .c33 { fill: #9a6700 }
.c34 { fill: #0969da } .c35 { fill: #8250df }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .page { fill: #0d1117; stroke: #3d444d }
.dim { fill: #8b949e } .c36 { fill: #56d4dd } .c31 { fill: #ff7b72 }
.c32 { fill: #3fb950 } .c33 { fill: #d29922 } .c34 { fill: #58a6ff }
.c35 { fill: #bc8cff } }
"""

RUST = """
use std::collections::HashMap;
fn index(text: &str) -> HashMap<String, Vec<usize>> {
    let mut words: HashMap<String, Vec<usize>> = HashMap::new();
    for (line, text) in text.lines().enumerate() {
        for word in text.split_whitespace() {
            words.entry(word.to_lowercase()).or_default().push(line);
        }
    }
    words
}
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap());
    let text = text.unwrap().repeat(20);
    let words = index(&text);
    println!("{}", words.len());
    std::mem::forget(words);
}
"""
PYTHON = """
import json
cache = {}
def load(i):
    text = json.dumps({'id': i, 'name': 'row %d' % i, 'tags': list(range(i % 20))})
    cache[i] = json.loads(text)
for i in range(20000):
    load(i)
"""
NODE = """
const kept = [];
for (let i = 0; i < 3000; i++) {
    const buffer = Buffer.from('x'.repeat(5000 + i));
    if (i % 3 === 0)
        kept.push(buffer);
}
console.log(kept.length);
"""
CPP = """
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>
static std::map<std::string, std::vector<int>> places;
static void note(const std::string &line, int number)
{
    static const std::regex word("[A-Za-z_]+");
    auto at = std::sregex_iterator(line.begin(), line.end(), word);
    for (; at != std::sregex_iterator(); ++at)
        places[at->str()].push_back(number);
}
int main(int, char **argv)
{
    std::ifstream file(argv[1]);
    std::string line;
    for (int number = 1; std::getline(file, line); number++)
        note(line, number);
    std::printf("%zu\\n", places.size());
}
"""


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def programs(folder):
    """name: arguments of `gnomon run`."""
    text = os.path.join(ROOT, "docs", "FORMAT.md")
    shutil.copy(text, folder)
    shutil.copy(os.path.join(ROOT, "demo", "demo.sql"), folder)
    subprocess.run(["g++", "-g", "-O1", "-o", "words",
                    written(folder, "words.cpp", CPP)], cwd=folder, check=True)
    subprocess.run(["rustc", "-g", "-O", "-o", "index",
                    written(folder, "index.rs", RUST)], cwd=folder, check=True)
    written(folder, "load.py", PYTHON)
    written(folder, "buffers.js", NODE)
    subprocess.run(["gcc", "-g", "-O2", "-o", "concordance", os.path.join(
        ROOT, "demo", "concordance.c")], cwd=folder, check=True)
    return {
        "demo": ["./concordance", "FORMAT.md"],
        "c": ["sqlite3", ":memory:", ".read demo.sql"],
        "cpp": ["./words", "FORMAT.md"],
        "rust": ["./index", "FORMAT.md"],
        "python": ["--no-pools", "/usr/bin/python3", "load.py"],
        "node": ["node", "buffers.js"],
    }


def spans(line):
    """(column, classes, text)."""
    column, classes = 0, []
    for i, part in enumerate(SGR.split(line)):
        if i % 2 == 0:
            if part:
                yield column, " ".join(classes), part
            column += len(part)
            continue
        for code in part.split(";"):
            classes = {"": [], "0": [], "1": classes + ["bold"],
                       "2": classes + ["dim"]}.get(code, classes + [
                           "c" + code])


def picture(lines):
    width = COLUMNS * CHARACTER + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" '
           'width="%g" height="%g">' % (width, height, width, height),
           "<style>%s</style>" % STYLE,
           '<rect class="page" x=".5" y=".5" width="%g" height="%g" rx="6"/>' %
           (width - 1, height - 1)]
    for i, line in enumerate(lines):
        for column, classes, text in spans(line):
            out.append(
                '<text x="%g" y="%g" textLength="%g"%s xml:space="preserve">%s'
                '</text>' % (MARGIN + column * CHARACTER,
                             MARGIN + (i + .75) * LINE, len(text) * CHARACTER,
                             ' class="%s"' % classes if classes else "",
                             escape(text)))
    return "\n".join(out + ["</svg>", ""])


def main():
    target = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for name, argv in programs(folder).items():
            trace = name + ".trace"
            subprocess.run([GNOMON, "run", "-q", "-f", "-o", trace, *argv],
                           cwd=folder, check=True, stdout=subprocess.DEVNULL)
            said = subprocess.run(
                [GNOMON, "report", "-q", "--color=always", trace], cwd=folder,
                check=True, capture_output=True, text=True,
                env={**os.environ, "COLUMNS": str(COLUMNS),
                     "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})
            lines = ["$ gnomon report"] + said.stdout.splitlines()[1:]
            path = os.path.join(target, "report-%s.svg" % name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(picture(lines))
            print("%s: %d lines" % (path, len(lines)))


if __name__ == "__main__":
    main()
