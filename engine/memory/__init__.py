"""Services shared by all backends: contract, status, facts, sessions, sync queue, health.

In: settings, stores and providers of one open workspace.
Out: the parts of `MemorySearchManager` that do not depend on the backend.
"""
