"""Probes that look closer, for those who ask: shapes, values and curves, told to the recording only."""
