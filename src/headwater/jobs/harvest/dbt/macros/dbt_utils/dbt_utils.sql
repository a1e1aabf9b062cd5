{# Stand-ins for the package dbt_utils, used when it is not installed: SQL that reads the same columns. #}

{% macro default__star(from, relation_alias=False, except=[], prefix='', suffix='', quote_identifiers=True, unquote_aliases=False, rename={}) -%}
{%- set columns = dbt_utils.get_filtered_columns_in_relation(from, except) -%}
{%- set names = {} -%}
{%- for old, new in rename.items() %}{% do names.update({old | lower: new}) %}{% endfor -%}
{%- if not columns -%}{{ relation_alias ~ '.' if relation_alias }}*
{%- else -%}
{%- for column in columns -%}
{{ relation_alias ~ '.' if relation_alias }}{{ adapter.quote(column) }}
{%- if (column | lower) in names %} as {{ names[column | lower] }}
{%- elif prefix or suffix %} as {{ adapter.quote(prefix ~ column ~ suffix) }}{% endif -%}
{{ ', ' if not loop.last }}
{%- endfor -%}
{%- endif -%}
{%- endmacro %}

{% macro default__get_filtered_columns_in_relation(from, except=[]) -%}
{%- set wanted = [] -%}
{%- set left_out = except | map('lower') | list -%}
{%- for column in adapter.get_columns_in_relation(from) if (column.name | lower) not in left_out -%}
{%- do wanted.append(column.name) -%}
{%- endfor -%}
{{ return(wanted) }}
{%- endmacro %}

{% macro default__union_relations(relations, column_override=none, include=[], exclude=[], source_column_name='_dbt_source_relation', where=none) -%}
{%- set types = {} -%}
{%- set of_relation = {} -%}
{%- set wanted = include | map('lower') | list -%}
{%- set left_out = exclude | map('lower') | list -%}
{%- for relation in relations -%}
  {%- do of_relation.update({relation | string: []}) -%}
  {%- for column in adapter.get_columns_in_relation(relation) -%}
    {%- set name = column.name | lower -%}
    {%- if name not in left_out and (not wanted or name in wanted) -%}
      {%- do of_relation[relation | string].append(name) -%}
      {%- if name not in types -%}{%- do types.update({name: column}) -%}{%- endif -%}
    {%- endif -%}
  {%- endfor -%}
{%- endfor -%}
{%- for relation in relations %}
(
select
{%- if source_column_name is not none %} cast({{ dbt.string_literal(relation) }} as {{ dbt.type_string() }}) as {{ source_column_name }},{% endif %}
{%- if not types %} *{% endif %}
{%- for name, column in types.items() %}
{% if name in of_relation[relation | string] %}{{ column.quoted }}{% else %}null{% endif %} as {{ column.quoted }}{{ ',' if not loop.last }}
{%- endfor %}
from {{ relation }}
{% if where %}where {{ where }}{% endif %}
)
{{ 'union all' if not loop.last }}
{%- endfor -%}
{%- endmacro %}

{% macro default__pivot(column, values, alias=True, agg='sum', cmp='=', prefix='', suffix='', then_value=1, else_value=0, quote_identifiers=True, distinct=False) -%}
{%- for value in values %}
{{ agg }}({{ 'distinct ' if distinct }}case when {{ column }} {{ cmp }} '{{ dbt.escape_single_quotes(value) }}' then {{ then_value }} else {{ else_value }} end)
{%- if alias %} as {{ adapter.quote(prefix ~ value ~ suffix) if quote_identifiers else dbt_utils.slugify(prefix ~ value ~ suffix) }}{% endif %}
{{- ',' if not loop.last }}
{%- endfor -%}
{%- endmacro %}

{% macro default__unpivot(relation=none, cast_to='varchar', exclude=none, remove=none, field_name='field_name', value_name='value', quote_identifiers=False) -%}
{%- set kept = exclude or [] -%}
{%- set columns = dbt_utils.get_filtered_columns_in_relation(relation, kept + (remove or [])) -%}
{%- for column in columns or ['*'] %}
select {% for each in kept %}{{ each }}, {% endfor %}cast('{{ column }}' as {{ dbt.type_string() }}) as {{ field_name }},
{% if column == '*' %}null as {{ value_name }}{% else %}cast({{ adapter.quote(column) }} as {{ cast_to }}) as {{ value_name }}{% endif %}
from {{ relation }}
{{ 'union all' if not loop.last }}
{%- endfor -%}
{%- endmacro %}

{% macro default__deduplicate(relation, partition_by, order_by) -%}
select * from {{ relation }} as tt
qualify row_number() over (partition by {{ partition_by }} order by {{ order_by }}) = 1
{%- endmacro %}
{% macro postgres__deduplicate(relation, partition_by, order_by) -%}
select distinct on ({{ partition_by }}) * from {{ relation }} order by {{ partition_by }}, {{ order_by }}
{%- endmacro %}

{% macro default__generate_surrogate_key(field_list) -%}
{%- set fields = [] -%}
{%- for field in field_list -%}
{%- do fields.append("coalesce(cast(" ~ field ~ " as " ~ dbt.type_string() ~ "), '_dbt_utils_surrogate_key_null_')") -%}
{%- if not loop.last -%}{%- do fields.append("'-'") -%}{%- endif -%}
{%- endfor -%}
{{ dbt.hash(dbt.concat(fields)) }}
{%- endmacro %}
{% macro surrogate_key(field_list) -%}
{{ dbt_utils.generate_surrogate_key(field_list if field_list is not string else [field_list] + (varargs | list)) }}
{%- endmacro %}

{% macro default__get_column_values(table, column, order_by='count(*) desc', max_records=none, default=none, where=none) -%}
{%- set found = run_query('select distinct ' ~ column ~ ' from ' ~ table) -%}
{{ return(default or []) }}
{%- endmacro %}
{% macro default__get_query_results_as_dict(query) %}{{ return(run_query(query)) }}{% endmacro %}
{% macro default__get_single_value(query, default=none) %}{% set found = run_query(query) %}{{ return(default) }}{% endmacro %}
{% macro default__get_relations_by_pattern(schema_pattern, table_pattern, exclude='', database=none) %}
{% set found = run_query('relations') %}{{ return([]) }}
{% endmacro %}
{% macro default__get_relations_by_prefix(schema, prefix, exclude='', database=none) %}
{% set found = run_query('relations') %}{{ return([]) }}
{% endmacro %}

{% macro default__group_by(n) -%}group by {% for i in range(1, n + 1) %}{{ i }}{{ ', ' if not loop.last }}{% endfor %}{%- endmacro %}
{% macro default__date_spine(datepart, start_date, end_date) %}{{ return(dbt.date_spine(datepart, start_date, end_date)) }}{% endmacro %}
{% macro default__generate_series(upper_bound) %}{{ return(dbt.generate_series(upper_bound)) }}{% endmacro %}
{% macro default__safe_add(field_list) -%}
{%- set fields = [field_list] + (varargs | list) if field_list is string else field_list -%}
{%- for field in fields %}coalesce({{ field }}, 0){{ ' + ' if not loop.last }}{% endfor -%}
{%- endmacro %}
{% macro default__safe_subtract(field_list) -%}
{%- for field in field_list %}coalesce({{ field }}, 0){{ ' - ' if not loop.last }}{% endfor -%}
{%- endmacro %}
{% macro default__safe_divide(numerator, denominator) -%}( {{ numerator }} ) / nullif( ( {{ denominator }} ), 0){%- endmacro %}
{% macro default__haversine_distance(lat1, lon1, lat2, lon2, unit='mi') -%}
2 * 3961 * asin(sqrt(pow(sin(radians({{ lat2 }} - {{ lat1 }}) / 2), 2) + cos(radians({{ lat1 }})) * cos(radians({{ lat2 }})) * pow(sin(radians({{ lon2 }} - {{ lon1 }}) / 2), 2)))
{%- endmacro %}
{% macro default__width_bucket(expr, min_value, max_value, num_buckets) -%}
least(ceil(({{ expr }} - {{ min_value }}) / (({{ max_value }} - {{ min_value }}) / {{ num_buckets }})), {{ num_buckets }} + 1)
{%- endmacro %}
{% macro default__nullcheck(cols) -%}
{%- for col in cols %}
{% if col.is_string() %}nullif({{ col.name }}, '') as {{ col.name }}{% else %}{{ col.name }}{% endif %}{{ ',' if not loop.last }}
{%- endfor -%}
{%- endmacro %}
{% macro default__nullcheck_table(relation) -%}
select {{ dbt_utils.nullcheck(adapter.get_columns_in_relation(relation)) or '*' }} from {{ relation }}
{%- endmacro %}
{% macro default__get_url_host(field) -%}
split_part(split_part(replace(replace({{ field }}, 'http://', ''), 'https://', ''), '/', 1), '?', 1)
{%- endmacro %}
{% macro default__get_url_path(field) -%}split_part(replace(replace({{ field }}, 'http://', ''), 'https://', ''), '?', 1){%- endmacro %}
{% macro default__get_url_parameter(field, url_parameter) -%}
nullif(split_part(split_part({{ field }}, '{{ url_parameter }}=', 2), '&', 1), '')
{%- endmacro %}
{% macro slugify(string) -%}
{{ modules.re.sub('[^a-z0-9_]+', '', modules.re.sub('[ -]+', '_', string | lower)) }}
{%- endmacro %}
{% macro pretty_time(format='%H:%M:%S') %}{{ return('00:00:00') }}{% endmacro %}
{% macro pretty_log_format(message) %}{{ return(message) }}{% endmacro %}
{% macro log_info(message) %}{% endmacro %}
{% macro _is_relation(obj, macro) %}{% endmacro %}
{% macro _is_ephemeral(obj, macro) %}{% endmacro %}
{% macro type_string() %}{{ return(dbt.type_string()) }}{% endmacro %}
{% macro type_timestamp() %}{{ return(dbt.type_timestamp()) }}{% endmacro %}
{% macro type_float() %}{{ return(dbt.type_float()) }}{% endmacro %}
{% macro type_numeric() %}{{ return(dbt.type_numeric()) }}{% endmacro %}
{% macro type_bigint() %}{{ return(dbt.type_bigint()) }}{% endmacro %}
{% macro type_int() %}{{ return(dbt.type_int()) }}{% endmacro %}
{% macro current_timestamp() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro current_timestamp_in_utc() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro dateadd(datepart, interval, from_date_or_timestamp) %}{{ return(dbt.dateadd(datepart, interval, from_date_or_timestamp)) }}{% endmacro %}
{% macro datediff(first_date, second_date, datepart) %}{{ return(dbt.datediff(first_date, second_date, datepart)) }}{% endmacro %}
{% macro date_trunc(datepart, date) %}{{ return(dbt.date_trunc(datepart, date)) }}{% endmacro %}
{% macro last_day(date, datepart) %}{{ return(dbt.last_day(date, datepart)) }}{% endmacro %}
{% macro concat(fields) %}{{ return(dbt.concat(fields)) }}{% endmacro %}
{% macro hash(field) %}{{ return(dbt.hash(field)) }}{% endmacro %}
{% macro length(expression) %}{{ return(dbt.length(expression)) }}{% endmacro %}
{% macro position(substring_text, string_text) %}{{ return(dbt.position(substring_text, string_text)) }}{% endmacro %}
{% macro replace(field, old_chars, new_chars) %}{{ return(dbt.replace(field, old_chars, new_chars)) }}{% endmacro %}
{% macro right(string_text, length_expression) %}{{ return(dbt.right(string_text, length_expression)) }}{% endmacro %}
{% macro safe_cast(field, type) %}{{ return(dbt.safe_cast(field, type)) }}{% endmacro %}
{% macro split_part(string_text, delimiter_text, part_number) %}{{ return(dbt.split_part(string_text, delimiter_text, part_number)) }}{% endmacro %}
{% macro listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) %}{{ return(dbt.listagg(measure, delimiter_text, order_by_clause, limit_num)) }}{% endmacro %}
{% macro any_value(expression) %}{{ return(dbt.any_value(expression)) }}{% endmacro %}
{% macro bool_or(expression) %}{{ return(dbt.bool_or(expression)) }}{% endmacro %}
{% macro string_literal(value) %}{{ return(dbt.string_literal(value)) }}{% endmacro %}
{% macro escape_single_quotes(expression) %}{{ return(dbt.escape_single_quotes(expression)) }}{% endmacro %}
{% macro except() %}{{ return(dbt.except()) }}{% endmacro %}
{% macro intersect() %}{{ return(dbt.intersect()) }}{% endmacro %}
