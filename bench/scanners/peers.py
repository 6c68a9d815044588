"""Recall and speed of each scanner over the same text. Started by `run`; see there.

Every text is a file of its own, as all scanners but ours read files. A planted secret counts as found when a scanner
reports anything in its file; ours counts by the same measure here, and `measure` says what is covered whole. A
scanner's CPU time is that of all its processes, less what it needs for an empty folder. Reports hold the planted
values: they stay in the cache and are removed at once.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CACHE, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
TEXTS, REPORT = CACHE / "texts", CACHE / "report.json"
PYTHON_BIN = CACHE / "python" / "bin"
SPEED_BYTES, FILE_BYTES = 8_000_000, 250_000
# What a scanner needs to start must be small against what it needs for the text, or the difference is noise.
ENOUGH_SECONDS, MOST_COPIES = 3, 16
LINE = "{:<32}{:>8}{:>12}{:>12}{:>15}"


def report():
    return json.loads(REPORT.read_text() or "null") if REPORT.exists() else None


def lines_before_colon(out):
    return {line.split(":", 1)[0] for line in out.splitlines() if ":" in line}


def kingfisher(out):
    found = set()
    for line in out.splitlines():
        if line.startswith("{"):
            found.update(f["finding"]["path"] for f in json.loads(line).get("findings", []))
    return found


# Name, program, command, and which files the output names.
SCANNERS = [
    ("gitleaks 8.30.1", PYTHON_BIN / "gitleaks",
     ["dir", "texts", "--no-banner", "--log-level", "error", "--exit-code", "0",
      "--report-format", "json", "--report-path", str(REPORT)],
     lambda _: {finding["File"] for finding in report() or []}),
    ("kingfisher 2.14.0", PYTHON_BIN / "kingfisher",
     ["scan", "texts", "--format", "json", "--no-validate", "--no-update-check", "--quiet"], kingfisher),
    ("ripsecrets 0.1.11", CACHE / "cargo/bin/ripsecrets", ["texts"], lines_before_colon),
    ("secretlint 11.7.1, recommended", CACHE / "node_modules/.bin/secretlint",
     ["--maskSecrets", "--format", "json", "--output", str(REPORT), "texts/*"],
     lambda _: {file["filePath"] for file in report() or [] if file["messages"]}),
    ("detect-secrets 1.5.0", PYTHON_BIN / "detect-secrets", ["scan", "--all-files", "--no-verify", "texts"],
     lambda out: set(json.loads(out or "{}").get("results", {}))),
    ("credsweeper 1.19.5", PYTHON_BIN / "credsweeper", ["--path", "texts", "--save-json", str(REPORT)],
     lambda _: {data["path"] for found in report() or [] for data in found["line_data_list"]}),
]


def laid_out(texts):
    shutil.rmtree(TEXTS, ignore_errors=True)
    TEXTS.mkdir()
    for number, text in enumerate(texts):
        (TEXTS / f"{number}.txt").write_text(text + "\n", encoding="utf-8")


def cpu_seconds():
    times = os.times()
    return times.children_user + times.children_system


def scan(program, arguments, found_in):
    """The numbers of the files it reports something in, and the CPU seconds it took."""
    REPORT.unlink(missing_ok=True)
    before = cpu_seconds()
    # Scanners differ in the exit code for "something found": what counts is the report.
    done = subprocess.run([str(program), *arguments], cwd=CACHE, capture_output=True, text=True, check=False)
    spent = cpu_seconds() - before
    try:
        files = found_in(done.stdout)
    finally:
        REPORT.unlink(missing_ok=True)
    return {int(Path(file).stem) for file in files if re.fullmatch(r"\d+\.txt", Path(file).name)}, spent


def rate(program, arguments, found_in, texts):
    """Megabytes per CPU second."""
    laid_out([])
    scan(program, arguments, found_in)  # some keep what they compile
    _, idle = scan(program, arguments, found_in)
    copies = 1
    while True:
        # No two files are the same: some scanners look at equal ones once.
        laid_out(f"{copy}\n{text}" for copy in range(copies) for text in texts)
        spent = scan(program, arguments, found_in)[1] - idle
        if spent >= ENOUGH_SECONDS or copies >= MOST_COPIES:
            return copies * sum(len(text.encode()) for text in texts) / 1e6 / max(spent, 0.01)
        copies *= 4


def measured(arguments):
    program = CACHE / "target/release/examples/measure"
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, check=True).stdout


def speed_texts(file):
    if file:
        whole = Path(file).read_text(encoding="utf-8", errors="replace")
    else:
        names = subprocess.run(["git", "ls-files", "*.rs", "*.md", "*.json", "*.html", "*.css"], cwd=ROOT,
                               capture_output=True, text=True, check=True).stdout.split()
        whole = "\n".join((ROOT / name).read_text(encoding="utf-8", errors="replace") for name in names)
    while 0 < len(whole) < SPEED_BYTES:
        whole += "\n" + whole
    whole = whole[:SPEED_BYTES]
    return [whole[at:at + FILE_BYTES] for at in range(0, len(whole), FILE_BYTES)]


def main():
    planted = sys.argv[3] if len(sys.argv) > 3 else None
    corpus = [json.loads(line) for line in open(planted, encoding="utf-8")] if planted else []
    speed = speed_texts(sys.argv[4] if len(sys.argv) > 4 else None)
    plain = {n for n, p in enumerate(corpus) if p["secret"] and p["secret"] in p["text"]}
    encoded = {n for n, p in enumerate(corpus) if p["secret"]} - plain
    negative = set(range(len(corpus))) - plain - encoded
    print(LINE.format("", "recall", f"encoded/{len(encoded)}", f"false/{len(negative)}", "MB/CPU-second"), flush=True)

    def row(name, found, speed_of):
        shares = [f"{len(found & plain) / max(len(plain), 1):.3f}", len(found & encoded), len(found & negative)]
        cells = shares if corpus else ["-"] * 3
        print(LINE.format(name, *cells, f"{speed_of:.1f}"), flush=True)

    for name, program, arguments, found_in in SCANNERS:
        if not program.exists():
            continue
        laid_out(p["text"] for p in corpus)
        found = scan(program, arguments, found_in)[0] if corpus else set()
        row(name, found, rate(program, arguments, found_in, speed))
    shutil.rmtree(TEXTS, ignore_errors=True)

    text = CACHE / "speed.txt"
    text.write_text("".join(speed), encoding="utf-8")
    for name, views in [("onrecord", "on"), ("onrecord, views off", "off")]:
        found = set()
        if planted:
            listed = measured([planted, "--views", views, "--list"])
            found = {int(n) for n in re.findall(r"^found (\d+)$", listed, re.M)}
        speed_of = re.search(r"([\d.]+) MB per", measured([str(text), "--views", views]))
        row(name, found, float(speed_of.group(1)))
    text.unlink()
    if planted:
        print("\n" + measured([planted]).strip())


main()
