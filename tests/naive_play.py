"""Naive twins of what plays and learns: random numbers, alias tables, the source's learner."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

MASK = 2**64 - 1


class Xoshiro:
    """xoshiro256++ as its authors print it, on Python's whole numbers."""

    def __init__(self, words):
        self.s = [int(word) for word in words]

    @staticmethod
    def rotated(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    def draw(self):
        s = self.s
        result = (self.rotated((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = self.rotated(s[3], 45)
        return result


def alias_probabilities(rows, codes):
    """The exact probability of each code under an alias table of these rows."""
    chances = dict.fromkeys(codes, Fraction(0))
    for threshold, first, other, _ in rows:
        share = Fraction(int(threshold), 2**31)
        chances[first] += share / len(rows)
        chances[other] += (1 - share) / len(rows)
    return chances


def pick(cells, begin, end, bits):
    """The code in an alias table that 32 random bits fall on."""
    spread = bits * (end - begin)
    threshold, first, other, _ = (int(x) for x in cells[begin + (spread >> 32)])
    return first if (spread & 0xFFFFFFFF) >> 1 < threshold else other


def choice(wins, losses, explore):
    """The source's p, in fractions, with B the first of the best."""
    f = [Fraction(w, w + x) if w + x else Fraction(1, 2) for w, x in zip(wins, losses, strict=True)]
    total, k, m = sum(wins) + sum(losses), len(f), Fraction(explore)
    best = f.index(max(f))
    g = sum(f) - f[best]
    p_best = (total * f[best] + m) / (total * f[best] + k * m)
    return [
        p_best if j == best else (1 - p_best) * (total * f[j] + m) / (g * total + (k - 1) * m)
        for j in range(k)
    ]


def learn(graph, cells, games, explore, words):
    """The source's learner, game by game, with exact probabilities: (n_actions, 2) counts."""
    random = Xoshiro(words)
    counts = np.zeros((graph.n_actions, 2), int)
    for _ in range(games):
        s, seat, path, code = 0, 0, [], 0
        while code >= 0:
            begin, end = int(graph.action_indptr[s]), int(graph.action_indptr[s + 1])
            bits = random.draw()
            high, low = bits >> 32, bits & 0xFFFFFFFF
            a = begin
            if end - begin > 1:
                p = choice(counts[begin:end, 0].tolist(), counts[begin:end, 1].tolist(), explore)
                so_far = Fraction(0)
                while a < end - 1:
                    so_far += p[a - begin]
                    if high < int(so_far * 2**32):
                        break
                    a += 1
            path.append((a, seat))
            code = pick(cells, int(graph.outcome_indptr[a]), int(graph.outcome_indptr[a + 1]), low)
            s, seat = code >> 1, seat ^ (code & 1)
        seat ^= code & 1  # the codes of endings change no seat
        winner = path[-1][1] if code == -3 else 1 - path[-1][1]
        for a, mover in path:
            counts[a, 0 if mover == winner else 1] += 1
    return counts
