"""Comparison files and the table that one of them reads, for the tests of `hsb compare`."""

GOOD = """
title = "Mine"
rounds = 400
runs = 3
seed = 5
[problem]
name = "stationary"
[structure]
kind = "BinaryTree"
depth = 4
[[policies]]
policy = "HSB"
label = "ours"
horizon = true
[[policies]]
policy = "Uniform"
[[policies]]
policy = "SExp3"
structure = {kind = "Lexicographic", leaves = 4}
learning_rate = 0.1
"""
TABLE = "age,income,a,b\n20,1.0,0,1\n30,2.0,1,0\n40,9.5,0,0.5\n\n50,3.0,1,1\n"
FILE = """
runs = 2
[file]
path = "table.csv"
contexts = ["age", "income"]
losses = ["a", "b"]
[structure]
kind = "BinaryTree"
depth = 4
[[policies]]
policy = "HSB"
[[policies]]
policy = "LinUCB"
"""
