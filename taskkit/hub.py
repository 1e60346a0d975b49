"""What a task asks of Argus over HTTP: ARGUS_API_URL and ARGUS_MCP_TOKEN, which every run has."""

import json
import os
import socket
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any, Dict, List, Optional, Sequence, Union

from taskkit.errors import NotConfigured, NotReachable, Refused
from taskkit.reports import cost, in_run, show

SECONDS = 30.0  # a capture or a search
ASK_SECONDS = 600.0  # a local model may take minutes
KINDS = ("document", "event", "synthesis")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def remember(
    text: str,
    kind: str = "document",
    project: Optional[str] = None,
    metadata: Optional[Dict[str, Any]] = None,
) -> Dict[str, Any]:
    """Capture `text` with this task and run as its source; the receipt {"id", "duplicate", "skipped", "redactions"}.

    kind: document (something read), event (something that happened) or synthesis (something worked out). A turn is
    what a person or an assistant said, so a task cannot capture one. The same text twice is one item.
    """
    if kind not in KINDS:
        raise ValueError("kind: %r is none of %s" % (kind, ", ".join(KINDS)))
    item = {
        "source": "task",
        "kind": kind,
        "body": text,
        "project": project,
        "metadata": {
            **(metadata or {}),
            "task": os.environ.get("ARGUS_TASK"),
            "rid": os.environ.get("ARGUS_TASK_RID"),
            "host": socket.gethostname(),
        },
    }
    if not in_run():
        show({"type": "remember", **item})
        return {"id": None, "duplicate": False, "skipped": "not-in-a-run", "redactions": []}
    return _object(_call("POST", "/capture", item))


def recall(query: str, limit: int = 10, project: Optional[str] = None) -> List[Dict[str, Any]]:
    """What memory has on `query`, notes and verbatim turns, the best first, each with id, title, text and score."""
    given = {"q": query, "limit": str(limit), "project": project}
    parameters = urllib.parse.urlencode({name: value for name, value in given.items() if value is not None})
    results = _object(_call("GET", "/search?" + parameters)).get("results")
    return results if isinstance(results, list) else []


def ask(
    prompt: str,
    system: Optional[str] = None,
    model: Union[str, Sequence[str], None] = None,
    max_tokens: Optional[int] = None,
    timeout: float = ASK_SECONDS,
) -> Dict[str, Any]:
    """One prompt, answered by the first model of the chain that can: {"text", "model", "tier", "cost_usd", …}.

    Its cost is added to the run's.
    """
    chosen = model if model is None or isinstance(model, str) else list(model)
    given = {"prompt": prompt, "system": system, "model": chosen, "max_tokens": max_tokens}
    body = {name: value for name, value in given.items() if value is not None}
    answer = _object(_call("POST", "/ask", body, timeout))
    if in_run():
        cost(answer.get("cost_usd"), engine=answer.get("model_real") or answer.get("model"))
    return answer


def _call(method: str, path: str, body: Optional[Dict[str, Any]] = None, timeout: float = SECONDS) -> Any:
    """The answer's JSON; raises NotConfigured, NotReachable or Refused, each with a sentence."""
    base, token = _variable("ARGUS_API_URL").rstrip("/"), _variable("ARGUS_MCP_TOKEN")
    if not base.startswith(("http://", "https://")):
        raise NotConfigured("ARGUS_API_URL: %r is no http(s) address" % base)
    request = urllib.request.Request(  # noqa: S310 — http(s) was asked for above
        base + path,
        data=None if body is None else json.dumps(body, default=str).encode(),
        headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"},
        method=method,
    )
    is_loopback = urllib.parse.urlsplit(base).hostname in LOOPBACK
    # A proxy of the environment cannot reach this machine's own hub.
    handlers = [urllib.request.ProxyHandler({})] if is_loopback else []
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=timeout) as reply:
            data = reply.read()
    except urllib.error.HTTPError as error:
        raise _refusal(error) from None
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise NotReachable("the hub at %s does not answer (%s): see `argus status`" % (base, reason)) from None
    try:
        return json.loads(data.decode())
    except ValueError:
        raise NotReachable("what answers at %s is not Argus: its answer is no JSON" % base) from None


def _refusal(error: urllib.error.HTTPError) -> Exception:
    code, message = None, "HTTP %d" % error.code
    try:
        told = json.loads(error.read().decode())["error"]
        code, message = told["code"], told["message"]
    except (ValueError, KeyError, TypeError, OSError):
        message += " without a reason"
    if error.code in (502, 503, 504):
        return NotReachable(message)
    return Refused(message, error.code, code)


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise NotConfigured("%s is not set: Argus's runs have it; by hand, take it from the env of its home" % name)
    return value


def _object(data: Any) -> Dict[str, Any]:
    if not isinstance(data, dict):
        raise NotReachable("what answers there is not Argus: its answer is no JSON object")
    return data
