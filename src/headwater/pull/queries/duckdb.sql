-- path
SELECT 'main'

-- columns
SELECT schema_name, table_name, column_name, data_type, comment FROM duckdb_columns()
WHERE NOT internal AND database_name = current_database() ORDER BY schema_name, table_name, column_index

-- keys
SELECT schema_name, table_name, unnest(constraint_column_names),
       CASE constraint_type WHEN 'FOREIGN KEY' THEN schema_name || '.' || referenced_table END,
       CASE constraint_type WHEN 'FOREIGN KEY' THEN unnest(referenced_column_names) END
FROM duckdb_constraints()
WHERE constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') AND database_name = current_database()

-- definitions
SELECT 'view', schema_name, view_name, sql FROM duckdb_views()
WHERE NOT internal AND database_name = current_database()
UNION ALL
SELECT 'macro', schema_name, function_name,
       'CREATE MACRO "' || replace(schema_name, '"', '""') || '"."' || replace(function_name, '"', '""') || '"('
       || array_to_string(parameters, ', ') || ') AS '
       || CASE function_type WHEN 'table_macro' THEN 'TABLE ' ELSE '' END || macro_definition
FROM duckdb_functions()
WHERE NOT internal AND function_type IN ('macro', 'table_macro') AND database_name = current_database()
ORDER BY 1, 2, 3
