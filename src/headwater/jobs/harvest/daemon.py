"""Spark's daemon for a harvest: what all its workers need is imported once, before they are forked."""

from headwater.spark.daemon import run_daemon

if __name__ == "__main__":
    run_daemon("headwater.jobs.harvest.spark_executor")
