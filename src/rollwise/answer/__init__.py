"""The answer: solving, solutions, what policies are worth, and answers on disk."""
