"""What the pages under /ui show: a module a page, each a constant number of queries, however many rows there are.

Reads that other faces ask for too stand where they belong (upkeep, watch); here is what only a page puts together.
"""
