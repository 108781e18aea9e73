"""Families, documents, command lines, errors and files: what all tools stand on."""
