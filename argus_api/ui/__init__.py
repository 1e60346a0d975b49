"""The pages under /ui: server-rendered, readable without JavaScript, for a person who wants to see whether it works.

    request → security.py (who asks) → a page's route → a read of argus_memory → templates/
                                          └ a change: POST with a CSRF token → 303 back, with one line that tells

pages.py lists the pages; kit: page.py renders, lists.py pages and sorts, words.py shows times and captured text,
plots.py draws. Templates are escaped throughout; the content security policy allows our own files alone.
"""
