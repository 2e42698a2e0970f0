#!/usr/bin/env python3
"""Reads a dataset of `nrview render --dataset`: python3 docs/read_dataset.py DIR prints what is in it."""

import hashlib
import json
import pathlib
import sys

import numpy as np


def frames(folder):
    """Yields (document, arrays) of every frame, in order; arrays are float32 [height, width, channels]."""
    folder = pathlib.Path(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    if manifest["format"] != "nrview-dataset" or manifest["version"] != 1:
        raise ValueError(f"{folder} is no dataset of version 1")
    if not manifest["complete"]:
        raise ValueError(f"{folder} is not complete: give the command that makes it again")
    width, height = manifest["settings"]["width"], manifest["settings"]["height"]
    channels = dict(manifest["arrays"])
    for name, digest in manifest["frames"]:
        text = (folder / name / "frame.json").read_bytes()
        if hashlib.sha256(text).hexdigest() != digest:
            raise ValueError(f"{name}/frame.json has changed")
        document, arrays = json.loads(text), {}
        for file, size, wanted in document["files"]:
            data = (folder / name / file).read_bytes()
            if len(data) != size or hashlib.sha256(data).hexdigest() != wanted:
                raise ValueError(f"{name}/{file} has changed")
            kind = file.removesuffix(".f16")
            array = np.frombuffer(data, "<f2").astype(np.float32)
            arrays[kind] = array.reshape(height, width, channels[kind])
        yield document, arrays


if __name__ == "__main__":
    for document, arrays in frames(sys.argv[1]):
        error = np.abs(arrays["color"] - arrays["reference"]).mean()
        moving = np.abs(arrays["motion"]).max()
        print(f"sequence {document['sequence']} frame {document['frame']}: "
              f"mean error {error:.4f}, largest motion {moving:.4f}, depth up to {arrays['depth'].max():.1f} m")
