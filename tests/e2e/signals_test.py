"""Tools that are ended by a signal leave nothing behind: no process, no socket, no temporary or partial file.

signals_test.py STAX_COMPILE STAX_TUNE
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

COMPILE, TUNE = map(os.path.abspath, sys.argv[1:3])

GRAPH = """
symbol { name: "n" }
input { name: "x" dtype: "f32" dims: "n" dims: "1000" }
node { op: "softmax" input: "x" output: "y" axes: -1 }
output: "y"
"""

# Generous: the machine may be busy.
PATIENCE_S = 30


def wait_for(what):
    """Whether `what()` becomes true in time."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


def processes_with(text):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                if text.encode() in f.read():
                    found.append(int(pid))
        except OSError:
            pass  # it ended
    return found


class SignalsTest(unittest.TestCase):
    def setUp(self):
        # Short, for the path of a socket has at most 107 bytes.
        self.folder = tempfile.TemporaryDirectory(prefix="stax-signals-", dir="/tmp")
        self.addCleanup(self.folder.cleanup)
        self.tmp = os.path.join(self.folder.name, "tmp")
        os.mkdir(self.tmp)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_a_service_removes_its_socket(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            service = subprocess.Popen([COMPILE, "--serve=unix:" + self.path("s")], stdout=subprocess.PIPE)
            self.addCleanup(service.stdout.close)
            self.assertIn(b"serving", service.stdout.readline())
            self.assertTrue(os.path.exists(self.path("s")))
            service.send_signal(number)
            self.assertEqual(service.wait(PATIENCE_S), 0)
            self.assertFalse(os.path.exists(self.path("s")))

    def start_tuning(self):
        with open(self.path("g.textproto"), "w") as f:
            f.write(GRAPH)
        subprocess.run([COMPILE, self.path("g.textproto"), "--target=cpu", "-o", self.path("g.stax")], check=True)
        tuner = subprocess.Popen(
            [TUNE, self.path("g.stax"), "--device=cpu", "--quiet", "--strategy=exhaustive", "--size", "n=20000",
             "--store", self.path("t.db"), "-o", self.path("o.stax")],
            env={**os.environ, "TMPDIR": self.tmp}, stdout=subprocess.DEVNULL)
        # One for the device, one for the reference; the store comes after both answer.
        self.assertTrue(wait_for(lambda: os.path.exists(self.path("t.db"))))
        self.assertEqual(len(processes_with("--serve=unix:" + self.tmp)), 2)
        return tuner

    def test_a_tuner_takes_its_services_along(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number):
                tuner = self.start_tuning()
                tuner.send_signal(number)
                self.assertEqual(tuner.wait(PATIENCE_S), -number)
                self.assertTrue(wait_for(lambda: not processes_with("--serve=unix:" + self.tmp)), "a service is left")
                self.assertFalse(os.path.exists(self.path("o.stax")))
                if number != signal.SIGKILL:
                    self.assertEqual(os.listdir(self.tmp), [])
                os.remove(self.path("t.db"))

    def test_the_store_can_be_used_after_a_killed_run(self):
        tuner = self.start_tuning()
        time.sleep(0.5)  # somewhere in the measurements
        tuner.kill()
        tuner.wait()
        done = subprocess.run(
            [TUNE, self.path("g.stax"), "--device=cpu", "--quiet", "--trials=2", "--store", self.path("t.db"),
             "-o", self.path("o.stax")], stdout=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(os.path.exists(self.path("o.stax")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
