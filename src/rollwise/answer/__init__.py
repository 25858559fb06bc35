"""Answers to games: solving, solutions, policies by name, tables, files."""
