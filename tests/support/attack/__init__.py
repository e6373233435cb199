"""Generators of hostile input: forged files, storms, wrong calls."""
