"""Headwater on Spark."""
