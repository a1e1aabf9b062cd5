-- columns
SELECT NULL, m.name, c.name, c.type, NULL FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c
WHERE m.type IN ('table', 'view') AND substr(m.name, 1, 7) <> 'sqlite_' AND c.hidden <> 1

-- columns of tables
SELECT NULL, m.name, c.name, c.type, NULL FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c
WHERE m.type = 'table' AND substr(m.name, 1, 7) <> 'sqlite_' AND c.hidden <> 1

-- keys
SELECT NULL, m.name, c.name, NULL, NULL FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c
WHERE m.type = 'table' AND c.pk > 0
UNION ALL
SELECT NULL, m.name, k."from", k."table", k."to" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) k
WHERE m.type = 'table'

-- definitions
SELECT type, NULL, name, sql FROM sqlite_master WHERE type IN ('view', 'trigger') ORDER BY 1, 3
