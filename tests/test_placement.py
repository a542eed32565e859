"""Where new thoughts stand in the tree, and who bears what they cost."""

from support.letters import Letters, die, run


async def test_a_thought_that_is_drawn_twice_bears_the_cost_of_both_expansions() -> None:
    for seed in range(5):
        out, _ = await run("tot_bfs", Letters(), die(seed), select="sample", steps=3, breadth=3)
        roles = [role for each in out["tree"].values() for role in each.get("usage", {}).values()]
        assert sum(role["requests"] for role in roles) == out["usage"]["requests"]
