"""The values of games like Threes for very many dice, enclosed from both sides.

Dice are rolled together and taken from the lowest up; what is taken counts its
points, of which the lowest face has none. Let V(n) be the expected points of n
dice of which at least one must be taken (or, if that is allowed, none, and then at
least two), and W(n) the same where at least two must. A roll sorted as r1 <= r2
<= ... is worth the least of r1 + ... + rk + V(n - k) over k, or W(n).

With z dice of no points and c the points of the next face, two facts leave few k:

1. Taking die k > z changes the sum by r_k - (V(m) - V(m - 1)), m = n - k + 1. This
   is >= c - (V(m) - V(m - 1)) >= 0 wherever V rises by at most c in a step: for all
   m > m0. So none of these k is better than z, or than as many as must be taken.
2. Leaving j <= m0 dice takes n - z - j dice of at least c points each. Where that
   alone is as much as the largest V (and what must be taken), it isn't better.

So only rolls with nearly all dice free of points need to be looked at one by one;
for the rest the number of such dice, which is binomial, decides, with the two
lowest others where they are too few. The kernel checks both facts, with bounds and
not with approximate values, before it uses them, and gives up where they fail.

Every V(n) is enclosed: the recursion is monotone, so that run on lower bounds and
rounded down it gives a lower bound, and likewise above. The rounding of each step
is bounded as it is made.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel, kernel

UNIT = 2.0**-53
NEGLIGIBLE = 1e-40  # a probability this small is enclosed by what it can matter at most


@kernel
def binomial(n, faces, chance):
    """``chance[z]``: the probability that z of n dice show one given face.

    Built from the mode outwards by ratios and divided by the sum, so that the
    relative error is at most ``2 |z - mode| + 2 E|z - mode| + 8`` units.

    Returns
    -------
    mode : int
    spread : float
        E|z - mode|, rounded up.
    """
    mode = (n + 1) // faces
    others = faces - 1
    chance[mode] = 1.0
    total = 1.0
    lost = 0.0  # what the additions rounded away (Neumaier 1974)
    spread = 0.0
    for z in range(mode + 1, n + 1):
        w = chance[z - 1] * (n - z + 1) / (z * others)
        chance[z] = w
        spread += (z - mode) * w
        after = total + w
        lost += (total - after) + w
        total = after
    for z in range(mode - 1, -1, -1):
        w = chance[z + 1] * ((z + 1) * others) / (n - z)
        chance[z] = w
        spread += (mode - z) * w
        after = total + w
        lost += (total - after) + w
        total = after
    total += lost
    for z in range(n + 1):
        chance[z] /= total
    return mode, spread / total * (1.0 + 1e-9)


@kernel
def one_by_one(n, zeros, need, points, low, high, skip_low, skip_high, choose):
    """The mean over all rolls with `zeros` dice free of points, each looked at.

    Parameters
    ----------
    need : int
        How many dice must be taken.
    low, high : float64 arrays
        Bounds on V of fewer dice.
    skip_low, skip_high : float
        Bounds on the worth of taking none; infinite where that isn't allowed.

    Returns
    -------
    lower, upper : float
        Right to (number of faces + 8) units each, and two for their sum.
    """
    others = points.shape[0] - 1
    rest = n - zeros
    start_low, start_high = skip_low, skip_high
    for k in range(need, zeros + 1):
        start_low = min(start_low, low[n - k])
        start_high = min(start_high, high[n - k])
    shown = np.zeros(others, np.int64)
    shown[0] = rest
    ways_total = 1.0
    for _ in range(rest):
        ways_total *= others
    lower = upper = lost_low = lost_high = 0.0
    while True:
        ways = 1.0
        left = rest
        for face in range(others):
            ways *= choose[left, shown[face]]
            left -= shown[face]
        best_low, best_high = start_low, start_high
        taken = zeros
        cost = 0.0
        for face in range(others):
            for _ in range(shown[face]):
                taken += 1
                cost += points[face + 1]
                if taken >= need:
                    best_low = min(best_low, cost + low[n - taken])
                    best_high = min(best_high, cost + high[n - taken])
        term = ways * best_low
        after = lower + term
        lost_low += (lower - after) + term if lower >= term else (term - after) + lower
        lower = after
        term = ways * best_high
        after = upper + term
        lost_high += (upper - after) + term if upper >= term else (term - after) + upper
        upper = after
        # the next composition of the rest (Nijenhuis and Wilf 1978, NEXCOM)
        first = 0
        while first < others - 1 and shown[first] == 0:
            first += 1
        if first >= others - 1:
            break
        moved = shown[first]
        shown[first] = 0
        shown[0] = moved - 1
        shown[first + 1] += 1
    return (lower + lost_low) / ways_total, (upper + lost_high) / ways_total


@inner_kernel
def lowest_two(n, zeros, need, points, base_low, base_high, skip_low, skip_high):
    """Rolls with fewer free dice than must be taken, by their one or two lowest others.

    Returns
    -------
    lower, upper : float
        Sums weighted with the probabilities (not means), right to 32 n units of
        the probability times the worth.
    """
    faces = points.shape[0]
    lower = upper = 0.0
    if need == 1 or zeros == 1:
        # one more must be taken: the lowest of the others
        dice = n - zeros
        factor = 1.0 if zeros == 0 else n / faces
        for i in range(1, faces):
            p = factor * (((faces - i) / faces) ** dice - ((faces - i - 1) / faces) ** dice)
            lower += p * min(points[i] + base_low, skip_low)
            upper += p * min(points[i] + base_high, skip_high)
        return lower, upper
    for i in range(1, faces):
        at_least, above = (faces - i) / faces, (faces - i - 1) / faces
        twice = at_least**n - above**n - n / faces * above ** (n - 1)
        lower += max(twice, 0.0) * min(2 * points[i] + base_low, skip_low)
        upper += max(twice, 0.0) * min(2 * points[i] + base_high, skip_high)
        for j in range(i + 1, faces):
            p = n / faces
            p *= ((faces - j) / faces) ** (n - 1) - ((faces - j - 1) / faces) ** (n - 1)
            lower += p * min(points[i] + points[j] + base_low, skip_low)
            upper += p * min(points[i] + points[j] + base_high, skip_high)
    return lower, upper


@kernel(never_interpreted=True)
def many_dice(most, points, skip, looked_at, choose, low, high):
    """Enclose V and W for every number of dice up to `most`.

    Parameters
    ----------
    points : (faces,) float64
        Of each face, ascending, the first 0 and the second positive.
    skip : bool
        Whether a roll may be refused.
    looked_at : int
        Up to this many dice every roll is looked at.
    choose : (looked_at + 1, looked_at + 1) float64
        Binomial coefficients, exact.
    low, high : (2, most + 1) float64, filled
        Bounds on V (row 0) and W (row 1).

    Returns
    -------
    failed : int
        The number of dice for which the facts above fail; 0 if none.
    steep : int
        m0: V rises by at most ``points[1]`` in every step above it.
    """
    faces = points.shape[0]
    least, worst = points[1], points[faces - 1]
    chance = np.zeros(most + 1)
    low[:, 0] = 0.0
    high[:, 0] = 0.0
    largest = 0.0
    steep = 0
    for n in range(1, most + 1):
        mode, spread = binomial(n, faces, chance)
        # The probabilities add up to 1 within a few units, so that the error of each
        # matters only as far as its worth differs from what is usual.
        usual = high[0, n - 1]
        near = int(np.ceil(largest / least)) + steep  # others with fewer are looked at
        # fact 2 for the rolls with fewer free dice than must be taken
        blurred = (n - 1 - steep) * least < largest + 2 * worst or near > looked_at
        if n > looked_at and blurred:
            return n, steep
        for level in range(1, -1, -1):
            need = 1 + level
            if need > n or (level == 1 and not skip):
                low[level, n] = np.inf
                high[level, n] = np.inf
                continue
            may_skip = level == 0 and skip and n > 1
            skip_low = low[1, n] if may_skip else np.inf
            skip_high = high[1, n] if may_skip else np.inf
            lower = upper = lost_low = lost_high = slack = 0.0
            free_low = free_high = np.inf  # the best of taking only free dice
            for z in range(n + 1):
                if z >= need:
                    free_low = min(free_low, low[0, n - z])
                    free_high = min(free_high, high[0, n - z])
                p = chance[z]
                off = 2.0 * abs(z - mode) + 2.0 * spread + 8.0
                if n <= looked_at or n - z < near:
                    if p < NEGLIGIBLE:
                        slack += NEGLIGIBLE * (largest + n * worst) / UNIT
                        continue
                    a, b = one_by_one(
                        n, z, need, points, low[0], high[0], skip_low, skip_high, choose
                    )
                    slack += p * b * (faces + 12.0)
                elif z < need:
                    taken = min(need, n)
                    a, b = lowest_two(
                        n,
                        z,
                        need,
                        points,
                        low[0, n - taken],
                        high[0, n - taken],
                        skip_low,
                        skip_high,
                    )
                    slack += 32.0 * n * p * (2 * worst + largest) + p * off * usual
                    p = 1.0
                    off = 0.0
                else:
                    a, b = min(free_low, skip_low), min(free_high, skip_high)
                slack += p * off * max(abs(a - usual), abs(b - usual)) + 6.0 * p * b
                term = p * a
                after = lower + term
                lost_low += (lower - after) + term if lower >= term else (term - after) + lower
                lower = after
                term = p * b
                after = upper + term
                lost_high += (upper - after) + term if upper >= term else (term - after) + upper
                upper = after
            slack = (slack + 8.0 * usual) * UNIT * (1.0 + 1e-6) + 1e-300
            low[level, n] = lower + lost_low - slack
            high[level, n] = upper + lost_high + slack
        if high[0, n] - low[0, n - 1] > least * (1.0 - 1e-12):
            steep = n
        largest = max(largest, high[0, n])
    return 0, steep
