"""Opens a page of mhcc --report in headless Chromium and compares what it shows with mhcc --explain=json.

usage: mhcc-report.test.py layers PAGE.html SCRATCH_FOLDER EXPLAIN.json LAYERS
       mhcc-report.test.py look PAGE.html SCRATCH_FOLDER ADDRESS    prints what a reader sees
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser

MOST_MS = 1000  # of the page's own script, from its first line to the last row, when the machine has time for it
SVG = "http://www.w3.org/2000/svg"  # a name, which no browser opens
OUTSIDE = re.compile(r"https?://|\bsrc=|<link|@import|\burl\((?![`'\"]?#)|\bimport\(|\bfetch\(|XMLHttpRequest|WebSocket")


class Dom(HTMLParser):
    """Elements with their attributes, and the text of the whole body."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.words = []
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside = tag

    def handle_data(self, text):
        if self.inside not in ("script", "style"):
            self.words.append(text)

    def having(self, name, **wanted):
        return [a for _, a in self.elements if name in a and all(a.get(k) == v for k, v in wanted.items())]

    def of_class(self, name):
        return [a for _, a in self.elements if name in a.get("class", "").split()]


def chromium(folder, *arguments):
    """SwiftShader and the sandbox are of no use to a test that draws one page as root."""
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               f"--user-data-dir={folder}/profile", "--virtual-time-budget=20000", "--window-size=1500,1200", *arguments]
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout


def open_page(page, folder, address):
    dom = Dom(chromium(folder, "--dump-dom", page.as_uri() + address).decode())
    root = dom.elements[0][1]
    assert root.get("data-errors") == "", f"{address}: errors: {root.get('data-errors', 'the script did not end')}"
    return dom, int(root["data-ready"])


def totals(function):
    """The expected texts of the tiles of a function."""
    def both(get):
        return [get(function[side]["total"]) for side in ("before", "after")]

    rows = {"launches": both(lambda t: t["launches"]), "bound_us": both(lambda t: t["bound_us"])}
    for key in ("per_token", "fixed"):
        rows["bytes_" + key] = both(lambda t: t["bytes_read"][key] + t["bytes_written"][key])
        rows["flops_" + key] = both(lambda t: t["flops"][key])
        rows["temporary_" + key] = both(lambda t: t["temporary_bytes"][key])
        rows["arena_" + key] = [None, function["after"]["total"]["arena_bytes"][key]]
    return {key: values for key, values in rows.items() if any(values)}


def check_totals(dom, function):
    shown = {}
    for tile in dom.having("data-total"):
        before = tile.get("data-before")
        shown[tile["data-total"]] = [before if before is None else float(before), float(tile["data-after"])]
    assert shown == totals(function), f"the page shows {shown}, --explain=json {totals(function)}"


def is_blank(png):
    """Whether all pixels of a picture are alike, told by the bytes of its rows."""
    data, place = b"", 8
    while place < len(png):
        size = int.from_bytes(png[place:place + 4], "big")
        if png[place + 4:place + 8] == b"IDAT":
            data += png[place + 8:place + 8 + size]
        place += size + 12
    return len(set(zlib.decompress(data))) < 32


def check_layers(page, folder, explain, layers):
    text = page.read_text()
    found = OUTSIDE.findall(text.replace(SVG, ""))
    assert not found, f"the page names what is outside: {found}"
    functions = json.loads(pathlib.Path(explain).read_text())["functions"]

    times = []
    for function in functions:
        dom, ms = open_page(page, folder, f"#f={function['function']}")
        times.append(ms)
        check_totals(dom, function)
        assert not dom.of_class("drawing"), "layers are collapsed until they are opened"
    assert min(times) < MOST_MS, f"the page took {times} ms"

    address = f"#f={functions[0]['function']}"
    dom, _ = open_page(page, folder, address)
    collapsed = dom.of_class("row")
    shown = sum(int(row["data-layers"]) for row in collapsed)
    assert shown == layers, f"{shown} layers are shown"
    dom, _ = open_page(page, folder, address + "&each=1")
    assert len([row for row in dom.of_class("row") if row["data-layers"] == "1"]) == layers
    dom, all_ready = open_page(page, folder, address + "&open=all")
    ops = [node for node in dom.of_class("node") if node.get("role") == "button"]
    assert ops and dom.of_class("edge"), "no layer is drawn"

    picture = os.path.join(folder, "page.png")
    chromium(folder, f"--screenshot={picture}", page.as_uri() + address + "&open=all")
    assert not is_blank(pathlib.Path(picture).read_bytes()), "the picture is blank"
    print(f"{layers} layers in {len(collapsed)} rows, {len(ops)} ops drawn")
    print(f"{len(text) // 1024} KiB, {times} ms, with all drawn {all_ready} ms", file=sys.stderr)


def look(page, folder, address):
    dom, _ = open_page(page, folder, address)
    for tag in ("script", "img"):
        print(f"{tag}: {sum(1 for name, _ in dom.elements if name == tag)}")
    for node in dom.of_class("node"):
        print(f"node: {node['class']}: {node.get('aria-label', '')}")
    print("text:", " | ".join(word.strip() for word in dom.words if word.strip()))


def main():
    action, page, folder, *rest = sys.argv[1:]
    page = pathlib.Path(page).resolve()
    if action == "layers":
        check_layers(page, folder, rest[0], int(rest[1]))
    else:
        look(page, folder, *rest)


main()
