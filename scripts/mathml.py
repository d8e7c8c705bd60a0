"""Formulas of the documentation site as MathML, made when the site is built: a page needs no network and no program in the browser.

An extension of Sphinx. A formula that latex2mathml cannot read is a warning, and so an error of the build. It leaves commands that it does
not know as they are: those are warnings too.
"""
from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def mathml(node, display):
    latex = node.astext()
    try:
        result = convert(latex, display=display)
    except Exception as error:  # the package has no common class of its errors
        LOG.warning("formula %r: %s", latex, error or type(error).__name__, location=node)
        return ""
    if "\\" in result:
        LOG.warning("formula %r has a command that latex2mathml does not know", latex, location=node)
    return result


def visit_inline(self, node):
    self.body.append(mathml(node, "inline"))
    raise SkipNode


def visit_block(self, node):
    self.body.append(f'<div class="formula">{mathml(node, "block")}</div>\n')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
