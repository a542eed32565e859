"""The samples of one request, by as few calls as the endpoint allows."""

from collections.abc import Sequence

from thoughtgraph.errors import BudgetSpent, ModelError
from thoughtgraph.llm.answer_cache import Answer


class SampleCollector:
    """Collects what calls bring, and says which calls are still needed.

    Args:
        wanted: How many samples there shall be.
    """

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._answers: list[Answer] = []
        self._size = 1
        self.error: ModelError | BudgetSpent | None = None
        """What kept samples away; nothing more is asked then."""
        self.one_a_call = False
        """Whether the endpoint turned out to return one sample a call, however many are asked."""

    def calls(self, most: int) -> list[tuple[int, int]]:
        """Returns the calls that bring what is missing, each as its first sample's index and size.

        Args:
            most: The most samples of one call.
        """
        have = sum(len(answer["texts"]) for answer in self._answers)
        if self.error is not None or have >= self._wanted:
            return []
        self._size = size = min(most, self._wanted - have)
        return [(at, min(size, self._wanted - at)) for at in range(have, self._wanted, size)]

    def add(self, results: Sequence[Answer | BaseException]) -> None:
        """Takes what the calls brought, in order.

        Raises:
            BaseException: One of them met what is no failure of the endpoint and no limit.
        """
        answers, self.error = _sorted(results)
        self._answers += answers
        single = all(len(answer["texts"]) == 1 for answer in answers)
        self.one_a_call = self._size > 1 and bool(answers) and single

    def answer(self) -> Answer:
        """Returns all samples as one answer.

        Prompt tokens add up: without native n the provider bills them for every call.

        Raises:
            ModelError: There are none, because the endpoint failed.
            BudgetSpent: There are none, because a limit was reached.
        """
        if self.error is not None and not self._answers:
            raise self.error
        return {
            "texts": [text for answer in self._answers for text in answer["texts"]],
            "prompt_tokens": sum(answer["prompt_tokens"] for answer in self._answers),
            "completion_tokens": sum(answer["completion_tokens"] for answer in self._answers),
        }


def _sorted(
    results: Sequence[Answer | BaseException],
) -> tuple[list[Answer], ModelError | BudgetSpent | None]:
    """Returns the answers, and the error that kept others away: a failure before a limit."""
    answers: list[Answer] = []
    error: ModelError | BudgetSpent | None = None
    for result in results:
        if isinstance(result, ModelError) or (error is None and isinstance(result, BudgetSpent)):
            error = result
        elif isinstance(result, BaseException):
            raise result
        else:
            answers.append(result)
    return answers, error
