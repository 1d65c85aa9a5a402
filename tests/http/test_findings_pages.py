#!/usr/bin/env python3
"""What the pages of docs/findings/ tell people to do can be done: commands and flags that there are, settings that a server
takes, addresses of the API."""
import glob, json, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import TARN, Server, folder, main

TOP = os.path.join(HERE, "..", "..")
PAGES = {}
for path in sorted(set(glob.glob(os.path.join(TOP, "docs", "findings", "*.md"))) - {os.path.join(TOP, "docs", "findings", "README.md")}):
    with open(path, encoding="utf-8") as file:
        PAGES[os.path.basename(path)] = file.read()


def quoted():
    """(page, text) of everything between backticks, a line break within it as a blank."""
    for page, text in PAGES.items():
        for code in re.findall(r"`([^`]+)`", text):
            yield page, " ".join(code.split())


def help_of(command):
    done = subprocess.run([TARN, command, "--help"], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode == 0 else None


def the_commands_and_their_flags_exist():
    helps, faults = {}, []
    for page, code in quoted():
        if not code.startswith("tarn "):
            continue
        command = code.split()[1]
        helps.setdefault(command, help_of(command))
        text = helps[command]
        faults += [f"{page}: {code}"] if text is None else [
            f"{page}: {code}: {flag}" for flag in re.findall(r"--[a-z-]+", code) if flag not in text]
    assert len(helps) >= 4 and not faults, faults


def the_settings_are_taken():
    faults, count = [], 0
    with folder() as place:
        server = Server(place + "/data").start()
        client = server.client()
        status, answer = client.call("POST", "/api/tables", {"name": "t"})
        assert status == 201, answer
        for page, code in quoted():
            if not re.match(r'\{"(monitors|verify|schema_enforcement)"', code):
                continue
            count += 1
            status, answer = client.call("PATCH", "/api/table/t", json.loads(code))
            if status != 200:
                faults.append(f"{page}: {code}: {answer}")
            client.call("PATCH", "/api/table/t", {"monitors": None, "verify": None, "schema_enforcement": None})
    assert count >= len(PAGES) and not faults, faults


def the_addresses_are_those_of_the_api():
    with open(os.path.join(TOP, "openapi.yaml"), encoding="utf-8") as f:
        known = re.findall(r"^  (/\S*):$", f.read(), re.M)
    shapes = {re.sub(r"\{[^}]*\}", "X", path) for path in known}
    faults, count = [], 0
    for page, code in quoted():
        found = re.match(r"(?:GET|POST|PATCH|PUT|DELETE) (/api/[^ ?]*)", code)
        if not found:
            continue
        count += 1
        shape = "/".join("X" if part.isupper() else part for part in found[1].split("/"))
        if shape not in shapes:
            faults.append(f"{page}: {code}")
    assert count > 10 and not faults, faults


main(the_commands_and_their_flags_exist, the_settings_are_taken, the_addresses_are_those_of_the_api)
