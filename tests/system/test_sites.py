#!/usr/bin/python3
"""Sites are in the user's code, not in functions of the language's library or
of a runtime between that code and malloc."""

import json
import os
import subprocess

from gnomon_test import *

RUST = """
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write;
#[inline(never)] fn fill_map(n: usize) -> HashMap<usize, String> {
    let mut map = HashMap::new();
    for i in 0..n { map.insert(i, format!("value {}", i)); }
    map
}
#[inline(never)] fn fill_tree(n: usize) -> BTreeMap<String, Vec<u8>> {
    let mut tree = BTreeMap::new();
    for i in 0..n { tree.insert(i.to_string(), vec![0u8; i + 1]); }
    tree
}
#[inline(never)] fn words(n: usize) -> HashSet<String> {
    let mut text = String::new();
    for i in 0..n { write!(text, "w{} ", i).unwrap(); }
    text.split_whitespace().map(str::to_string).collect()
}
#[inline(never)] fn queue(n: usize) -> VecDeque<Box<u64>> {
    let mut queue = VecDeque::new();
    for i in 0..n { queue.push_back(Box::new(i as u64)); }
    queue
}
#[inline(never)] fn sorted(n: usize) -> Vec<String> {
    let mut v: Vec<String> = (0..n).map(|i| (n - i).to_string()).collect();
    v.sort();
    v.join(",").split(',').map(String::from).collect()
}
struct Item { name: String }
impl Clone for Item {
    #[inline(never)] fn clone(&self) -> Item {
        let mut name = self.name.clone();
        name.push('y');
        Item { name }
    }
}
fn main() {
    let item = Item { name: "x".repeat(500) };
    let items: Vec<Item> = (0..100).map(|_| item.clone()).collect();
    println!("{} {} {} {} {} {}", fill_map(200).len(), fill_tree(200).len(),
             words(200).len(), queue(200).len(), sorted(200).len(),
             items[99].name.len());
}
"""

# What std does before and after main, below nothing of the program's.
RUNTIME = 4096


def rows_by_site(trace):
    return json.loads(gnomon("report", trace, "--json", "--by", "site",
                             "--top", "0").out)["rows"]


def bytes_by_site(trace):
    sites = {}
    for row in rows_by_site(trace):
        # The stack begins at the row's site.
        name = row["stack"][0]["function"] if row["stack"] else None
        sites[name] = sites.get(name, 0) + row["total_bytes"]
    return sites


@case
def rust(directory):
    need("rustc")
    source = os.path.join(directory, "sites.rs")
    with open(source, "w", encoding="utf-8") as file:
        file.write(RUST)
    for mangling in ("legacy", "v0"):
        folder = os.path.join(directory, mangling)
        os.mkdir(folder)
        done = bare(["rustc", "-g", "-O", "-Z", "unstable-options", "-C",
                     "symbol-mangling-version=" + mangling, source, "-o",
                     os.path.join(folder, "sites")],
                    env=environment(RUSTC_BOOTSTRAP=1), seconds=300)
        equal(done.status, 0, "rustc: " + done.err)
        sites = bytes_by_site(recorded([os.path.join(folder, "sites")],
                                       folder).trace)
        own = {name: size for name, size in sites.items()
               if name and ("sites::" in name or name == "main")}
        check(sum(sites.values()) - sum(own.values()) < RUNTIME,
              "%s: elsewhere than in the program: %s" % (mangling, {
                  name: size for name, size in sites.items()
                  if name not in own}))
        for name in ("fill_map", "fill_tree", "words", "queue", "sorted"):
            check(own.get("sites::" + name, 0) > 1000, "%s: %s in %s" % (
                mangling, name, own))
        check(own.get("<sites::Item as core::clone::Clone>::clone", 0) >=
              100 * 500, "%s: the user's impl: %s" % (mangling, own))


@case
def the_jvm(directory):
    need("java")
    done = recorded(["java", "-XX:+UseSerialGC", "-Xmx64m", "-version"],
                    directory, seconds=300)
    equal(done.status, 0, done.err)
    sites = bytes_by_site(done.trace)
    if not any("::" in (name or "") for name in sites):
        raise Skip("this JVM has no names")
    wrappers = ("os::malloc", "os::realloc", "os::strdup", "AllocateHeap",
                "Arena::", "Chunk", "NMTPreInit", "JLI_MemAlloc")
    for name in sites:
        check(not (name or "").startswith(wrappers), "%s is a site" % name)
    check(max(sites.values()) < sum(sites.values()) / 2,
          "half of all at one site: %s" % sites)


main()
