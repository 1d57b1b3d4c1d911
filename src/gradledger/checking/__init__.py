"""From files to findings: reading, checking each program, repairing, without running anything."""
