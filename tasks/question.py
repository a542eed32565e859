"""Any question, answered in free words: the task of a graph that is part of a chat (ours).

The prompts are the paper's zero-shot prompts (Tree of Thoughts, appendix B.1), except that the
answer may be any text.
"""

from thoughtgraph.tasks.answer_text import whole_answer
from thoughtgraph.tasks.zero_shot import ZeroShot, follow_up


class AnyQuestion(ZeroShot):
    """The task `question`; an answer is a text."""

    id = "question"
    answers = "the answer, complete and as short as the question allows"
    _reader = staticmethod(whole_answer)
    follow_up = staticmethod(follow_up)
