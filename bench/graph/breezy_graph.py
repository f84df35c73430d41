"""Builds and reads bzr's graph indexes for the benchmark suite graph, one task a line on standard input, in the breezy package's own ways."""

import json
import os
import sys
import time

from breezy import transport as transports
from breezy.bzr.btree_index import BTreeBuilder, BTreeGraphIndex
from breezy.bzr.index import CombinedGraphIndex


class CountingTransport:
    """Hands everything on, and counts requests and bytes."""

    def __init__(self, inner):
        self.inner = inner
        self.requests = 0
        self.bytes = 0

    def readv(self, name, offsets, *args, **kwargs):
        self.requests += 1
        for offset, data in self.inner.readv(name, offsets, *args, **kwargs):
            self.bytes += len(data)
            yield offset, data

    def get_bytes(self, name):
        data = self.inner.get_bytes(name)
        self.requests += 1
        self.bytes += len(data)
        return data

    def __getattr__(self, name):
        return getattr(self.inner, name)


def load(path):
    """Keys, parents by number, heads and keys to look up of the text that breezy.mjs wrote."""
    with open(path, "rb") as file:
        nodes, rest = file.read().split(b"\n\n", 1)
    keys, parents = [], []
    for line in nodes.split(b"\n"):
        key, numbers = line.split(b"\t")
        keys.append(tuple(key.split(b" ")))
        parents.append([int(number) for number in numbers.split()])
    heads, *asked = rest.rstrip(b"\n").split(b"\n")
    references = [((tuple(keys[parent] for parent in numbers)),) for numbers in parents]
    return keys, references, [keys[int(head)] for head in heads.split()], [tuple(key.split(b" ")) for key in asked]


class Tasks:
    def __init__(self, nodes_path, index_path):
        self.keys, self.references, self.heads, self.asked = load(nodes_path)
        os.unlink(nodes_path)
        self.index_path = index_path
        self.index = None

    def open(self):
        directory, name = os.path.split(self.index_path)
        counting = CountingTransport(transports.get_transport(directory))
        return BTreeGraphIndex(counting, name, os.path.getsize(self.index_path)), counting

    def build(self, path):
        builder = BTreeBuilder(reference_lists=1, key_elements=len(self.keys[0]))
        for key, references in zip(self.keys, self.references):
            builder.add_node(key, b"", references)
        with builder.finish() as made, open(path, "wb") as file:
            file.write(made.read())
            file.flush()
            os.fsync(file.fileno())
        return {"done": len(self.keys)}

    def walk(self):
        index, counting = self.open()
        found, _ = CombinedGraphIndex([index]).find_ancestry(self.heads, 0)
        return {"done": len(found), "requests": counting.requests, "bytes": counting.bytes}

    def look_up(self, cached):
        if cached and self.index is None:
            self.index, _ = self.open()
            list(self.index.iter_entries(self.asked))
        index = self.index if cached else self.open()[0]
        index.key_count()
        found = 0
        asked = self.asked if cached else self.asked[:500]
        since, cpu = time.perf_counter(), time.process_time()
        for key in asked:
            if not cached:
                index.clear_cache()
            for entry in index.iter_entries([key]):
                found += len(entry[3][0])
        return {
            "done": len(asked),
            "found": found,
            "seconds": time.perf_counter() - since,
            "cpu": time.process_time() - cpu,
        }

    def cold_reads(self):
        counts = []
        for key in self.asked[:200]:
            index, counting = self.open()
            list(index.iter_entries([key]))
            counts.append(counting.requests)
        return {"counts": counts}

    def run(self, task, **options):
        since, cpu = time.perf_counter(), time.process_time()
        answer = getattr(self, task)(**options)
        seconds = {"seconds": time.perf_counter() - since, "cpu": time.process_time() - cpu}
        return {**seconds, **answer}


def main():
    tasks = Tasks(*sys.argv[1:3])
    for line in sys.stdin:
        print(json.dumps(tasks.run(**json.loads(line))), flush=True)


main()
