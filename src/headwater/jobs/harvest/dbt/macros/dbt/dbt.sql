{# The macros of the namespace `dbt`, in our own words: SQL that reads the same columns as dbt's own. A macro that is
   only there as default__NAME is called as NAME and goes through adapter.dispatch. #}

{# -- names ------------------------------------------------------------------------------------------------- #}
{% macro default__generate_schema_name(custom_schema_name=none, node=none) -%}
{{ target.schema if custom_schema_name is none else target.schema ~ '_' ~ (custom_schema_name | trim) }}
{%- endmacro %}
{% macro generate_schema_name_for_env(custom_schema_name, node=none) -%}
{{ (custom_schema_name | trim) if target.name == 'prod' and custom_schema_name is not none else target.schema }}
{%- endmacro %}
{% macro default__generate_alias_name(custom_alias_name=none, node=none) -%}
{{ (custom_alias_name | trim) if custom_alias_name else node.name ~ ('_v' ~ node.version if node.version else '') }}
{%- endmacro %}
{% macro default__generate_database_name(custom_database_name=none, node=none) -%}
{{ target.database if custom_database_name is none else custom_database_name | trim }}
{%- endmacro %}
{% macro should_full_refresh() %}{{ return(false) }}{% endmacro %}
{% macro should_store_failures() %}{{ return(false) }}{% endmacro %}
{% macro default__resolve_model_name(input_model_name) -%}{{ input_model_name | string }}{%- endmacro %}
{% macro get_quoted_csv(column_names) %}{{ return(column_names | join(', ')) }}{% endmacro %}

{# -- types ------------------------------------------------------------------------------------------------- #}
{% macro default__type_string() %}{{ return('TEXT') }}{% endmacro %}
{% macro bigquery__type_string() %}{{ return('string') }}{% endmacro %}
{% macro spark__type_string() %}{{ return('string') }}{% endmacro %}
{% macro trino__type_string() %}{{ return('varchar') }}{% endmacro %}
{% macro fabric__type_string() %}{{ return('varchar(8000)') }}{% endmacro %}
{% macro default__type_timestamp() %}{{ return('TIMESTAMP') }}{% endmacro %}
{% macro fabric__type_timestamp() %}{{ return('datetime2(6)') }}{% endmacro %}
{% macro default__type_float() %}{{ return('FLOAT') }}{% endmacro %}
{% macro bigquery__type_float() %}{{ return('float64') }}{% endmacro %}
{% macro trino__type_float() %}{{ return('double') }}{% endmacro %}
{% macro default__type_numeric() %}{{ return('numeric(28,6)') }}{% endmacro %}
{% macro bigquery__type_numeric() %}{{ return('numeric') }}{% endmacro %}
{% macro default__type_bigint() %}{{ return('bigint') }}{% endmacro %}
{% macro default__type_int() %}{{ return('INT') }}{% endmacro %}
{% macro bigquery__type_int() %}{{ return('int64') }}{% endmacro %}
{% macro default__type_boolean() %}{{ return('BOOLEAN') }}{% endmacro %}
{% macro bigquery__type_boolean() %}{{ return('bool') }}{% endmacro %}
{% macro fabric__type_boolean() %}{{ return('bit') }}{% endmacro %}
{% macro default__cast(field, type) %}cast({{ field }} as {{ type }}){% endmacro %}
{% macro default__safe_cast(field, type) %}cast({{ field }} as {{ type }}){% endmacro %}
{% macro snowflake__safe_cast(field, type) -%}
{%- if (field | string | trim).startswith("'") -%}try_cast({{ field }} as {{ type }})
{%- else -%}try_cast(cast({{ field }} as varchar) as {{ type }}){%- endif -%}
{%- endmacro %}
{% macro bigquery__safe_cast(field, type) %}safe_cast({{ field }} as {{ type }}){% endmacro %}
{% macro trino__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro spark__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro fabric__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro default__cast_bool_to_text(field) %}cast({{ field }} as {{ dbt.type_string() }}){% endmacro %}
{% macro default__string_literal(value) -%}'{{ value }}'{%- endmacro %}
{% macro default__escape_single_quotes(expression) -%}{{ expression | string | replace("'", "''") }}{%- endmacro %}
{% macro bigquery__escape_single_quotes(expression) -%}{{ expression | string | replace("'", "\\'") }}{%- endmacro %}

{# -- dates ------------------------------------------------------------------------------------------------- #}
{% macro default__current_timestamp() -%}current_timestamp{%- endmacro %}
{% macro duckdb__current_timestamp() -%}now(){%- endmacro %}
{% macro postgres__current_timestamp() -%}now(){%- endmacro %}
{% macro redshift__current_timestamp() -%}getdate(){%- endmacro %}
{% macro bigquery__current_timestamp() -%}current_timestamp(){%- endmacro %}
{% macro snowflake__current_timestamp() -%}convert_timezone('UTC', current_timestamp()){%- endmacro %}
{% macro spark__current_timestamp() -%}current_timestamp(){%- endmacro %}
{% macro fabric__current_timestamp() -%}sysdatetime(){%- endmacro %}
{% macro current_timestamp_backcompat() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro current_timestamp_in_utc_backcompat() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro snapshot_get_time() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro default__date(year, month, day) -%}
to_date('{{ '%04d-%02d-%02d' % (year, month, day) }}', 'YYYY-MM-DD')
{%- endmacro %}
{% macro bigquery__date(year, month, day) -%}date({{ year }}, {{ month }}, {{ day }}){%- endmacro %}
{% macro trino__date(year, month, day) -%}date '{{ '%04d-%02d-%02d' % (year, month, day) }}'{%- endmacro %}
{% macro default__date_trunc(datepart, date) -%}date_trunc('{{ datepart }}', {{ date }}){%- endmacro %}
{% macro bigquery__date_trunc(datepart, date) -%}timestamp_trunc(cast({{ date }} as timestamp), {{ datepart }}){%- endmacro %}
{% macro fabric__date_trunc(datepart, date) -%}datetrunc({{ datepart }}, {{ date }}){%- endmacro %}
{% macro default__dateadd(datepart, interval, from_date_or_timestamp) -%}
dateadd({{ datepart }}, {{ interval }}, {{ from_date_or_timestamp }})
{%- endmacro %}
{% macro duckdb__dateadd(datepart, interval, from_date_or_timestamp) -%}
{%- set unit, size = {'quarter': ('month', 3), 'week': ('day', 7)}.get(datepart | lower, (datepart | lower, 1)) -%}
{%- if size == 1 -%}({{ from_date_or_timestamp }} + cast({{ interval }} as bigint) * interval 1 {{ unit }})
{%- else -%}({{ from_date_or_timestamp }} + (cast({{ interval }} as bigint) * {{ size }}) * interval 1 {{ unit }}){%- endif -%}
{%- endmacro %}
{% macro postgres__dateadd(datepart, interval, from_date_or_timestamp) -%}
{{ from_date_or_timestamp }} + ((interval '1 {{ datepart }}') * ({{ interval }}))
{%- endmacro %}
{% macro redshift__dateadd(datepart, interval, from_date_or_timestamp) -%}
dateadd({{ datepart }}, {{ interval }}, {{ from_date_or_timestamp }})
{%- endmacro %}
{% macro bigquery__dateadd(datepart, interval, from_date_or_timestamp) -%}
datetime_add(cast({{ from_date_or_timestamp }} as datetime), interval {{ interval }} {{ datepart }})
{%- endmacro %}
{% macro trino__dateadd(datepart, interval, from_date_or_timestamp) -%}
date_add('{{ datepart }}', {{ interval }}, {{ from_date_or_timestamp }})
{%- endmacro %}
{% macro default__datediff(first_date, second_date, datepart) -%}
datediff({{ datepart }}, {{ first_date }}, {{ second_date }})
{%- endmacro %}
{% macro duckdb__datediff(first_date, second_date, datepart) -%}
(date_diff('{{ datepart }}', {{ first_date }}::timestamp, {{ second_date }}::timestamp ))
{%- endmacro %}
{% macro postgres__datediff(first_date, second_date, datepart) -%}
(date_part('{{ datepart }}', ({{ second_date }})::timestamp - ({{ first_date }})::timestamp))
{%- endmacro %}
{% macro redshift__datediff(first_date, second_date, datepart) -%}
datediff({{ datepart }}, {{ first_date }}, {{ second_date }})
{%- endmacro %}
{% macro bigquery__datediff(first_date, second_date, datepart) -%}
datetime_diff(cast({{ second_date }} as datetime), cast({{ first_date }} as datetime), {{ datepart }})
{%- endmacro %}
{% macro trino__datediff(first_date, second_date, datepart) -%}
date_diff('{{ datepart }}', {{ first_date }}, {{ second_date }})
{%- endmacro %}
{% macro default__last_day(date, datepart) -%}
cast({{ dbt.dateadd('day', '-1', dbt.dateadd(datepart, '1', dbt.date_trunc(datepart, date))) }} as date)
{%- endmacro %}
{% macro get_intervals_between(start_date, end_date, datepart) %}{{ return(1) }}{% endmacro %}
{% macro get_powers_of_two(upper_bound) %}{{ return(1) }}{% endmacro %}
{% macro default__generate_series(upper_bound) -%}
with p as (select 0 as generated_number union all select 1)
select p0.generated_number + 1 as generated_number from p as p0
{%- endmacro %}
{% macro default__date_spine(datepart, start_date, end_date) -%}
with rawdata as ({{ dbt.generate_series(1) }}),
all_periods as (
    select ({{ dbt.dateadd(datepart, "row_number() over (order by generated_number) - 1", start_date) }}) as date_{{ datepart }}
    from rawdata
),
filtered as (select * from all_periods where date_{{ datepart }} <= {{ end_date }})
select * from filtered
{%- endmacro %}

{# -- strings and arrays ------------------------------------------------------------------------------------- #}
{% macro default__concat(fields) -%}{{ fields | join(' || ') }}{%- endmacro %}
{% macro fabric__concat(fields) -%}concat({{ fields | join(', ') }}){%- endmacro %}
{% macro default__hash(field) -%}md5(cast({{ field }} as {{ dbt.type_string() }})){%- endmacro %}
{% macro bigquery__hash(field) -%}to_hex(md5(cast({{ field }} as string))){%- endmacro %}
{% macro trino__hash(field) -%}lower(to_hex(md5(to_utf8(cast({{ field }} as varchar))))){%- endmacro %}
{% macro fabric__hash(field) -%}lower(convert(varchar(50), hashbytes('md5', coalesce(convert(varchar(8000), {{ field }}), '')), 2)){%- endmacro %}
{% macro default__length(expression) -%}length({{ expression }}){%- endmacro %}
{% macro fabric__length(expression) -%}len({{ expression }}){%- endmacro %}
{% macro default__position(substring_text, string_text) -%}position({{ substring_text }} in {{ string_text }}){%- endmacro %}
{% macro bigquery__position(substring_text, string_text) -%}strpos({{ string_text }}, {{ substring_text }}){%- endmacro %}
{% macro fabric__position(substring_text, string_text) -%}charindex({{ substring_text }}, {{ string_text }}){%- endmacro %}
{% macro default__replace(field, old_chars, new_chars) -%}replace({{ field }}, {{ old_chars }}, {{ new_chars }}){%- endmacro %}
{% macro default__right(string_text, length_expression) -%}right({{ string_text }}, {{ length_expression }}){%- endmacro %}
{% macro trino__right(string_text, length_expression) -%}substr({{ string_text }}, -1 * {{ length_expression }}){%- endmacro %}
{% macro default__split_part(string_text, delimiter_text, part_number) -%}
split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }})
{%- endmacro %}
{% macro duckdb__split_part(string_text, delimiter_text, part_number) -%}
string_split({{ string_text }}, {{ delimiter_text }})[ {{ part_number }} ]
{%- endmacro %}
{% macro bigquery__split_part(string_text, delimiter_text, part_number) -%}
split({{ string_text }}, {{ delimiter_text }})[safe_offset({{ part_number - 1 }})]
{%- endmacro %}
{% macro spark__split_part(string_text, delimiter_text, part_number) -%}
split({{ string_text }}, {{ delimiter_text }})[{{ part_number - 1 }}]
{%- endmacro %}
{% macro default__listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
listagg({{ measure }}, {{ delimiter_text }}){{ ' within group (' ~ order_by_clause ~ ')' if order_by_clause }}
{%- endmacro %}
{% macro postgres__listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
string_agg({{ measure }}, {{ delimiter_text }} {{ order_by_clause or '' }})
{%- endmacro %}
{% macro redshift__listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
{{ dbt.default__listagg(measure, delimiter_text, order_by_clause) }}
{%- endmacro %}
{% macro duckdb__listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
string_agg({{ measure }}, {{ delimiter_text }} {{ order_by_clause or '' }})
{%- endmacro %}
{% macro bigquery__listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
string_agg({{ measure }}, {{ delimiter_text }} {{ order_by_clause or '' }} {{ 'limit ' ~ limit_num if limit_num }})
{%- endmacro %}
{% macro fabric__listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
string_agg({{ measure }}, {{ delimiter_text }}){{ ' within group (' ~ order_by_clause ~ ')' if order_by_clause }}
{%- endmacro %}
{% macro trino__listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
array_join(array_agg({{ measure }} {{ order_by_clause or '' }}), {{ delimiter_text }})
{%- endmacro %}
{% macro spark__listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
array_join(collect_list({{ measure }}), {{ delimiter_text }})
{%- endmacro %}
{% macro default__array_construct(inputs=[], data_type='integer') -%}array[{{ inputs | join(', ') }}]{%- endmacro %}
{% macro snowflake__array_construct(inputs=[], data_type='integer') -%}array_construct({{ inputs | join(', ') }}){%- endmacro %}
{% macro bigquery__array_construct(inputs=[], data_type='integer') -%}[{{ inputs | join(', ') }}]{%- endmacro %}
{% macro spark__array_construct(inputs=[], data_type='integer') -%}array({{ inputs | join(', ') }}){%- endmacro %}
{% macro default__array_append(array, new_element) -%}array_append({{ array }}, {{ new_element }}){%- endmacro %}
{% macro default__array_concat(array_1, array_2) -%}array_cat({{ array_1 }}, {{ array_2 }}){%- endmacro %}
{% macro bigquery__array_concat(array_1, array_2) -%}array_concat({{ array_1 }}, {{ array_2 }}){%- endmacro %}
{% macro default__any_value(expression) -%}any_value({{ expression }}){%- endmacro %}
{% macro duckdb__any_value(expression) -%}arbitrary({{ expression }}){%- endmacro %}
{% macro postgres__any_value(expression) -%}min({{ expression }}){%- endmacro %}
{% macro fabric__any_value(expression) -%}max({{ expression }}){%- endmacro %}
{% macro default__bool_or(expression) -%}bool_or({{ expression }}){%- endmacro %}
{% macro bigquery__bool_or(expression) -%}logical_or({{ expression }}){%- endmacro %}
{% macro snowflake__bool_or(expression) -%}boolor_agg({{ expression }}){%- endmacro %}
{% macro default__equals(expr1, expr2) -%}({{ expr1 }} = {{ expr2 }}){%- endmacro %}
{% macro default__except() -%}except{%- endmacro %}
{% macro bigquery__except() -%}except distinct{%- endmacro %}
{% macro default__intersect() -%}intersect{%- endmacro %}
{% macro bigquery__intersect() -%}intersect distinct{%- endmacro %}
{% macro default__get_where_subquery(relation) -%}{{ relation }}{%- endmacro %}
{% macro limit_zero() -%}limit 0{%- endmacro %}
{% macro default__get_empty_subquery_sql(select_sql, select_sql_header=none) -%}
select * from ({{ select_sql }}) as __dbt_sbq where false limit 0
{%- endmacro %}
