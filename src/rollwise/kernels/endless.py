"""Where play can be kept up for ever, asked of a graph in solving order."""

from __future__ import annotations

from rollwise.kernels.jit import ONE, index, kernel


@kernel
def find_endless(indptr, arranged, ends, ranks):
    """Rank the positions from which every play ends.

    Play can stay in a set of states for ever if each has an action all of whose
    outcomes lie in the set (an end component, de Alfaro 1997). States without
    such an action are taken out, and ranked as they go, until none is left to take out.
    No number is rounded in this.

    Parameters
    ----------
    indptr : (n_components + 1,) int64
    arranged : rollwise.kernels.recursion.Arranged
        The graph in solving order.
    ends : (n_lotteries,) bool
        Whether some outcome ends the game.
    ranks : (n_states,) int32, filled
        By position; -1 where play can be kept up for ever.
    """
    action_indptr, outcome_indptr = arranged.action_indptr, arranged.outcome_indptr
    lottery, target = arranged.lottery, arranged.target
    for c in range(indptr.shape[0] - 1):
        low, high = index(indptr[c]), index(indptr[c + 1])
        for i in range(low, high):
            ranks[i] = -1
        next_rank = low
        removed = True
        while removed and next_rank < high:
            removed = False
            for i in range(low, high):
                if ranks[i] >= 0:
                    continue
                stays = False
                for a in range(action_indptr[i], action_indptr[i + ONE]):
                    if ends[lottery[a]]:
                        continue
                    stays = True
                    # later outcomes tend to lead away: look at them first
                    k = index(outcome_indptr[a + ONE])
                    while k > index(outcome_indptr[a]):
                        k -= ONE
                        t = index(target[k])
                        if t < low or t >= high or ranks[t] >= 0:
                            stays = False
                            break
                    if stays:
                        break
                if not stays:
                    ranks[i] = next_rank
                    next_rank += ONE
                    removed = True
