"""Measuring plans: arms compared on a set of queries, batches of plans, tuning."""
