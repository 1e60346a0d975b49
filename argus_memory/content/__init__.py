"""What comes from outside: pages and feeds, fetched with a guard and read into records. No database here.

    fetch.py   an address → bytes, or FetchFailure with the reason; private addresses are refused
    feeds.py   bytes → Feed with its entries, broken ones included
"""
