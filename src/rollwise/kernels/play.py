"""Many games between fixed policies, one a seat; and the distribution of play, turn by turn.

The policies are written into nodes. A node is a state of a seat with its action,
or, if a policy mixes, a node that draws the action first. A game moves from node to node
until it ends. A seat without a policy is *open*: a game also stops where that seat is to choose.
An environment plays on from there with a chosen action.

Moves wait for memory. Therefore

- a node is one number: the place of its cells, their number, and two flags. A cell is one
  number. Only if the outcomes aren't equally likely, the threshold and the other code of
  the alias table (`rollwise.kernels.sampling`) stand beside it;
- the nodes of a component lie together, since a game stays there for a while;
- several games are played in turns, so that memory is read for one while another moves.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel
from rollwise.kernels.sampling import draw, fill_alias

LANES = 8  # games played at once
# A node: first cell << PLACE | number of cells << COUNT | whether it is even << 1 | is a move.
PLACE, COUNT = 28, 2
MOST_CELLS = (1 << (PLACE - COUNT)) - 1
_32 = np.uint64(32)
_LOW = np.uint64(0x7FFFFFFF)


@kernel
def reach(start_keys, n_states, n_policies, action_indptr, outcome_indptr, outcome_state,
          outcome_passes, probability, reached):  # fmt: skip
    """Mark the states reached by games; key p * n_states + s has policy p to move."""
    stack = np.empty(n_policies * n_states, np.int64)
    depth = 0
    for key in start_keys:
        if not reached[key]:
            reached[key] = True
            stack[depth] = key
            depth += 1
    # A key is marked as it is pushed, so that the stack has each key once at most.
    while depth > 0:
        depth -= 1
        p, s = stack[depth] // n_states, stack[depth] % n_states
        for a in range(action_indptr[s], action_indptr[s + 1]):
            if not probability[p, a] > 0:
                continue
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = outcome_state[k]
                if not 0 <= t < n_states:
                    continue
                q = (p + int(outcome_passes[k])) % n_policies
                if not reached[q * n_states + t]:
                    reached[q * n_states + t] = True
                    stack[depth] = q * n_states + t
                    depth += 1


@kernel
def fill_nodes(order, n_policies, open_seat, first_stop, bits, action_indptr, action_reward,
               is_move, outcome_indptr, outcome_weight, outcome_state, codes, probability, node_of,
               nodes, action, reward, cell_code, cell_threshold, cell_other):  # fmt: skip
    """Write the nodes and their alias tables.

    Parameters
    ----------
    open_seat : int
        The seat without a policy, with nodes for all its actions; -1 if there is none.
    first_stop : int
        Number of the endings: -1 - first_stop - s is the code for a choice of the open seat
        in state s.
    bits : int
        Bits of a code for the seats moved at a PASS.
    is_move : (n_actions,) bool
        Whether the action is a move of a player.
    codes : (n_outcomes,) int32
        From `rollwise.graph.policies.codes_of`.
    nodes : (n_nodes,) int64
        To fill; see PLACE.
    action : (n_nodes,) int32
        To fill: the action of the node, -1 for a mixing node.
    reward : (n_nodes,) float64
    cell_code, cell_threshold, cell_other : (n_cells,) int32
        To fill: the columns of the alias tables, with nodes instead of states in their codes.
    """
    n_states = order.shape[0]
    most = 0
    for a in range(outcome_indptr.shape[0] - 1):
        most = max(most, outcome_indptr[a + 1] - outcome_indptr[a])
    for s in range(n_states):
        most = max(most, action_indptr[s + 1] - action_indptr[s])
    code = np.empty(most, np.int32)
    weight = np.empty(most)
    cells = np.empty((most, 4), np.int32)
    left = np.empty(most)
    small = np.empty(most, np.int64)
    large = np.empty(most, np.int64)
    cell = 0
    for i in range(n_states):
        s = order[i]
        for p in range(n_policies):
            node = node_of[p * n_states + s]
            if node < 0:
                continue
            support = 0
            for a in range(action_indptr[s], action_indptr[s + 1]):
                support += probability[p, a] > 0
            first = action_indptr[s]
            if support > 1 and p != open_seat:
                first -= 1  # the mixing node comes first
            for a in range(first, action_indptr[s + 1]):
                mixes = a < action_indptr[s]
                if mixes:
                    n = 0
                    for b in range(action_indptr[s], action_indptr[s + 1]):
                        if probability[p, b] > 0:
                            code[n] = (node + 1 + n) << bits
                            weight[n] = probability[p, b]
                            n += 1
                elif probability[p, a] > 0:
                    begin = outcome_indptr[a]
                    n = outcome_indptr[a + 1] - begin
                    for j in range(n):
                        code[j] = codes[begin + j]
                        weight[j] = outcome_weight[begin + j]
                        if code[j] >= 0:
                            t = outcome_state[begin + j]
                            # Codes lead to states, and cells to nodes: the next state with the seat
                            # that moves there, or a stop where the open seat has a choice.
                            seats_on = code[j] & ((1 << bits) - 1)
                            q = (p + seats_on) % n_policies
                            if q == open_seat and is_move[action_indptr[t]]:
                                code[j] = -1 - first_stop - t
                            else:
                                code[j] = (node_of[q * n_states + t] << bits) | seats_on
                else:
                    continue
                even = 1
                for j in range(n):
                    if weight[j] != weight[0]:
                        even = 0
                fill_alias(weight[:n], code[:n], cells[:n], left, small, large)
                for j in range(n):
                    cell_threshold[cell + j] = cells[j, 0]
                    cell_code[cell + j] = cells[j, 1]
                    cell_other[cell + j] = cells[j, 2]
                counts = 0 if mixes else is_move[a]
                nodes[node] = (cell << PLACE) | (n << COUNT) | (even << 1) | counts
                action[node] = -1 if mixes else a
                reward[node] = 0.0 if mixes else action_reward[a]
                cell += n
                node += 1


@kernel
def play_games(begin, most_moves, bits, nodes, reward, cell_code, cell_threshold, cell_other, words,
               ended, passes, moves, points):  # fmt: skip
    """Play games, each from a node of its own, to their ends.

    Parameters
    ----------
    begin : (games,) int64
    most_moves : int
        Moves before a game is given up.
    bits, nodes, ..., cell_other
        As in `fill_nodes`.
    words : (4,) uint64
        State of the random numbers, in place.
    ended : (games,) int32
        To fill: the index of the ending among all, or, behind these, of the state of the stop.
    passes : (games,) int32
        To fill: the seats moved. The last move of a game moves none.
    moves : (games,) int32
        To fill.
    points : (games,) or (0,) float64
        To fill with the sum of the rewards for the first mover, unless empty. The other player's
        have the other sign.

    Returns
    -------
    int
        -1, or the node of a game given up.
    """
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    games = begin.shape[0]
    game = np.empty(LANES, np.int64)
    place = np.empty(LANES, np.int64)
    node = np.empty(LANES, np.int64)
    n_moves = np.zeros(LANES, np.int64)
    n_passes = np.zeros(LANES, np.int64)
    sums = np.zeros(LANES)
    count_points = points.shape[0] > 0
    seats_on = (1 << bits) - 1
    active = min(LANES, games)
    begun = active
    for lane in range(active):
        game[lane] = lane
        place[lane] = begin[lane]
        node[lane] = nodes[begin[lane]]
    # In each round every lane makes one move, so that their memory is read side by side.
    while active > 0:
        lane = 0
        while lane < active:
            here = node[lane]
            drawn, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            count = (here >> COUNT) & MOST_CELLS
            # unsigned, so that the index needs no check for counting from the end
            cell = np.uint64((here >> PLACE) + ((np.int64(drawn >> _32) * count) >> 32))
            code = np.int64(cell_code[cell])
            if here & 2 == 0:  # without an unpredictable branch
                is_other = np.int64(np.int64(drawn & _LOW) >= cell_threshold[cell])
                code ^= (code ^ np.int64(cell_other[cell])) & -is_other
            n_moves[lane] += here & 1
            if count_points:
                gain = reward[place[lane]]
                # The reward is the mover's: the opponent's after an odd number of passes.
                sums[lane] += gain if n_passes[lane] & 1 == 0 else -gain
            if code >= 0:
                place[lane] = code >> bits
                node[lane] = nodes[np.uint64(code >> bits)]
                n_passes[lane] += code & seats_on
                if n_moves[lane] == most_moves:
                    return place[lane]
                lane += 1
                continue
            g = game[lane]
            ended[g] = -1 - code
            passes[g] = n_passes[lane]
            moves[g] = n_moves[lane]
            if count_points:
                points[g] = sums[lane]
            source = active - 1
            if begun < games:
                game[lane] = begun
                place[lane] = begin[begun]
                node[lane] = nodes[begin[begun]]
                n_moves[lane] = 0
                n_passes[lane] = 0
                sums[lane] = 0.0
                begun += 1
                lane += 1
            else:  # the last game under way moves here
                game[lane] = game[source]
                place[lane] = place[source]
                node[lane] = node[source]
                n_moves[lane] = n_moves[source]
                n_passes[lane] = n_passes[source]
                sums[lane] = sums[source]
                active -= 1
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3
    return -1


@kernel
def play_turn(
    begins, target, chance, counted, forgotten, now, later, visits, ends_before, ends_with
):
    """Play one turn from the distribution ``now``, leaving it empty.

    A position comes before its successors wherever cycles allow, so that one pass does nearly all;
    probability going backward waits in ``now`` for the next pass. Position s has the outcomes
    ``begins[s]:begins[s + 1]``. Targets below 0 end the play: ``~target`` is 0 if it is won, 1 if
    lost, and 2 otherwise. ``counted`` marks the outcomes that end the turn: they lead to ``later``.
    """
    while True:
        moved = 0.0
        for s in range(len(now)):
            mass = now[s]
            if mass == 0.0:
                continue
            now[s] = 0.0
            visits[s] += mass
            moved += mass
            for k in range(begins[s], begins[s + 1]):
                part = mass * chance[k]
                t = target[k]
                if t < 0 and counted[k]:
                    ends_with[~t] += part
                elif t < 0:
                    ends_before[~t] += part
                elif counted[k]:
                    later[t] += part
                else:
                    now[t] += part
        if moved <= forgotten:
            break
        left = np.sum(now)
        if left <= forgotten:
            break
