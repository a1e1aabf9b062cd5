"""Which tables a statement reads and writes: ZetaSQL's own Analyzer, and Headwater's reading of what it resolves.

python examples/demo_table_lineage.py
"""

from zetasql.api import Analyzer
from zetasql.types import AnalyzerOptions

from headwater.zetasql import (
    LineageFormatter,
    create_sample_catalog,
    extract_table_lineage,
    get_bigquery_language_options,
    share_engine,
)

STATEMENTS = {
    "SELECT": "SELECT name, email FROM customers",
    "CREATE TABLE AS SELECT": "CREATE TABLE big_orders AS SELECT * FROM orders WHERE amount > 100",
    "INSERT": "INSERT INTO customer_summary (customer_id, total_amount) SELECT customer_id, amount FROM orders",
    "UPDATE": "UPDATE orders SET status = 'done' WHERE customer_id IN (SELECT id FROM customers)",
    "MERGE": """
        MERGE customer_summary AS s USING (SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY 1) AS o
        ON s.customer_id = o.customer_id
        WHEN MATCHED THEN UPDATE SET total_amount = o.total
        WHEN NOT MATCHED THEN INSERT (customer_id, total_amount) VALUES (o.customer_id, o.total)""",
    "subquery": "SELECT (SELECT MAX(price) FROM products) AS dearest, name FROM customers",
    "CTE": "WITH recent AS (SELECT * FROM orders WHERE order_date > '2024-01-01') SELECT amount FROM recent",
    "join": """
        SELECT c.name, p.category, o.amount
        FROM orders AS o JOIN customers AS c ON o.customer_id = c.id JOIN products AS p USING (product_id)""",
}


def main() -> None:
    share_engine()  # start in half a second: the package by itself compiles for half a minute
    options = AnalyzerOptions(language_options=get_bigquery_language_options())
    analyzer = Analyzer(options, create_sample_catalog())
    for title, sql in STATEMENTS.items():
        lineage = extract_table_lineage(analyzer.analyze_statement(sql))
        print(f"-- {title}\n{LineageFormatter.to_text([lineage])}\n")
    print(LineageFormatter.to_json([extract_table_lineage(analyzer.analyze_statement(STATEMENTS["MERGE"]))]))


if __name__ == "__main__":
    main()
