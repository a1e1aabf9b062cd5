"""Catalyst plans, lowered to the relation tree."""
