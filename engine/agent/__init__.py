"""What agents get of the memory: tools, citations, the prompt's section, facts and notes of sessions."""
