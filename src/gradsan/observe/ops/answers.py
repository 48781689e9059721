"""Tokens that leave for Python and come back as a list: which of them were drawn is told by what they follow.

Every draw was made from a row of tokens that the network was given. Prompts, and what was drawn after each, form a
tree; a row that arrives walks down from its prompt, and where it can go on, its tokens were drawn there."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from gradsan.observe.ops.values import Tensor
from gradsan.record.events import ValueId

OTHER, UNKNOWN, SOMEHOW = float("nan"), float("-inf"), float("inf")  # as in a table of draws
MOST, FED, LENGTHS, LEAST = 1 << 16, 4, 64, 3
Row = tuple[int, ...]


class Draw(NamedTuple):
    node: int  # of the tree, after it
    odds: float
    nid: ValueId
    cut: bool  # not every token could be drawn


class Answers:
    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._fed: deque[Tensor] = deque(maxlen=FED)  # copies, since the last draw
        self._prompts: dict[Row, int] = {}
        self._lengths: set[int] = set()
        self._tree: dict[tuple[int, int], Draw] = {}
        self._roots: set[int] = set()
        self._beginnings: dict[int, set[int]] = {}  # a first token → the prompts that it was drawn after
        self._size = self._nodes = 0
        self._width = 0  # of the rows that the last draw followed
        self._last: list[int] = []  # what was drawn last, row by row
        self._at: list[
            int | None
        ] = []  # where each row stands; None: something was written over what was drawn

    def fed(self, tokens: Tensor) -> None:
        """A network was given these."""
        if 0 < tokens.dim() <= 2 and 0 < tokens.numel() <= MOST:
            self._fed.append(tokens.detach().clone())

    def drawn(self, choice: Tensor, odds: Tensor, nid: ValueId, cut: bool) -> None:
        count = choice.numel()
        if count > MOST or choice.dim() > 2 or (choice.dim() == 2 and choice.shape[1] != 1):
            return
        rows = self._contexts(count)
        self._fed.clear()
        if not rows:
            return
        tokens, how = choice.detach().reshape(-1).tolist(), odds.reshape(-1).tolist()
        before = self._stand(rows)
        self._width, self._last, self._at = len(rows[0]), tokens, []
        for node, token, odd in zip(before, tokens, how, strict=True):
            self._at.append(None if node is None else self._grow(node, token, odd, nid, cut))
        if self._size > MOST:  # of what was drawn until here, nothing will be recognised
            self.forget()

    def of(self, row: list[int], pad: int | None) -> tuple[list[float], list[Draw]] | None:
        """For each token the log-probability that it was drawn with, or a word in its place, and the draws. `pad`:
        what the rows that it came with are filled up with."""
        odds, draws, end = self._behind_prompts(row)
        if len(draws) < len(row):
            alone = self._alone(row, pad)
            if len(alone) > len(draws):
                odds, draws, end = [draw.odds for draw in alone], alone, len(alone)
        if not end:
            return None
        word = OTHER if _is_filled_up(row[end:], pad) else UNKNOWN
        return odds[:end] + [word] * (len(row) - end), draws

    def _behind_prompts(self, row: list[int]) -> tuple[list[float], list[Draw], int]:
        odds, draws, end = [OTHER] * len(row), list[Draw](), 0
        for start in range(_run(row) + 1):
            for length in self._lengths:
                root = self._prompts.get(tuple(row[start : start + length]))
                if root is None:
                    continue
                begin = start + length
                end = max(end, begin)
                for place, draw in enumerate(self._walk(root, row[begin:]), begin):
                    odds[place], end = draw.odds, max(end, place + 1)
                    draws.append(draw)
        return odds, draws, end

    def _alone(self, row: list[int], pad: int | None) -> list[Draw]:
        """An answer without its prompt. After which it was drawn, more than one prompt may say."""
        ways = [self._walk(root, row) for root in self._beginnings.get(row[0], ())]
        most = max(map(len, ways), default=0)
        # Behind its end a row is filled up; that another prompt was answered so, word for word, makes it no likelier.
        end = len(row) - _run(row[::-1])
        long = [
            way for way in ways if len(way) in range(end + 1, most) and _is_filled_up(row[len(way) :], pad)
        ]
        ways = [way for way in ways if len(way) == most and _is_filled_up(row[most:], pad)]
        return [_agreed(draws) for draws in zip_longest(*ways, *long)] if ways else []

    def _walk(self, node: int, tokens: Sequence[int]) -> list[Draw]:
        way = []
        for token in tokens:
            draw = self._tree.get((node, token))
            if draw is None:
                break
            way.append(draw)
            node = draw.node
        return way

    def _contexts(self, count: int) -> list[Row]:
        """The tokens that each of so many draws followed."""
        tables = [rows for fed in self._fed if (rows := _rows(fed, count)) and not _are_places(rows)]
        singles = [rows for rows in tables if len(rows[0]) == 1]
        going_on = [rows for rows in singles if [row[0] for row in rows] == self._last]
        if not tables or len(tables[-1][0]) > 1:  # whoever stopped may have read the last one, too
            return tables[-1] if tables else []
        if going_on:
            return going_on[0]
        if len(singles) == len(tables):  # a prompt, token by token
            return [tuple(rows[i][0] for rows in tables) for i in range(count)]
        return tables[-1]

    def _stand(self, rows: list[Row]) -> list[int | None]:
        goes_on = len(rows) == len(self._last)
        if (
            goes_on
            and len(rows[0]) == 1
            and any(row[0] == t for row, t in zip(rows, self._last, strict=True))
        ):
            said = zip(rows, self._last, self._at, strict=True)
            return [node if row[0] == token else None for row, token, node in said]
        if goes_on and len(rows[0]) == self._width + 1:
            said = zip(rows, self._last, self._at, strict=True)
            return [
                None if node is None or row[-1] != token else self._node_of(row) for row, token, node in said
            ]
        return [self._node_of(row) for row in rows]

    def _node_of(self, row: Row) -> int:
        for length in sorted(self._lengths, reverse=True):
            root = self._prompts.get(row[:length]) if length <= len(row) else None
            if root is not None:
                way = self._walk(root, row[length:])
                if length + len(way) == len(row):
                    return way[-1].node if way else root
        return self._plant(row)

    def _plant(self, prompt: Row) -> int:
        self._nodes += 1
        for start in range(_run(prompt) + 1):  # what it is filled up with in front is no part of it
            short = start and len(prompt) - start < LEAST
            if not short and (len(prompt) - start in self._lengths or len(self._lengths) < LENGTHS):
                self._prompts.setdefault(prompt[start:], self._nodes)
                self._lengths.add(len(prompt) - start)
                self._size += len(prompt) - start
        self._roots.add(self._nodes)
        return self._nodes

    def _grow(self, node: int, token: int, odds: float, nid: ValueId, cut: bool) -> int:
        known = self._tree.get((node, token))
        if known is None:
            self._nodes += 1
            self._size += 1
            if node in self._roots:
                self._beginnings.setdefault(token, set()).add(node)
        after = known.node if known is not None else self._nodes
        self._tree[node, token] = Draw(after, odds, nid, cut)
        return after


def _rows(table: Tensor, count: int) -> list[Row] | None:
    """The table as one row for each of so many draws."""
    if table.dim() == 2 and table.shape[0] == count:
        return [tuple(row) for row in table.tolist()]
    if table.dim() == 1 and count == 1:
        return [tuple(table.tolist())]
    return [(token,) for token in table.tolist()] if table.dim() == 1 and len(table) == count else None


def _are_places(rows: list[Row]) -> bool:
    """Positions are given to a network as tokens are."""
    return len(rows[0]) > 1 and all(b - a in (0, 1) for row in rows for a, b in pairwise(row))


def _run(row: Sequence[int]) -> int:
    """With how many of the same token it begins."""
    return next((i for i, token in enumerate(row) if token != row[0]), len(row))


def _is_filled_up(rest: list[int], pad: int | None) -> bool:
    if pad is None:
        return len(rest) != 1 and len(set(rest)) <= 1  # one more may be an end that was put there
    return all(token == pad for token in rest)


def _agreed(draws: tuple[Draw | None, ...]) -> Draw:
    known = [draw for draw in draws if draw is not None]
    same = len(known) == len(draws) and all(draw.odds == known[0].odds for draw in known)
    newest = max(known, key=lambda draw: draw.nid)
    return newest if same else newest._replace(odds=SOMEHOW)


def padding_of(rows: list[list[int]]) -> int | None:
    """What rows of one table end with more than once, most often."""
    ends = Counter(row[-1] for row in rows if len(row) > 1 and row[-1] == row[-2])
    return ends.most_common(1)[0][0] if len(rows) > 1 and ends else None
