"""SQL text to relation trees, for every dialect that sqlglot parses.

* The text is cut into statements: `clients`, `split`, `batches` (T-SQL), `packages` (Oracle), `wrapped` (tasks).
* Procedural code is entered, and what runs is worked out: `program`, `blocks` with `control_flow`, `branches` and
  `declarations`, `routines`, `triggers`, `cursors`, `variables`; strings that are executed: `executed`, `evaluation`,
  `texts`.
* A statement is parsed, after `respell` if need be, and given to what lowers its kind: `frontend`.
* Statements: `writes`, `inserts`, `updates`, `merges`, `creates`, `alterations`, `renames`, `loads`, `streams`.
* Queries: `queries`, `selection`, `tables`, `generators`, `pivots`, and functions that stand for queries: `calls`.
* Expressions: `expressions`, `nested`; the column that a name means: `lookup`, over the `items` of FROM.
* All of them share `lowering`. What cannot be lowered keeps its tables: `table_only`; or has none: `without_lineage`.
"""
