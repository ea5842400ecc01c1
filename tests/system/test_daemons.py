#!/usr/bin/python3
"""Daemons that give up their parent, session, directory, descriptors, and even
the root directory. They behave as without gnomon, and are recorded to the
end."""

from gnomon_test import *



def result_of(path):
    """What the daemon wrote, when it is done."""
    def text():
        if not os.path.exists(path):
            return ""
        with open(path) as result:
            return result.read()

    check(wait_for(lambda: text().endswith("end 1\n")),
          "no end of the daemon: %r" % text())
    return text()


def make(way, with_root):
    def daemon(directory):
        if with_root:
            need_root("change its root")
        root = os.path.join(directory, "root")
        os.mkdir(root)
        result = os.path.join(directory, "result")
        argv = [program("daemon"), result, root if with_root else "-", way]
        alone = bare(argv)
        alone.out += result_of(result)
        os.unlink(result)
        for by in "run", "preload":
            part = os.path.join(directory, by)
            os.mkdir(part)
            done = recorded(argv, part, by=by)
            done.out = result_of(result)
            os.unlink(result)
            # three processes, one after the other
            check(wait_for(lambda: len(done.traces) == 3), "%s" % done.traces)
            settle(part)
            equal((done.status, done.out), (alone.status, alone.out), by)
            last = max(done.traces, key=os.path.getsize)
            agree(done.expected, Report(last), by + ": ")
            equal(find_key(info(last), "reason"), "exit", "reason")
            equal(os.listdir(root), [], "left in the root")
            left = [name for name in os.listdir(part) if "trace" not in name
                    or name.endswith(".live")]
            equal(left, [], "left of ours")
    daemon.__name__ = "daemon_closing_%s%s" % (
        way, "_in_another_root" if with_root else "")
    return daemon


for each in "each", "range":
    case(make(each, False))
    case(make(each, True))


main()
