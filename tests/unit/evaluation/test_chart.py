"""A picture that any reader of SVG can open."""

from xml.etree import ElementTree

from agents_memory.evaluation.chart import bars
from agents_memory.evaluation.metrics import Estimate

SVG = "{http://www.w3.org/2000/svg}"


def test_each_score_is_a_bar_as_long_as_its_auc() -> None:
    drawn = bars(
        {"one": {"a & b": Estimate(0.7, 0.6, 0.8), "c": Estimate(1.0, 1.0, 1.0)}}, "AUC <1>"
    )
    root = ElementTree.fromstring(drawn)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"AUC <1>", "one", "a & b", "c", "0.700", "1.000"} <= set(texts)
    widths = [float(rect.attrib["width"]) for rect in list(root.iter(f"{SVG}rect"))[1:]]
    assert widths == [250.0, 500.0]


def test_what_is_below_the_scale_stays_inside() -> None:
    root = ElementTree.fromstring(bars({"g": {"x": Estimate(0.1, 0.0, 0.2)}}, "t"))
    assert [float(r.attrib["width"]) for r in list(root.iter(f"{SVG}rect"))[1:]] == [0.0]
