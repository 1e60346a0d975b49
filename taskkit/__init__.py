"""What a task says about itself, and what it asks of Argus: one import, standard library only, Python 3.8 and newer.

    import taskkit

    taskkit.report({"beds": 4}, summary="4 beds watered")   structured output; the summary goes to the task's channel
    taskkit.metric("litres", 12.5)                           a number with a history
    taskkit.cost(0.02, engine="…")                           US dollars; None where it is not known
    taskkit.deliver("Bed 4 is dry", "since Monday")          a message to a person
    taskkit.skip("it rains")                                 there was nothing to do; return afterwards
    taskkit.remember("Bed 4 leaks at the valve")             into memory, with task and run as its source
    taskkit.recall("valve")                                  from memory
    taskkit.ask("Which bed is driest? …")                    one prompt for a model
    taskkit.run_agent("Find the leak …")                     a job for an agent
    taskkit.load_state() / save_state({"last": 7})           any JSON value, kept from run to run

Nothing has to be called: Argus reports start, end, exit code and output of every run by itself. Started by hand,
outside a run, the first five and `remember` print what they would have sent. Shell tasks have the same as `taskkit
report --summary …`; see `taskkit --help`.
"""

from taskkit.agents import run_agent
from taskkit.errors import NotConfigured, NotReachable, Refused, TaskkitError
from taskkit.hub import ask, recall, remember
from taskkit.reports import cost, deliver, in_run, metric, report, skip
from taskkit.state import load_state, save_state

__all__ = [
    "NotConfigured",
    "NotReachable",
    "Refused",
    "TaskkitError",
    "ask",
    "cost",
    "deliver",
    "in_run",
    "load_state",
    "metric",
    "recall",
    "remember",
    "report",
    "run_agent",
    "save_state",
    "skip",
]
