"""The cases of ZetaSQL toolkit's ExtractColumnLevelLineage, on BigQuery's public samples.

python -m zetasql_toolkit.examples.extract_column_lineage
"""

from zetasql.api import Analyzer
from zetasql.types import AnalyzerOptions

from headwater.zetasql import (
    ColumnLineageExtractor,
    create_sample_catalog,
    get_bigquery_language_options,
    share_engine,
)

CASES = {
    "create table as select": """
        CREATE TABLE `project.dataset.table` AS
        SELECT concatted AS column_alias
        FROM (SELECT UPPER(CONCAT(title, comment)) AS concatted FROM `bigquery-public-data.samples.wikipedia`)
        GROUP BY 1""",
    "insert": """
        INSERT INTO `bigquery-public-data.samples.wikipedia` (title, comment)
        SELECT LOWER(upper_corpus) AS titleaaaaaa, UPPER(lower_word) AS comment
        FROM (
          SELECT UPPER(corpus) AS upper_corpus, LOWER(word) AS lower_word
          FROM `bigquery-public-data.samples.shakespeare` WHERE word_count > 10)""",
    "update": """
        UPDATE `bigquery-public-data.samples.wikipedia` AS w
        SET title = s.corpus, comment = s.word
        FROM (SELECT corpus, UPPER(word) AS word FROM `bigquery-public-data.samples.shakespeare`) AS s
        WHERE w.title = s.corpus""",
    "merge": """
        MERGE `bigquery-public-data.samples.wikipedia` AS w
        USING (SELECT corpus, UPPER(word) AS word FROM `bigquery-public-data.samples.shakespeare`) AS s
        ON w.title = s.corpus
        WHEN MATCHED THEN UPDATE SET comment = s.word
        WHEN NOT MATCHED THEN INSERT (title) VALUES (UPPER(corpus))""",
}


def main() -> None:
    share_engine()
    options = AnalyzerOptions(language_options=get_bigquery_language_options())
    analyzer = Analyzer(options, create_sample_catalog())
    for title, sql in CASES.items():
        print(f"-- {title}")
        lineages = ColumnLineageExtractor.extract_column_lineage(analyzer.analyze_statement(sql))
        for lineage in sorted(lineages, key=lambda each: each.target.name):
            print(f"{lineage.target.table}.{lineage.target.name}")
            for parent in sorted(lineage.parents, key=str):
                print(f"  <- {parent.table}.{parent.name}")
        print()


if __name__ == "__main__":
    main()
