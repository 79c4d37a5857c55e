"""The command line, one module a room: ``lab`` needs the core alone, ``model`` loads torch when a command is run."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from . import acceptance, bench, calibrate, crowd, export, generate, lab, model, page, price, speeds, train, what_if
from .parser import Parser

ERRORS = (ValueError, LookupError, OSError)
"""What the library raises for bad input; anything else is a defect and keeps its traceback."""


def build_parser() -> Parser:
    """The parser of every command, with its help."""
    parser = Parser(prog="eagle-viz", description="Static against dynamic draft trees for speculative decoding.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    page.add_commands(commands)
    lab.add_commands(commands)
    export.add_commands(commands)
    acceptance.add_commands(commands)
    model.add_commands(commands)
    generate.add_commands(commands)
    calibrate.add_commands(commands)
    benches = bench.add_commands(commands)
    speeds.add_commands(benches)
    crowd.add_commands(benches)
    price.add_commands(commands)
    what_if.add_commands(commands)
    train.add_commands(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0 done, 1 a check that failed, 2 bad input (said in one line)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows a question mark
    parsed = build_parser().parse_args(arguments)
    try:
        return parsed.run(parsed)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; nothing more to say
        return 0
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except ERRORS as error:
        message = " ".join(str(error.args[0] if isinstance(error, KeyError) and error.args else error).split())
        print(f"error: {message}", file=sys.stderr)
        return 2
