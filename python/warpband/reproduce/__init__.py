"""Every figure and table of the four documents, made again: ``warpband reproduce``, or ``python -m warpband.reproduce``.

``rows`` lists them, a module for each document makes them, ``data`` runs the command or takes stored results, ``output`` writes
tables, figures and pages.
"""
