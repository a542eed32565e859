"""The tasks as data, one entry each. The registry imports the objects that an entry names."""

from dataclasses import dataclass

from thoughtgraph.entries import Entries, Entry


@dataclass(frozen=True, slots=True)
class TaskEntry(Entry):
    """Facts about a task that are available without importing it."""

    factory: str
    """`module:callable` in `tasks/`; without arguments, the callable makes the task."""
    summary: str
    example: str
    """A problem in the task's format."""
    method: str = ""
    """The task's default method (ours); empty: the first of `DEFAULT_METHODS` that fits."""


_PTR_EXAMPLE = (
    '{"question": "how many legs does the chair have?", "scene": {"objects": [{"Chair0": {"seat": '
    '["red", 1], "leg": ["blue", 4]}}], "relationships": {"left": [[]], "right": [[]]}}}'
)
_CLEVR_EXAMPLE = (
    '{"question": "What color is the cube?", "scene": {"objects": [{"cube0": ["red", "small", '
    '"metal"]}], "relationships": {"left": [[]], "right": [[]]}}}'
)

TASKS = Entries(
    "task",
    (
        TaskEntry(
            "game24", "game24.game24:Game24", "reach 24 with four numbers and + - * /", "4 9 10 13"
        ),
        TaskEntry(
            "crosswords",
            "crosswords:Crosswords",
            "fill a 5 x 5 crossword from ten clues",
            '["Smell that a dog follows", "Boat with paddles", "Crime of fire", "Stir from sleep", '
            '"Many ships together", "Cloth around the neck", "Song for Christmas", "Come after", '
            '"Loop of a lasso", "Belief"]',
        ),
        TaskEntry(
            "creative_writing",
            "creative_writing:CreativeWriting",
            "write four paragraphs that end in four given sentences",
            "The kettle never boiled on time. Nobody had asked the cat. It rained on the wrong "
            "side of the street. She kept the key.",
        ),
        TaskEntry(
            "gsm8k",
            "stepwise:Gsm8k",
            "solve a grade-school word problem",
            "A shop sells 3 pens for 2 dollars. How many dollars do 12 pens cost?",
        ),
        TaskEntry(
            "svamp",
            "stepwise:Svamp",
            "solve a short arithmetic word problem",
            "Ann had 9 apples and ate 2. Bo has 4. How many apples does Ann have now?",
        ),
        TaskEntry(
            "aqua",
            "stepwise:Aqua",
            "solve an algebra word problem with five choices",
            "What is 15 percent of 80? Answer choices: A) 8 B) 10 C) 12 D) 15 E) 20",
        ),
        TaskEntry(
            "math",
            "stepwise:Math",
            "solve a competition problem",
            r"What is the positive root of $x^2 = 2x + 3$?",
        ),
        TaskEntry(
            "theoremqa",
            "stepwise:TheoremQA",
            "answer a university question that needs a theorem",
            "How many trees are there on 4 labelled vertices?",
        ),
        TaskEntry(
            "mmlu",
            "stepwise:Mmlu",
            "answer an exam question with four choices",
            "Which number is prime? Answer choices: A) 21 B) 27 C) 29 D) 33",
        ),
        TaskEntry(
            "strategyqa",
            "strategyqa:StrategyQA",
            "answer yes or no where the steps are implicit",
            "Could a penguin outrun a snail?",
        ),
        TaskEntry(
            "ptr",
            "scenes.scenes:ptr",
            "answer a question about furniture in a scene graph by a plan of tool calls",
            _PTR_EXAMPLE,
        ),
        TaskEntry(
            "clevr",
            "scenes.scenes:clevr",
            "answer a question about shapes in a scene graph by a plan of tool calls",
            _CLEVR_EXAMPLE,
        ),
        TaskEntry(
            "hotpotqa",
            "hotpotqa:HotpotQA",
            "answer a question that takes two pages of Wikipedia",
            "In which country was the composer of Fidelio born?",
            method="react",
        ),
        TaskEntry(
            "fever",
            "fever:Fever",
            "tell whether Wikipedia supports or refutes a claim",
            "The Danube flows into the Black Sea.",
            method="react",
        ),
        TaskEntry(
            "sql",
            "sql.sql:Sql",
            "answer a question by a query of your database",
            "How many books has each author written?",
            method="adaptive",
        ),
        TaskEntry(
            "question",
            "question:AnyQuestion",
            "answer any question",
            "Which planet has the shortest day?",
        ),
    ),
)
