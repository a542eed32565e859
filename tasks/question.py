"""Any question, answered in free words: the task of a graph that is part of a chat (ours).

It is asked like the paper's zero-shot questions (Tree of Thoughts, appendix B.1), except that the
answer may be any text.
"""

from thoughtgraph.tasks.answer_text import short_answer
from thoughtgraph.tasks.zero_shot import ZeroShot

FORM = '"the answer is" and then the answer, complete and as short as the question allows'


def question() -> ZeroShot:
    """Makes the task `question`; an answer is a text."""
    return ZeroShot("question", form=FORM, reader=short_answer)
