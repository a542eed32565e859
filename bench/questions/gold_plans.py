"""Writes the gold plan of a question from its meaning, in the order of the paper's examples."""

from collections import Counter

from thoughtgraph.bench.questions.gold_answers import Ask, Asked, Reference

_VARIABLES = {"number": "num", "count": "num"}
_QUERIES = {"category": "query_category", "size": "query_size", "material": "query_material"}
_JOINS = {
    **{"sum": "sum", "more_by": "minus", "fewer_by": "minus"},
    **{"equal": "equal", "more": "more_than", "fewer": "few_than"},
}
_DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def gold_plan(references: tuple[Reference, ...], wanted: Asked) -> tuple[str, ...]:
    """Returns the lines of the gold plan; the last one assigns `ans`."""
    return _PlanWriter(references).plan(wanted)


class _PlanWriter:
    def __init__(self, references: tuple[Reference, ...]) -> None:
        self.references = references
        self.lines: list[str] = []
        self.used: Counter[str] = Counter()
        self.known: dict[int, str] = {}

    def plan(self, wanted: Asked) -> tuple[str, ...]:
        if wanted.join is None:
            self.ask("ans", wanted.asks[0])
            return tuple(self.lines)
        names = [self.ask(None, each) for each in wanted.asks]
        if wanted.join == "fewer_by":
            names.reverse()
        self.step(f"{_JOINS[wanted.join]}({','.join(names)})", "ans")
        return tuple(self.lines)

    def step(self, call: str, name: str) -> str:
        if name != "ans":
            self.used[name] += 1
            name = f"{name}{self.used[name]}"
        self.lines.append(f"{name} = {call}")
        return name

    def ask(self, name: str | None, ask: Ask) -> str:
        """Writes the steps that compute an ask; returns the variable of its value."""
        objects = self.reference(ask.of)
        return self.query(objects, ask.kind, ask.what, name or _VARIABLES.get(ask.kind, ask.kind))

    def query(self, variable: str, kind: str, what: str | None, name: str) -> str:
        match kind:
            case "count":
                return self.step(f"count_object({variable})", name)
            case "exist":
                return self.step(f"exist({variable})", name)
            case "number":
                return self.step(f'count_part("{what}",{variable})', name)
            case "part":
                return self.step(f'query_part("{what}",{variable})', name)
            case "color":
                return self.step(f"query_color({_quoted(what)}{variable})", name)
        return self.step(f"{_QUERIES[kind]}({variable})", name)

    def reference(self, at: int) -> str:
        """Writes, once, the steps that find a reference's objects; returns their variable."""
        if at not in self.known:
            each = self.references[at]
            source = self.source(each)
            self.known[at] = source if each.same else self.write_filters(each, source)
        return self.known[at]

    def source(self, each: Reference) -> str:
        if each.like:
            a, b = (self.reference(other) for other in each.like[:2])
            relation = self.step(f"get_relation({a},{b})", "relation")
            c = self.reference(each.like[2])
            return self.step(f"filter_relation({relation},{c},all_obj)", "obj")
        if each.same:
            return self.same(each, *each.same)
        sets = [
            self.step(f'query_relation("{name}",{self.reference(other)})', "obj")
            for name, other in each.links
        ]
        if len(sets) == 2:
            return self.step(f"intersection({','.join(sets)})", "obj")
        return sets[0] if sets else "all_obj"

    def same(self, each: Reference, attribute: str, part: str | None, other: int) -> str:
        objects = self.reference(other)
        value = self.query(objects, attribute, part, _VARIABLES.get(attribute, attribute))
        if attribute == "category":
            step = self.step(f"filter_category({value},all_obj)", "obj")
        else:
            words = f'{value},"{part}"' if part else value
            step = self.step(f"filter_part([{words}],all_obj)", "obj")
        step = self.write_filters(each, step)
        return self.step(f"exclude_object({objects},{step})", "obj")

    def write_filters(self, each: Reference, source: str) -> str:
        words = list(each.attributes)
        if each.group:
            number, color, part = each.group
            words = [_DIGITS[number]] if number is not None else []
            words += [color, part] if color else [part]
        calls = [f"filter_part([{', '.join(map(_text, words))}]"] if words else []
        if each.noun:
            calls.insert(0 if each.group else len(calls), f'filter_object("{each.noun}"')
        for call in calls:
            source = self.step(f"{call},{source})", "obj")
        return source


def _text(word: str) -> str:
    return f'"{word}"'


def _quoted(part: str | None) -> str:
    return f'"{part}",' if part else ""
