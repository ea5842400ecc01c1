"""bench_table.py: prints tables."""


def text(value, digits=1):
    """A number as a cell; what could not be measured as a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def percent(value, digits=1):
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def show(title, head, rows, notes=()):
    """Prints a table: the first column to the left, the others to the right.
    Cells are strings."""
    widths = [max(len(row[i]) for row in [head, *rows])
              for i in range(len(head))]
    print(f"\n{title}\n")
    for row in [head, ["-" * width for width in widths], *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width)
                  for cell, width in zip(row[1:], widths[1:])]
        print("  " + "  ".join(cells).rstrip())
    for line in notes:
        print(f"  {line}")
