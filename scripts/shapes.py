#!/usr/bin/env python3
"""Counts the visible block faces of a region file that drystone draws in the right shape.

Reads the file by itself, and has its own table of the shapes of its blocks. The only thing that it
takes from drystone is the list of materials with their boxes:

    drystone info --json r.0.0.mca | python3 scripts/shapes.py r.0.0.mca

A face is visible if the next block does not hide it: an opaque cube, or a block of the same fluid. It has
the right shape if the material of the block's state has the boxes that this table expects, and water around
them if the block is in water. Exits with status 1 if less than 99 % of the faces have it.
"""

import json
import struct
import sys
import zlib
from collections import Counter

REQUIRED_PERCENT = 99.0
CUBE = ((0, 0, 0, 16, 16, 16),)
AIR = {"air", "cave_air", "void_air"}
CLEAR_CUBES = {"ice"}
DIRECTIONS = {"north": (0, 0, -1), "east": (1, 0, 0), "south": (0, 0, 1), "west": (-1, 0, 0)}


def read_nbt(data):
    """Returns the value of a named binary tag; arrays stay bytes."""
    at = 0

    def take(count):
        nonlocal at
        at += count
        return data[at - count : at]

    def number(form):
        return struct.unpack(">" + form, take(struct.calcsize(form)))[0]

    def text():
        return take(number("H")).decode("utf-8", "replace")

    def value(kind):
        if kind in (1, 2, 3, 4, 5, 6):
            return number("_bhiqfd"[kind])
        if kind == 8:
            return text()
        if kind in (7, 11, 12):
            return take(number("i") * {7: 1, 11: 4, 12: 8}[kind])
        if kind == 9:
            inner, count = number("b"), number("i")
            return [value(inner) for _ in range(count)]
        entries = {}
        while inner := number("b"):
            name = text()
            entries[name] = value(inner)
        return entries

    kind = number("b")
    text()
    return value(kind)


def columns(path):
    """Yields each column of a region: its position and its data."""
    data = open(path, "rb").read()
    for entry in range(1024):
        location = struct.unpack_from(">I", data, 4 * entry)[0]
        if location:
            start = (location >> 8) * 4096
            length, compression = struct.unpack_from(">IB", data, start)
            assert compression == 2, "only zlib is read"
            yield entry % 32, entry // 32, read_nbt(zlib.decompress(data[start + 5 : start + 4 + length]))


def indices(words, count):
    """Palette indices of a section; before 1.16 they span words."""
    bits = len(words) * 8 // 4096
    packed = b"".join(words[i : i + 8][::-1] for i in range(0, len(words), 8))
    whole = int.from_bytes(packed, "little")
    mask = (1 << bits) - 1
    assert count <= 1 << bits
    # In parts, because shifting one large number 4,096 times is slow.
    found = []
    for part in range(64):
        some = whole >> (part * 64 * bits) & ((1 << 64 * bits) - 1)
        for _ in range(64):
            found.append(some & mask)
            some >>= bits
    return found


def expected_boxes(name, state):
    """Boxes that a block should have, in sixteenths; None for blocks that this table does not contain."""
    if name == "snow":
        height = 2 * int(state["layers"])
        return ((0, 0, 0, 16, height, 16),)
    if name in ("water", "lava"):
        level = int(state["level"])
        ninths = 8 if level == 0 or level >= 8 else 8 - level
        return ((0, 0, 0, 16, round(16 * ninths / 9), 16),)
    if name == "oak_fence":
        boxes = [(6, 0, 6, 10, 16, 10)]
        for side, (x, _, z) in DIRECTIONS.items():
            if state[side] == "true":
                for low, high in ((6, 9), (12, 15)):
                    xs = {-1: (0, 6), 0: (7, 9), 1: (10, 16)}[x]
                    zs = {-1: (0, 6), 0: (7, 9), 1: (10, 16)}[z]
                    boxes.append((xs[0], low, zs[0], xs[1], high, zs[1]))
        return tuple(boxes)
    if name == "rail" and state["shape"] in ("north_south", "east_west"):
        return ((0, 0, 0, 16, 1, 16),)
    if name == "chest" and state["type"] == "single":
        return ((1, 0, 1, 15, 14, 15),)
    if name in PLANTS:
        return "plates"
    if name == "wall_torch":
        return None
    return CUBE


PLANTS = {
    "grass", "fern", "large_fern", "dandelion", "poppy", "seagrass", "tall_seagrass", "sugar_cane", "cobweb"
}


