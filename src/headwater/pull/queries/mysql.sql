-- begin
SET SESSION TRANSACTION READ ONLY;
SET SESSION time_zone = '+00:00'

-- path
SELECT database()

-- columns
SELECT table_schema, table_name, column_name, column_type, column_comment
FROM information_schema.columns
WHERE table_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')
      AND table_schema = coalesce(database(), table_schema)
ORDER BY table_schema, table_name, ordinal_position

-- keys
SELECT table_schema, table_name, column_name, concat(referenced_table_schema, '.', referenced_table_name),
       referenced_column_name
FROM information_schema.key_column_usage
WHERE constraint_name = 'PRIMARY' OR referenced_table_name IS NOT NULL

-- definitions
SELECT 'view', table_schema, table_name,
       concat('CREATE VIEW `', replace(table_schema, '`', '``'), '`.`', replace(table_name, '`', '``'), '` AS ',
              nullif(view_definition, ''))
FROM information_schema.views
WHERE table_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')
      AND table_schema = coalesce(database(), table_schema)
UNION ALL
SELECT lower(r.routine_type), r.routine_schema, r.routine_name,
       concat('CREATE ', r.routine_type, ' `', replace(r.routine_schema, '`', '``'), '`.`',
              replace(r.routine_name, '`', '``'), '`(',
              coalesce((SELECT group_concat(if(r.routine_type = 'PROCEDURE', concat(p.parameter_mode, ' '), ''), '`',
                                            p.parameter_name, '` ', p.dtd_identifier ORDER BY p.ordinal_position)
                        FROM information_schema.parameters p
                        WHERE p.specific_schema = r.routine_schema AND p.specific_name = r.specific_name
                              AND p.routine_type = r.routine_type AND p.ordinal_position > 0), ''),
              ') ', if(r.routine_type = 'FUNCTION', concat('RETURNS ', r.dtd_identifier, ' '), ''), r.routine_definition)
FROM information_schema.routines r
WHERE r.routine_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')
      AND r.routine_schema = coalesce(database(), r.routine_schema)
UNION ALL
SELECT 'trigger', trigger_schema, trigger_name,
       concat('CREATE TRIGGER `', replace(trigger_schema, '`', '``'), '`.`', replace(trigger_name, '`', '``'), '` ',
              action_timing, ' ', event_manipulation, ' ON `', replace(event_object_schema, '`', '``'), '`.`',
              replace(event_object_table, '`', '``'), '` FOR EACH ROW ', action_statement)
FROM information_schema.triggers
WHERE trigger_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')
      AND trigger_schema = coalesce(database(), trigger_schema)
ORDER BY 1, 2, 3

-- history
SELECT concat(digest, '-', schema_name), NULL, schema_name, digest_text, count_star, last_seen
FROM performance_schema.events_statements_summary_by_digest
WHERE digest_text IS NOT NULL AND schema_name = coalesce(database(), schema_name)
