#!/usr/bin/python3
"""The whole grid of configs/sweeps/search.yaml as data, and searches replayed from it.

    search_grid.py keep DIR FILE          results of `daybreak sweep search --out DIR` to FILE (.csv.gz)
    search_grid.py replay FILE SEEDS EVALUATIONS POPULATION
                                          one line a seed: the numbers of the points that scripts/search asks for
"""
import gzip
import importlib.machinery
import importlib.util
import json
import os
import sys

OBJECTIVES = ["us", "area_mm2_nominal", "hbm_usd_nominal"]
SIZES = [3] * 8


def keep(folder, file):
    with open(os.path.join(folder, "results.jsonl"), encoding="utf-8") as lines:
        rows = [json.loads(line)["objectives"] for line in lines]
    text = ",".join(OBJECTIVES) + "\n"
    text += "".join(",".join(f"{row[name]:.6g}" for name in OBJECTIVES) + "\n" for row in rows)
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as packed:
        packed.write(text.encode())


def replay(file, seeds, evaluations, population):
    script = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../scripts/search")
    loader = importlib.machinery.SourceFileLoader("search", script)
    sys.dont_write_bytecode = True
    search = importlib.util.module_from_spec(importlib.util.spec_from_loader("search", loader))
    loader.exec_module(search)
    with gzip.open(file, "rt") as lines:
        next(lines)
        grid = [[float(word) for word in line.split(",")] for line in lines]

    def number(point):
        at = 0
        for size, level in zip(SIZES, point):
            at = at * size + level
        return at

    class Lookup:
        objectives = len(OBJECTIVES)

        def __call__(self, points):
            return {p: grid[number(p)] for p in points}

    for seed in range(1, seeds + 1):
        points = search.nsga2(SIZES, lambda p: True, Lookup(), evaluations, population, seed)
        print(" ".join(str(number(p)) for p in points), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "keep":
        keep(sys.argv[2], sys.argv[3])
    else:
        replay(sys.argv[2], *(int(word) for word in sys.argv[3:]))
