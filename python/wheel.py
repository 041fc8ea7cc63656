"""Makes the module mhcc that was built known to Python's packaging, and a wheel of it.

usage: wheel.py PYPROJECT.toml VERSION BUILT [WHEELS]

BUILT is the folder with the folder mhcc; it gets mhcc-VERSION.dist-info, so that programs with BUILT on their path find
the backend. WHEELS is a folder for the wheel.
"""

import base64
import csv
import hashlib
import io
import os
import sys
import tomllib
import zipfile

TAG = "py3-none-manylinux_2_36_x86_64"


def metadata(project, version):
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}",
             f"Summary: {project['description']}", f"License-Expression: {project['license']}",
             f"Requires-Python: {project['requires-python']}"]
    return lines + [f"Requires-Dist: {needed}" for needed in project["dependencies"]]


def entry_points(project):
    for group, entries in project["entry-points"].items():
        yield f"[{group}]"
        yield from (f"{name} = {value}" for name, value in entries.items())


def files_of(folder):
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (os.path.join(path, name) for name in sorted(names) if name != "RECORD")


def record(files, name):
    """The line of each file: path, hash and size."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for place, path in files.items():
        with open(path, "rb") as file:
            content = file.read()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow([place, f"sha256={digest}", len(content)])
    rows.writerow([name, "", ""])
    return text.getvalue()


def main(pyproject, version, built, wheels=None):
    with open(pyproject, "rb") as file:
        project = tomllib.load(file)["project"]
    info = os.path.join(built, f"{project['name']}-{version}.dist-info")
    os.makedirs(info, exist_ok=True)
    for name, lines in (("METADATA", metadata(project, version)), ("entry_points.txt", entry_points(project)),
                        ("WHEEL", ["Wheel-Version: 1.0", "Generator: mhc", "Root-Is-Purelib: false", f"Tag: {TAG}"])):
        with open(os.path.join(info, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    if not wheels:
        return
    os.makedirs(wheels, exist_ok=True)
    module = os.path.join(built, project["name"])
    files = {os.path.relpath(path, built): path for path in [*files_of(module), *files_of(info)]}
    for tool in sorted(os.listdir(os.path.join(module, "bin"))):
        files[f"{project['name']}-{version}.data/scripts/{tool}"] = os.path.join(os.path.dirname(__file__), "run_tool.py")
    name = os.path.join(wheels, f"{project['name']}-{version}-{TAG}.whl")
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for place, path in files.items():
            wheel.write(path, place)
        listed = os.path.relpath(os.path.join(info, "RECORD"), built)
        wheel.writestr(listed, record(files, listed))
    print(name)


main(*sys.argv[1:])
