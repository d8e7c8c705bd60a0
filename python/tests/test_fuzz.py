"""What the fuzzers begin with, and the folder with which others build them."""

import hashlib
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUZZ = ROOT / "tests" / "fuzz"
TARGETS = set(re.search(r"^foreach\(target (.*)\)$", (FUZZ / "CMakeLists.txt").read_text(), re.M)[1].split())


def test_the_folder_for_others_builds_all_targets():
    script = (FUZZ / "oss-fuzz" / "build.sh").read_text()
    assert set(re.search(r"^targets=\((.*)\)$", script, re.M)[1].split()) == TARGETS
    for variable in ("$CXX", "$LIB_FUZZING_ENGINE", "$OUT", "$SRC", "$WORK"):
        assert variable in script
    subprocess.run(["bash", "-n", FUZZ / "oss-fuzz" / "build.sh"], check=True)


def test_each_target_begins_with_a_stored_corpus(tmp_path):
    stored = {path.name.split(".")[0]: path for path in (FUZZ / "corpus").glob("*.tar.xz")}
    assert set(stored) == TARGETS
    assert sum(path.stat().st_size for path in stored.values()) < 300 * 1024
    subprocess.run([sys.executable, FUZZ / "short_seeds.py", tmp_path], check=True)
    for target, path in stored.items():
        with tarfile.open(path) as archive:
            assert archive.getnames()
            for member in archive:  # libFuzzer names inputs by their SHA-1
                content = archive.extractfile(member).read()
                assert member.isfile() and member.name == hashlib.sha1(content).hexdigest()
                assert (tmp_path / target / member.name).read_bytes() == content
