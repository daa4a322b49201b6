"""What is being typed into a fact or a note of a session, kept until it is saved or thrown away."""