def is_in_water(name, state):
    return name in {"seagrass", "tall_seagrass", "kelp", "kelp_plant"} or state.get("waterlogged") == "true"


def is_right(expected, boxes):
    """Whether a material's boxes are those expected. Plants are plates that cross, with or without a
    small head, within their voxel."""
    if expected == "plates":
        flat = [box for box in boxes if any(box[axis] == box[axis + 3] for axis in range(3))]
        axes = {axis for box in flat for axis in (0, 2) if box[axis] == box[axis + 3]}
        return axes == {0, 2} and len(boxes) - len(flat) <= 1
    return expected is not None and sorted(expected) == sorted(boxes)


def material_of(name, state, materials):
    """The boxes of a state: the material that lists most properties, and only those of the state."""
    for listed, boxes, fluid in materials.get(name, []):
        is_wet = is_in_water(name, state) and boxes != list(CUBE)
        if all(state.get(key) == value for key, value in listed) and fluid == ("water" if is_wet else None):
            return boxes
    return list(CUBE)


def read_materials(report):
    materials = {}
    for material in report["materials"]:
        words = material["name"].split(" ")
        listed = [tuple(word.split("=")) for word in words[1:] if "=" in word]
        boxes = [tuple(low + high) for low, high in material.get("boxes", [])] or list(CUBE)
        materials.setdefault(words[0], []).append((listed, boxes, material.get("fluid")))
    for states in materials.values():
        states.sort(key=lambda state: -len(state[0]))
    return materials


def hides(name, state):
    """Whether a block hides the face of the next one."""
    return expected_boxes(name, state) == CUBE and name not in CLEAR_CUBES


def main(path):
    materials = read_materials(json.load(sys.stdin))
    states, numbers = [], {}
    sections = {}
    for x, z, column in columns(path):
        for section in column["Level"]["Sections"]:
            if "Palette" not in section:
                continue
            palette = []
            for block in section["Palette"]:
                key = (block["Name"].removeprefix("minecraft:"), tuple(sorted(block.get("Properties", {}).items())))
                if key not in numbers:
                    numbers[key] = len(states)
                    states.append((key[0], dict(key[1])))
                palette.append(numbers[key])
            found = indices(section["BlockStates"], len(palette))
            sections[x, section["Y"], z] = [palette[i] for i in found]
    is_air = [name in AIR for name, _ in states]
    is_hiding = [not is_air[n] and hides(*state) for n, state in enumerate(states)]
    fluid = [name if name in ("water", "lava") else None for name, _ in states]

    def block(sections_at, x, y, z):
        key = (sections_at[0] + (x >> 4), sections_at[1] + (y >> 4), sections_at[2] + (z >> 4))
        section = sections.get(key)
        return None if section is None else section[(x & 15) | (z & 15) << 4 | (y & 15) << 8]

    faces = Counter()
    steps = list(DIRECTIONS.values()) + [(0, 1, 0), (0, -1, 0)]
    offsets = [dx + 16 * dz + 256 * dy for dx, dy, dz in steps]
    for at, section in sections.items():
        for index, state in enumerate(section):
            if is_air[state]:
                continue
            x, z, y = index & 15, index >> 4 & 15, index >> 8
            inner = 0 < x < 15 and 0 < y < 15 and 0 < z < 15
            for (dx, dy, dz), offset in zip(steps, offsets):
                beyond = section[index + offset] if inner else block(at, x + dx, y + dy, z + dz)
                if beyond is not None and (is_hiding[beyond] or (fluid[state] and fluid[state] == fluid[beyond])):
                    continue
                if beyond == state and states[state][0] in CLEAR_CUBES:
                    continue
                faces[state] += 1
    total, right = sum(faces.values()), 0
    wrong = Counter()
    for state, count in faces.items():
        name, properties = states[state]
        if is_right(expected_boxes(name, properties), material_of(name, properties, materials)):
            right += count
        else:
            wrong[name] += count
    percent = 100 * right / max(total, 1)
    cubes = sum(count for state, count in faces.items() if expected_boxes(*states[state]) == CUBE)
    print(f"{right} of {total} visible block faces have the right shape ({percent:.2f} %); {total - cubes} are not of cubes")
    for name, count in wrong.most_common():
        print(f"    {count:>8}  {name}")
    return 0 if percent >= REQUIRED_PERCENT else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: drystone info --json REGION.mca | python3 scripts/shapes.py REGION.mca")
    sys.exit(main(sys.argv[1]))
