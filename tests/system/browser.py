"""Opens pages in a real browser: node runs the scripts of tests/ui/."""

import json
import os
import shutil

from gnomon_test import (BUILD, RUN_SECONDS, Skip, bare, check, environment,
                         need)

UI = os.path.join(BUILD, "tests", "ui")
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ui")


def need_npm(package):
    if not os.path.isdir(os.path.join(UI, "node_modules", package)):
        raise Skip(package + " is not there: `make deps-test`")


def browsed(script, argument, may_fail=False):
    """What a script says of the pages that `argument` names; it fails where
    one of them asked the network, or, unless it may, a script in it went
    wrong or a call was refused."""
    need("node")
    need("chromium")
    need_npm("playwright-core")
    done = bare(["node", os.path.join(SCRIPTS, script), json.dumps(argument)],
                environment(GNOMON_UI=UI,
                            GNOMON_CHROMIUM=shutil.which("chromium")))
    check(done.status == 0, "%s: %s" % (script, done.err))
    said = json.loads(done.out)
    check(not said["requests"], "asked for %s" % said["requests"])
    check(may_fail or not said["errors"], "errors: %s" % said["errors"])
    return said
