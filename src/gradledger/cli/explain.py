"""`gradledger explain`: what a rule means, why the mistake stays silent, how to put it right."""

from __future__ import annotations

import argparse
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradledger.report.style import StreamFacts
    from gradledger.rules.rule import Rule

NAME = "explain"
HELP = "explain a rule, with a wrong and a right example"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("rule", metavar="CODE", help="a code (GL101), a name (stale-gradient), or all")


def run(args: argparse.Namespace) -> int:
    """Print the explanation."""
    from gradledger.audit.selector import UnknownRuleError
    from gradledger.cli.terminal import emit, terminal
    from gradledger.cli.usage import UsageError
    from gradledger.report.rule_text import rule_text
    from gradledger.rules.catalogue import catalogue, find

    facts = terminal(sys.stdout)
    if args.rule.strip().lower() == "all":
        rules = catalogue()
    else:
        rule = find(args.rule)
        if rule is None:
            raise UsageError(
                terminal(sys.stderr).plain(f"{UnknownRuleError(args.rule)}; see gradledger rules")
            )
        rules = (rule,)
    emit(
        f"\n{'-' * facts.width}\n\n".join(rule_text(rule, facts) + _lessons(rule, facts) for rule in rules),
        sys.stdout,
    )
    return 0


def _lessons(rule: Rule, facts: StreamFacts) -> str:
    """Where the course explains the rule."""
    from gradledger.lessons.linking import lessons_about

    found = lessons_about(rule.code)
    return "".join(
        f"To see it happen:  gradledger learn read {number}  ({facts.plain(title)})\n"
        for number, title in found
    )
