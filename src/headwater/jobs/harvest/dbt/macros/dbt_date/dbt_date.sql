{# Stand-ins for the package dbt_date, used when it is not installed: SQL that reads the same columns. #}

{% macro get_base_dates(start_date=none, end_date=none, n_dateparts=none, datepart='day') -%}
{{ dbt.date_spine(datepart, "cast('" ~ (start_date or '2000-01-01') ~ "' as date)", "cast('" ~ (end_date or '2030-01-01') ~ "' as date)") }}
{%- endmacro %}
{% macro convert_timezone(column, target_tz=none, source_tz=none) -%}cast({{ column }} as {{ dbt.type_timestamp() }}){%- endmacro %}
{% macro date_part(datepart, date) -%}extract({{ datepart }} from {{ date }}){%- endmacro %}
{% macro now(tz=none) -%}{{ dbt.current_timestamp() }}{%- endmacro %}
{% macro today(tz=none) -%}cast({{ dbt.current_timestamp() }} as date){%- endmacro %}
{% macro yesterday(date=none, tz=none) -%}{{ dbt_date.n_days_ago(1, date, tz) }}{%- endmacro %}
{% macro tomorrow(date=none, tz=none) -%}{{ dbt_date.n_days_away(1, date, tz) }}{%- endmacro %}
{% macro n_days_ago(n, date=none, tz=none) -%}
cast({{ dbt.dateadd('day', -1 * n, date or dbt_date.today(tz)) }} as date)
{%- endmacro %}
{% macro n_days_away(n, date=none, tz=none) -%}{{ dbt_date.n_days_ago(-1 * n, date, tz) }}{%- endmacro %}
{% macro day_of_week(date, isoweek=true) -%}extract(dow from {{ date }}){%- endmacro %}
{% macro day_of_month(date) -%}extract(day from {{ date }}){%- endmacro %}
{% macro month_name(date, short=true, language='default') -%}to_char({{ date }}, 'Mon'){%- endmacro %}
{% macro day_name(date, short=true, language='default') -%}to_char({{ date }}, 'Dy'){%- endmacro %}
{% macro week_start(date) -%}cast({{ dbt.date_trunc('week', date) }} as date){%- endmacro %}
{% macro week_end(date) -%}{{ dbt.last_day(date, 'week') }}{%- endmacro %}
{% macro week_of_year(date) -%}extract(week from {{ date }}){%- endmacro %}
{% macro periods_since(date_col, period_name='day', tz=none) -%}{{ dbt.datediff(date_col, dbt_date.now(tz), period_name) }}{%- endmacro %}
{% macro round_timestamp(timestamp) -%}{{ dbt.date_trunc('day', timestamp) }}{%- endmacro %}
