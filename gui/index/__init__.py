"""The index view: overview, health, duplicates, map.

In: records of `engine.insight`.
Out: charts, tables and repairs.
"""
