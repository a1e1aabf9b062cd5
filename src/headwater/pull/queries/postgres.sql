-- begin
SET TRANSACTION READ ONLY

-- path
SELECT unnest(current_schemas(false))::text

-- columns
-- (without a path, definitions come with the schemas of all that they name)
SET LOCAL search_path = '';
SELECT n.nspname::text, c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
       col_description(c.oid, a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
ORDER BY n.nspname, c.relname, a.attnum

-- keys
SELECT n.nspname::text, c.relname::text, a.attname::text, fn.nspname || '.' || fc.relname, fa.attname::text
FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY AS u (number, place)
JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number
LEFT JOIN pg_class fc ON fc.oid = k.confrelid LEFT JOIN pg_namespace fn ON fn.oid = fc.relnamespace
LEFT JOIN pg_attribute fa ON fa.attrelid = fc.oid AND fa.attnum = k.confkey[u.place]
WHERE k.contype IN ('p', 'f')

-- definitions
-- (a function that triggers call stands with them: only so it is known whose rows NEW and OLD are)
SELECT CASE c.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END, n.nspname::text, c.relname::text,
       'CREATE ' || CASE c.relkind WHEN 'm' THEN 'MATERIALIZED ' ELSE '' END || 'VIEW '
       || quote_ident(n.nspname) || '.' || quote_ident(c.relname) || E' AS\n' || pg_get_viewdef(c.oid), ''
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
UNION ALL
SELECT CASE p.prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, n.nspname::text, p.proname::text,
       CASE WHEN l.lanname IN ('sql', 'plpgsql') THEN pg_get_functiondef(p.oid) END,
       pg_get_function_identity_arguments(p.oid)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
WHERE p.prokind IN ('f', 'p') AND l.lanname NOT IN ('c', 'internal')
      AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e')
      AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgfoid = p.oid)
UNION ALL
SELECT 'trigger', n.nspname::text, c.relname || '.' || t.tgname,
       CASE WHEN l.lanname = 'plpgsql' THEN pg_get_functiondef(p.oid) || E';\n' ELSE '' END || pg_get_triggerdef(t.oid), ''
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_language l ON l.oid = p.prolang
WHERE NOT t.tgisinternal
ORDER BY 1, 2, 3, 5

-- history
-- (the extension may be in any schema)
SELECT set_config('search_path', quote_ident(n.nspname), true)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements';
SELECT s.queryid || '-' || r.rolname, r.rolname::text, NULL, s.query, s.calls, NULL
FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid LEFT JOIN pg_roles r ON r.oid = s.userid
WHERE d.datname = current_database()
