# Computes tables.json with other methods than the package: intervals by bisection of the score test, tails and combinations
# in exact fractions, deviations by the statistics module. Run: python3 tables.py > tables.json
import json
import statistics
from fractions import Fraction
from math import comb, sqrt

Z = statistics.NormalDist().inv_cdf(0.975)


def bound(passes, n, low):
    # The score test rejects p0 where |p - p0| > z * sqrt(p0 (1 - p0) / n): the bound is where both sides are equal.
    p = passes / n
    inside, outside = p, 0.0 if low else 1.0
    if abs(p - outside) <= Z * sqrt(outside * (1 - outside) / n):
        return outside
    for _ in range(200):
        middle = (inside + outside) / 2
        if abs(p - middle) <= Z * sqrt(middle * (1 - middle) / n):
            inside = middle
        else:
            outside = middle
    return inside


def tail(k, n, p):
    return sum(Fraction(comb(n, i)) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


rates = []
for n in (1, 2, 3, 5, 7, 10, 19, 20, 38, 50, 100, 200):
    for passes in sorted({0, 1, n // 3, n // 2, n - 2, n - 1, n} & set(range(n + 1))):
        chance = tail(n - passes, n, Fraction(1, 50))
        rates.append({
            "passes": passes, "n": n, "low": bound(passes, n, True), "high": bound(passes, n, False),
            "significant": 0 < passes < n and chance < Fraction(1, 20),
            "all": {k: float(Fraction(comb(passes, k), comb(n, k))) for k in (1, 2, 3, 5, 10) if k <= n},
            "any": {k: float(1 - Fraction(comb(n - passes, k), comb(n, k))) for k in (1, 2, 3, 5, 10) if k <= n},
        })

scores = []
for values in ([0.5], [0, 1], [0.2, 0.4, 0.9], [1, 1, 1, 1], [0.1, 0.25, 0.25, 0.8, 0.95, 1], [0.3] * 50 + [0.7] * 51):
    scores.append({
        "values": values, "mean": statistics.fmean(values), "median": statistics.median(values),
        "stddev": statistics.stdev(values) if len(values) > 1 else None, "min": min(values), "max": max(values),
    })

print(json.dumps({"rates": rates, "scores": scores}, indent=1))
