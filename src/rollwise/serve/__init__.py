"""Games in a browser with a server behind it: pages, reports, pictures and a JSON API.

`app` answers requests. It computes nothing itself: each game that is solved has a
process of its own (`workers`, `worker`), which can be stopped and has its limits. `offered` says
what games there are.
"""
