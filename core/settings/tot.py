"""The settings of Tree of Thoughts."""

from typing import Annotated, Literal

from pydantic import Field

from thoughtgraph.settings.base import Settings
from thoughtgraph.settings.fields import SHOTS, Count, Few, Grammar, Layout, Many, Shots
from thoughtgraph.settings.marks import Bounds, Needs, StandsFor
from thoughtgraph.task import Checks, Inspects, Proposes, Samples, Values, Votes

Generates = Annotated[Literal["propose", "sample"], Needs({"propose": Proposes, "sample": Samples})]


class ProposingSettings(Settings):
    """Settings of the methods that ask for proposals, which the task reads."""

    strict_parse: bool = Field(
        True, description="Drop proposals that are no step (official code: keeps every line)."
    )
    exact_steps: bool = Field(
        False,
        description="Take the operation a step names and do its arithmetic exactly; drop steps "
        "that cannot be taken and answers that fail the check (game24; ours: off, as in the "
        "paper).",
    )
    grammar: Grammar = False
    layout: Layout = "text"
    shots: Shots = Field(
        0,
        description=f"{SHOTS} (game24's proposals 1, 3 and more for weak models; questions none: "
        "appendix B.1 is zero-shot).",
    )


class TotBfsSettings(ProposingSettings):
    """Settings of `tot_bfs`."""

    steps: Annotated[Few, Bounds("depth")] = Field(
        2, description="T: search steps, the answer step included (game24 4, else 2)."
    )
    generate: Generates = Field(
        "sample", description="How thoughts are generated (game24 propose, else sample)."
    )
    n_generate: Few = Field(5, description="k: samples per state, when sampling (section 4.2: 5).")
    evaluate: Annotated[Literal["value", "vote"], Needs({"value": Values, "vote": Votes})] = Field(
        "vote", description="How states are judged (game24 value, else vote)."
    )
    n_evaluate: Few = Field(
        5, description="Samples per judgement (game24: 3 per state, else 5 votes)."
    )
    select: Literal["greedy", "sample"] = Field(
        "greedy", description="Keep the best, or draw in proportion to the values (paper: greedy)."
    )
    breadth: Count = Field(1, description="b: states kept per step (game24 5, else 1).")
    early_stop: Annotated[bool, Needs({True: Checks})] = Field(
        False,
        description="Stop once an output passes the task's exact check (appendix B; ours: off).",
    )
    repo_compat: Annotated[bool, StandsFor({"strict_parse": False})] = Field(
        False,
        description="Do as the official code does: keep every line as a proposal unless "
        "`strict_parse` is given, and let an earlier verdict on equal numbers outrank the rule "
        "that an output needs an answer.",
    )


class TotDfsSettings(ProposingSettings):
    """Settings of `tot_dfs`."""

    steps: Few = Field(10, description="T: thoughts of an output (crosswords 10, game24 4).")
    threshold: float = Field(
        0.0,
        ge=-1000,
        le=1000,
        description="v_th: a state is continued when its value exceeds it (crosswords -1: no clue "
        "is impossible; game24 0.5, ours).",
    )
    max_per_state: Count = Field(
        3, description="Candidates visited per state (official code: 3; game24 8)."
    )
    max_records: Annotated[Many, Bounds("depth")] = Field(
        100, description="States visited (section 4.3: 100 search steps)."
    )
    outputs: int = Field(
        1, ge=0, le=1000, description="Stop after this many outputs (ours); 0: go on (crosswords)."
    )
    answer_from: Literal["outputs", "records"] = Field(
        "outputs",
        description="Answer with the first output, else the deepest state (ours), or always with "
        "the deepest state, the first of several (crosswords, official logs).",
    )
    variant: Literal["prune", "no_prune", "no_backtrack"] = Field(
        "prune",
        description="Table 3's ablations: descend regardless of V; or greedily, without V, where "
        "the best candidate may overwrite letters (section 4.3).",
    )
    greedy_steps: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Steps of no_backtrack (crosswords 20). None: as many as `steps`.",
    )
    generate: Generates = Field(
        "propose", description="How thoughts are generated (section 4.3: propose)."
    )
    proposal_samples: Few = Field(
        5, description="Completions per proposal (section 4.3: 5; game24 1)."
    )
    n_generate: Few = Field(5, description="k: samples per state, when sampling (section 4.2: 5).")
    evaluate: Annotated[
        Literal["value", "inspect"], Needs({"value": Values, "inspect": Inspects})
    ] = Field(
        "value", description="Judge a state as a whole, or part by part (crosswords: each clue)."
    )
    n_evaluate: Few = Field(
        3,
        description="Samples per judgement (game24: 3 per state, crosswords: 1 per clue).",
    )
    reuse_proposals: bool = Field(
        False,
        description="Expand equal prompts once (crosswords: on, as in the official code).",
    )
    # 9 steps, as the loop of the official code, `env_steps < 10`, allows nine words.
    repo_compat: Annotated[bool, StandsFor({"steps": 9, "proposal_samples": 8, "outputs": 0})] = (
        Field(
            False,
            description="Do as the official crosswords code does: 8 proposals, 9 words, never stop "
            "early, unless these are given, and without backtracking the best candidate that "
            "overwrites nothing, else the last one.",
        )
    )
