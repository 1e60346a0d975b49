"""`taskkit …` for shell tasks; `python -m taskkit` is the same."""

import argparse
import json
import sys
from typing import Any, List, Optional

from taskkit.agents import run_agent
from taskkit.errors import TaskkitError
from taskkit.hub import KINDS, ask, recall, remember
from taskkit.reports import cost, deliver, metric, report, skip

STDIN = "-"


def main(arguments: Optional[List[str]] = None) -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use or a variable that is missing, 3 the hub cannot be reached."""
    given = _parser().parse_args(arguments)
    try:
        given.do(given)
    except TaskkitError as error:
        sys.stderr.write("taskkit: %s\n" % error)
        return error.exit_code
    except (ValueError, OSError) as error:
        sys.stderr.write("taskkit: %s\n" % error)
        return 2
    return 0


def entry() -> None:
    sys.exit(main())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="taskkit", description="What a task says about itself, and what it asks of Argus."
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True

    one = commands.add_parser("report", help="what the run came to; the last report stands")
    one.add_argument("--summary", help="a sentence for people; `-` reads standard input")
    one.add_argument("--output", metavar="JSON", help="a JSON value; `-` reads standard input")
    one.set_defaults(do=_report)

    one = commands.add_parser("metric", help="a number worth following from run to run")
    one.add_argument("name")
    one.add_argument("value", type=float)
    one.set_defaults(do=lambda given: metric(given.name, given.value))

    one = commands.add_parser("cost", help="US dollars spent, added up")
    one.add_argument("usd", help="an amount, or `unknown`")
    one.add_argument("--engine")
    one.set_defaults(do=lambda given: cost(None if given.usd == "unknown" else float(given.usd), given.engine))

    one = commands.add_parser("deliver", help="a message to a person")
    one.add_argument("title")
    one.add_argument("text", nargs="?", default="", help="`-` reads standard input")
    one.add_argument("--channel", help="the stanza's unless given")
    one.add_argument("--link")
    one.add_argument("--key", help="the same key is sent once for ever")
    one.set_defaults(
        do=lambda given: deliver(given.title, _text(given.text), given.channel, given.link, given.key)
    )

    one = commands.add_parser("skip", help="there was nothing to do; end with 0 afterwards")
    one.add_argument("reason")
    one.set_defaults(do=lambda given: skip(given.reason))

    one = commands.add_parser("remember", help="put a text into memory, with task and run as its source")
    one.add_argument("text", help="`-` reads standard input")
    one.add_argument("--kind", choices=KINDS, default="document")
    one.add_argument("--project")
    one.set_defaults(do=lambda given: _print(remember(_text(given.text), given.kind, given.project)))

    one = commands.add_parser("recall", help="search memory; prints JSON, a line each")
    one.add_argument("query")
    one.add_argument("--limit", type=int, default=10)
    one.add_argument("--project")
    one.set_defaults(do=_recall)

    one = commands.add_parser("ask", help="one prompt for a model; prints the answer")
    one.add_argument("prompt", help="`-` reads standard input")
    one.add_argument("--system")
    one.add_argument("--model", action="append", help="may be given more than once, the first to be tried first")
    one.add_argument("--json", action="store_true", help="print model, tier and cost too")
    one.set_defaults(do=_ask)

    one = commands.add_parser("agent", help="a job for an agent; prints its answer")
    one.add_argument("prompt", help="`-` reads standard input")
    one.add_argument("--json", action="store_true", help="print engine, turns and cost too")
    one.set_defaults(do=_agent)
    return parser


def _report(given: argparse.Namespace) -> None:
    if given.summary is None and given.output is None:
        raise ValueError("report: give --summary, --output or both")
    output = None
    if given.output is not None:
        try:
            output = json.loads(_text(given.output))
        except ValueError as error:
            raise ValueError("--output: is no JSON (%s)" % error) from None
    report(output, None if given.summary is None else _text(given.summary))


def _recall(given: argparse.Namespace) -> None:
    for result in recall(given.query, given.limit, given.project):
        _print(result)


def _ask(given: argparse.Namespace) -> None:
    _print_answer(ask(_text(given.prompt), given.system, given.model), given.json)


def _agent(given: argparse.Namespace) -> None:
    _print_answer(run_agent(_text(given.prompt)), given.json)


def _print_answer(answer: Any, as_json: bool) -> None:
    if as_json:
        _print(answer)
    else:
        print(answer.get("text") or "")


def _print(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))


def _text(given: str) -> str:
    return sys.stdin.read().strip() if given == STDIN else given


if __name__ == "__main__":
    entry()
