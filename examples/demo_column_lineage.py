"""Which columns a column is made of, for each kind of statement.

python examples/demo_column_lineage.py
"""

from zetasql.api import Analyzer
from zetasql.types import AnalyzerOptions

from headwater.zetasql import (
    ColumnLineageExtractor,
    LineageFormatter,
    create_sample_catalog,
    get_bigquery_language_options,
    share_engine,
)

CREATE = """
CREATE TABLE order_report AS
SELECT o.order_id, UPPER(c.name) AS customer, o.amount * p.price AS cost,
       CASE WHEN c.country = 'KR' THEN o.status ELSE 'abroad' END AS state
FROM orders AS o JOIN customers AS c ON o.customer_id = c.id JOIN products AS p USING (product_id)
"""
INSERT = """
INSERT INTO customer_summary (customer_id, customer_name, total_amount, order_count)
SELECT c.id, c.name, SUM(o.amount), COUNT(*)
FROM customers AS c JOIN orders AS o ON o.customer_id = c.id GROUP BY c.id, c.name
"""
UPDATE = """
UPDATE customer_summary AS s
SET total_amount = (SELECT SUM(amount) FROM orders AS o WHERE o.customer_id = s.customer_id),
    customer_name = CONCAT(c.name, ' <', c.email, '>')
FROM customers AS c WHERE c.id = s.customer_id
"""
MERGE = """
MERGE customer_summary AS s
USING (SELECT customer_id, SUM(amount) AS total, MAX(order_date) AS last FROM orders GROUP BY customer_id) AS o
ON s.customer_id = o.customer_id
WHEN MATCHED THEN UPDATE SET total_amount = o.total, last_order_date = o.last
WHEN NOT MATCHED THEN INSERT (customer_id, total_amount) VALUES (o.customer_id, o.total)
"""


def main() -> None:
    share_engine()
    options = AnalyzerOptions(language_options=get_bigquery_language_options())
    analyzer = Analyzer(options, create_sample_catalog())
    cases = {
        "CREATE TABLE AS SELECT": (CREATE, ColumnLineageExtractor.extract_for_create_table_as_select),
        "INSERT": (INSERT, ColumnLineageExtractor.extract_for_insert),
        "UPDATE": (UPDATE, ColumnLineageExtractor.extract_for_update),
        "MERGE": (MERGE, ColumnLineageExtractor.extract_for_merge),
    }
    for title, (sql, extract) in cases.items():
        print(f"-- {title}\n{LineageFormatter.to_text(extract(analyzer.analyze_statement(sql)))}\n")


if __name__ == "__main__":
    main()
