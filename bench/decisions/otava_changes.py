# Apache Otava on the same series: one JSON list of lists of values comes in, one JSON object goes out, with the indices that it calls change points and
# the CPU time it took. It must never see how we label them.
import json
import sys
import time

from otava.analysis import compute_change_points

# Its own defaults for the window and the p-value, and our smallest effect.
WINDOW, P_VALUE, SMALLEST = 50, 0.001, 0.02

series = json.load(sys.stdin)
begin = time.process_time()
found = []
for values in series:
    points, _ = compute_change_points(values, WINDOW, P_VALUE, SMALLEST)
    found.append([int(point.index) for point in points])
json.dump({"found": found, "ms": 1000 * (time.process_time() - begin)}, sys.stdout)
