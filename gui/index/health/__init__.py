"""The health page: findings with their repairs.

In: the findings of a health check.
Out: rows sorted by severity, and repair jobs.
"""
