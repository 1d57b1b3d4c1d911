"""From the journal and the rules to an answer: which findings are reported."""
