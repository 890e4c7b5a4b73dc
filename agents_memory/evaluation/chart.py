"""AUCs as a picture: a bar for each score, with its interval, as SVG."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

from agents_memory.evaluation.metrics import Estimate

WIDTH, LEFT, RIGHT, ROW, TOP = 720, 150, 70, 22, 30
COLOURS = ("#2b6cb0", "#a0aec0", "#c05621")
FONT = 'font-family="sans-serif" font-size="12"'


def bars(groups: Mapping[str, Mapping[str, Estimate]], title: str) -> str:
    """An SVG document: each group's scores from 0.4 to 1, and a line where nothing is known."""
    parts = [f'<text x="{LEFT}" y="18" {FONT} font-weight="bold">{escape(title)}</text>']
    y = TOP
    for colour, (group, estimates) in zip(COLOURS, groups.items(), strict=False):
        parts.append(f'<text x="8" y="{y + 14}" {FONT} font-style="italic">{escape(group)}</text>')
        y += ROW
        for name, estimate in estimates.items():
            parts += _bar(y, name, estimate, colour)
            y += ROW
    for mark in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        dash = "" if mark == 0.5 else ' stroke-dasharray="2 4" opacity="0.5"'
        x = f"{_x(mark):.1f}"
        parts.append(
            f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{y}" stroke="#333"{dash}/>'
            f'<text x="{x}" y="{y + 16}" {FONT} text-anchor="middle">{mark:.1f}</text>'
        )
    height = y + 28
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _bar(y: int, name: str, estimate: Estimate, colour: str) -> list[str]:
    x, low, high = _x(estimate.mean), _x(estimate.low), _x(estimate.high)
    middle = y + ROW / 2
    return [
        f'<text x="{LEFT - 8}" y="{y + 15}" {FONT} text-anchor="end">{escape(name)}</text>',
        f'<rect x="{LEFT}" y="{y + 4}" width="{x - LEFT:.1f}" height="{ROW - 8}" fill="{colour}"/>',
        f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {y + 6}V{y + ROW - 6}'
        f'M{high:.1f} {y + 6}V{y + ROW - 6}" stroke="black" fill="none"/>',
        f'<text x="{WIDTH - RIGHT + 12}" y="{y + 15}" {FONT}>{estimate.mean:.3f}</text>',
    ]


def _x(value: float) -> float:
    shown = min(1.0, max(0.4, value))
    return LEFT + (shown - 0.4) / 0.6 * (WIDTH - LEFT - RIGHT)
