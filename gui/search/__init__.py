"""The search room: the box with its filters, the list of results, and what stands there when there are none."""
