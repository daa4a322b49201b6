"""Health checks and their repairs, one module per subject.

In: a `Subject`: store, settings, provider.
Out: findings with a state, a message and a repair.
"""
