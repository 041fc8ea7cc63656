"""Lists what crosses the title of a box in a picture that Graphviz has drawn: edges, and other titles.

usage: dump-graph-svg.test.py < PICTURE.svg
"""

import re
import sys
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
WIDTH = 0.55  # of a letter, in its height; letters of the fonts that Graphviz finds have up to 0.6
STEPS = 32  # along each curve of an edge


def points_of(path):
    """Points on an edge: a start, and three points for each of its Bezier curves."""
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
    corners = list(zip(numbers[::2], numbers[1::2]))
    for at in range(0, len(corners) - 3, 3):
        for step in range(STEPS + 1):
            t = step / STEPS
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3)
            yield tuple(sum(w * corner[axis] for w, corner in zip(weights, corners[at:at + 4])) for axis in (0, 1))


def box_of(text):
    size, x, y = (float(text.get(key)) for key in ("font-size", "x", "y"))
    half = WIDTH * size * len(text.text) / 2
    return x - half, y - 0.7 * size, x + half, y + 0.2 * size


def meet(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def main():
    groups = list(ElementTree.parse(sys.stdin).iter(SVG + "g"))

    def parts(kind, tag):
        return [(group.find(SVG + "title").text, part) for group in groups if group.get("class") == kind
                for part in group.iter(SVG + tag)]

    # A title is the label of a box, or a node without a frame.
    titles = [(text.text, box_of(text)) for name, text in parts("cluster", "text") + parts("node", "text")
              if "cluster" in name or "title" in name]
    found = [f"'{text}' is crossed by the edge {edge}" for text, box in titles for edge, path in parts("edge", "path")
             if any(meet(box, (x, y, x, y)) for x, y in points_of(path.get("d")))]
    found += [f"'{text}' is over '{other}'" for number, (text, box) in enumerate(titles)
              for other, place in titles[:number] if meet(box, place)]
    print("\n".join(found) if found else f"{len(titles)} lines of titles, none crossed")


main()
