"""The CSV of a sweep: which of its columns vary, and the rows that --where leaves.

The columns before the prediction's own are the values of a point. A figure over one of them, its axis, must not join
points that differ in another.
"""
import shlex

if __package__:
    from . import style
else:
    import style

PREDICTION = ("scenario", "model", "technique", "group", "status")


def arguments(parser):
    parser.add_argument("--where", action="append", default=[], metavar="KEY=VALUE",
                        help="only rows with this value, as the CSV has it, in this column; may be repeated")


def listed(values):
    values = list(dict.fromkeys(values))
    return ", ".join(values if len(values) <= 5 else [*values[:2], "...", values[-1]]).replace("..., ", "... ")


def where_text(column, value):
    return "--where " + shlex.quote(f"{column}={value}")


def shown(where):
    """Of --where what a title does not say anyway."""
    return [word for word in where if not word.startswith(("scenario=", "model="))]


def chosen(path, rows, where):
    """The rows with every KEY=VALUE."""
    for word in where:
        column, equals, value = word.partition("=")
        if not equals:
            style.fail(path, f"--where {word} has no \"=\"; KEY=VALUE is expected")
        if column not in rows[0]:
            style.fail(path, f"no column \"{column}\" for --where; its columns are: {', '.join(rows[0])}")
        left = [row for row in rows if row[column] == value]
        if not left:
            style.fail(path, f"no row has {word}; {column} is: {listed(row[column] for row in rows)}")
        rows = left
    return rows


def named_axis(path, rows, wanted):
    """The column that --axis names."""
    if wanted not in rows[0]:
        columns = ", ".join(values_of_point(rows))
        style.fail(path, f"no column \"{wanted}\" for --axis; its columns of values are: {columns}")
    return wanted


def values_of_point(rows):
    """The columns that say what a point is."""
    names = list(rows[0])
    first = min(names.index(name) for name in PREDICTION if name in names)
    return [name for name in names[:first] if name != "point"]


def depends(rows, column, axis):
    """Whether the value in one column tells that in another."""
    return len({(row[axis], row[column]) for row in rows}) == len({row[axis] for row in rows})


def varying(rows, columns, axis=None):
    """Those of the columns that take several values, apart from the axis and what moves with it."""
    return [name for name in columns if len({row[name] for row in rows}) > 1
            and name != axis and not (axis and depends(rows, name, axis))]


def choices(rows, columns, axis=None):
    """[(column, value)] of which every --where leaves one point for each value of the axis."""
    found = []
    while several := varying(rows, columns, axis):
        found.append((several[0], rows[0][several[0]]))
        rows = [row for row in rows if row[several[0]] == found[-1][1]]
    return found


def refuse_others(path, rows, columns, axis=None):
    """Refuses rows in which another column varies than the axis."""
    found = choices(rows, columns, axis)
    if not found:
        return
    values = {name: listed(row[name] for row in rows) for name, _ in found}
    too = "too " if axis else ""
    if len(found) == 1:
        what = f"{found[0][0]} varies {too}({values[found[0][0]]})"
    else:
        names = [f"{name} ({values[name]})" for name, _ in found]
        what = f"{', '.join(names[:-1])} and {names[-1]} vary {too}".strip()
    style.fail(path, f"{what}; choose with {' '.join(where_text(*pair) for pair in found)}")


def one_point(path, rows, where):
    """The rows of a figure of bars, those of a single point, and notes on what is left out."""
    rows, notes = style.of_points_predicted(path, chosen(path, rows, where))
    refuse_others(path, rows, values_of_point(rows) + (["point"] if "point" in rows[0] else []))
    return rows, notes


def points_along(path, rows, axis):
    """The rows of a figure over an axis, which must be all that varies."""
    refuse_others(path, rows, [*values_of_point(rows), *(["scenario"] if "scenario" in rows[0] else [])], axis)
    seen = {}
    for row in rows:
        key = row["technique"], row["group"], row[axis]
        if seen.setdefault(key, row) is not row:
            style.fail(path, f"{key[0]} on {key[1]} is there twice at {axis} = {key[2]}; one sweep is expected")
    return rows
