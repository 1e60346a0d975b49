"""`argus dsn`: the database's address for psql and scripts."""

from __future__ import annotations

import argparse
import json

from argus_cli.hub import stored_dsn
from argus_memory.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(arguments: argparse.Namespace) -> int:
    dsn = stored_dsn(load_settings())
    print(json.dumps({"dsn": dsn}) if arguments.json else dsn)
    return 0
