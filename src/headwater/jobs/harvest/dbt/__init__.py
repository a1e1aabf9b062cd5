"""dbt projects without dbt: what is in them, how their models render, and what each makes."""
