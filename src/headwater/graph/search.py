"""Finding datasets and columns by words: every word of a question is a part of a name, a type or a tag.
A word that stands nowhere is taken for the nearest words that do, one or two letters away."""

import heapq
import re
from collections.abc import Iterable

from headwater.graph.regions import is_own
from headwater.graph.tables import DATABASE, WHOLE

_WORD = re.compile(r"[^\W_]+")
_CUT = re.compile(r"[\s._]+")
_NEAREST = 6  # words that may stand for one with a typing error


class SearchIndex:
    """The names of a graph, ready to be searched. `about` has what else is known of a name: its type, its tags."""

    def __init__(self, entries: Iterable[tuple[str, str, str]]) -> None:
        self._nodes: list[tuple[str, str]] = []
        self._labels: list[str] = []
        self._texts: list[str] = []
        for dataset, column, about in sorted(entries):
            label = (dataset if column == WHOLE else f"{dataset}.{column}").lower()
            self._nodes.append((dataset, column))
            self._labels.append(label)
            self._texts.append(f"{label} {about.lower()}" if about else label)
        self._words = {each: _letters(each) for label in self._labels for each in _WORD.findall(label)}

    def find(self, text: str, limit: int) -> tuple[list[tuple[str, str]], int]:
        """The best names for a text, the best first, and how many names there are for it."""
        whole = text.strip().lower()
        words = whole.split()
        found = self._having([[word] for word in words], own=whole.startswith(DATABASE))
        if not found:
            words, whole = _CUT.split(whole), ""
            found = self._having([self._meant(word) for word in words if word], own=False)
        labels, nodes = self._labels, self._nodes

        def quality(at: int) -> tuple[int, bool, int, str]:
            label = labels[at]
            if not whole or label == whole or label.endswith("." + whole):
                exact = 0
            elif label.startswith(words[0]) or f".{words[-1]}" in label or f"_{words[-1]}" in label:
                exact = 1
            else:
                exact = 2 if whole in label else 3
            return exact, nodes[at][1] != WHOLE, len(label), label

        return [nodes[at] for at in heapq.nsmallest(limit, found, key=quality)], len(found)

    def _having(self, words: list[list[str]], *, own: bool) -> list[int]:
        """The names that have any of each list of words; those of our own bookkeeping if they are asked for."""
        texts = self._texts
        found: list[int] = list(range(len(texts))) if words else []
        for choices in words:
            if len(choices) == 1:
                word = choices[0]
                found = [at for at in found if word in texts[at]]
            else:
                found = [at for at in found if any(word in texts[at] for word in choices)]
        return found if own else [at for at in found if not is_own(self._nodes[at][0])]

    def _meant(self, word: str) -> list[str]:
        """A word, or where no name has it, the words that it is most like."""
        if any(word in text for text in self._texts):
            return [word]
        most = 1 if len(word) < 5 else 2
        letters = _letters(word)
        near: list[tuple[int, str]] = []
        for each, others in self._words.items():
            if abs(len(each) - len(word)) <= most and (letters ^ others).bit_count() <= 2 * most:
                away = _distance(word, each)
                if away <= most:
                    near.append((away, each))
        return [each for _, each in heapq.nsmallest(_NEAREST, near)] or [word]


def _letters(word: str) -> int:
    found = 0
    for char in word:
        found |= 1 << (ord(char) & 63)
    return found


def _distance(one: str, other: str) -> int:
    """Return how many letters must be put in, left out, replaced or exchanged with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
