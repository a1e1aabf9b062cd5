"""Lineage proven by execution: run a query, change one input column, run it again, and compare.

A *world* is a set of small tables in DuckDB and, for each column, a few variants of its table in which only that
column differs (other values, NULLs, one value for all rows, one new value). No variant adds or removes a row. A query
runs on the base tables and on variants of each table that it reads, all at once. Let x be the changed input column.

*Soundness.* Each of these is a bug of the lineage when the statement's status is `resolved`:

* **column**: the values of output column c, taken as a bag, differ, but x has no edge to c and no edge to all rows.
* **rows**: the rows, taken as a bag, differ, but x has no edge at all.
* **stayed**: a row of both results is made of the same input rows, its value in column c differs, but x has no
  value edge, no condition edge and no row edge of its own to c. An edge to all rows does not explain it.

*Input rows of a row.* `identity.py` adds the `rowid`s of the tables in FROM to the query; a GROUP BY adds the
sorted list of those of its group. Two rows are the same row when these are equal. A window function looks at rows
beside its own, so a row is compared only when no row came or went, and only where the rows of the window are those
of the result (no QUALIFY or LIMIT, not in a subquery; no lag or row_number, which differ among equal keys). Where
no identity can be added, only the first two rules apply.

*Chance.* A query whose result depends on the order of stored rows (LIMIT after ties, `any_value`) proves nothing:
before a bug is reported, both runs are repeated one by one, on shuffled tables and with another order of ties in
windows, and the query counts as unstable if its rows then differ.

*Tightness.* An edge is witnessed when a change of its source changes its target: the bag or a compared value of
that column, or, if the target is the whole table, which rows there are or their order. The share of edges that no
change witnessed is reported by kind. It is a measure and no proof: small tables do not reach every branch.

*Writes.* The result of INSERT, UPDATE, DELETE and MERGE is the target afterwards. A column of the target keeps its
own values, so the target's column is allowed to change with itself.
"""
