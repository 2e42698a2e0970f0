#!/usr/bin/env python3
"""Reads a capture of nrview with nothing but the standard library: checks every digest, gives tensors as lists."""
import hashlib, json, pathlib, re, struct, sys

FORMATS = {"u8": "B", "e4m3": "B", "f16": "e", "f32": "f"}

def document(path):
    """A JSON document that carries the SHA-256 of itself (computed with zeros in place of its digits)."""
    text = path.read_bytes()
    start = text.rindex(b'"sha256": "') + len(b'"sha256": "')
    blank = text[:start] + b"0" * 64 + text[start + 64:]
    assert hashlib.sha256(blank).hexdigest().encode() == text[start:start + 64], f"{path} has been changed"
    return json.loads(text)

def tensor(folder, entry):
    """(shape, elements) of a raw tensor; E4M3 codes stay codes."""
    data = (folder / entry["file"]).read_bytes()
    rows, columns, channels = entry["shape"]
    count, kind = rows * columns * channels, FORMATS[entry["dtype"]]
    assert len(data) == count * struct.calcsize("<" + kind), f"{entry['file']} has another size"
    assert hashlib.sha256(data).hexdigest() == entry["sha256"], f"{entry['file']} has been changed"
    return (rows, columns, channels), struct.unpack(f"<{count}{kind}", data)

def frames(bundle):
    """Yields (frame.json, {name: (shape, elements)}) of every frame."""
    manifest = document(bundle / "manifest.json")
    assert (manifest["format"], manifest["schemaVersion"]) == ("nrview-capture", 1)
    listed = manifest["frames"]
    names = sorted(p.name for p in (bundle / "frames").iterdir() if re.fullmatch(r"\d{6,}", p.name))
    assert listed is None or [f"frames/{name}" for name in names] == [f["folder"] for f in listed], "frames are missing"
    for name in names:
        folder = bundle / "frames" / name
        frame = document(folder / "frame.json")
        assert frame["id"] == manifest["id"], f"{folder} belongs to another capture"
        yield frame, {entry["name"]: tensor(folder, entry) for entry in frame["tensors"]}

if __name__ == "__main__":
    for frame, tensors in frames(pathlib.Path(sys.argv[1])):
        for name, (shape, values) in tensors.items():
            print(frame["frame"]["number"], name, *shape, values[0], sum(values[:64]))
