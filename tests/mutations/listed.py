"""Every mutation: those of the store, and here all others."""

from tests.mutations.mutation import breaks
from tests.mutations.of_the_lake import ROWS, STORAGE, TABLES

SPARK = (
    breaks(
        "tests/spark/test_source.py::test_rows_of_all_tasks_are_one_commit",
        "spark/source/commits.py",
        "    added += [placed for part in parts for placed in (*part.kept, *part.fresh)]",
        "    added += [placed for part in parts[:1] for placed in (*part.kept, *part.fresh)]",
    ),
    breaks(
        "tests/spark/test_source.py::test_a_task_that_fails_leaves_nothing",
        "spark/source/commits.py",
        "            discard(store, message.files.all())",
        "            pass",
    ),
    breaks(
        "tests/spark/test_faults.py::test_a_driver_that_dies_before_its_commit_leaves_nothing_to_see",
        "lake/metadata/expire.py",
        "entry.path not in reachable and entry.modified <= now - older_than",
        "entry.path in reachable and entry.modified <= now - older_than",
    ),
    breaks(
        "tests/spark/test_faults.py::test_a_stream_that_is_restarted_and_killed_writes_every_row_once",
        "spark/source/commits.py",
        "    if last is not None and int(last.commit_id) >= batch:",
        "    if last is not None and int(last.commit_id) < 0:",
    ),
    breaks(
        "tests/spark/test_operators.py::test_rows_are_those_of_spark",
        "spark/catalog/Columns.java",
        "new Lent((ArrowColumnVector) struct.getChild(i));",
        "struct.getChild(i);",
    ),
    breaks(
        "tests/spark/test_catalog.py::test_a_query_reads_one_snapshot",
        "spark/catalog/Scans.java",
        '      batch.put("snapshot", table.version());',
        "",
    ),
    breaks(
        "tests/spark/test_machine.py::test_a_table_is_one_dictionary_per_snapshot_on_spark_too",
        "spark/source/writer.py",
        "deletes=rows.filter(deletes), kept=",
        "deletes=rows.filter(deletes).slice(1), kept=",
    ),
)

GRAPH = (
    breaks(
        "tests/graph/test_store.py::test_a_change_begins_by_taking_back_what_a_dead_one_has_left",
        "graph/store.py",
        "            undone = self._take_back(change.id) if alone else {}",
        "            undone: dict[str, int] = {}",
    ),
    breaks(
        "tests/jobs/test_waves.py::test_waves_equal_sequence",
        "jobs/harvest/waves.py",
        "            if trace is not None and index not in self._away and schema.fits(trace.sight):",
        "            if trace is not None and index not in self._away:",
        ("jobs/harvest/waves.py", "            if not schema.fits(trace.sight) and", "            if False and"),
    ),
    breaks(
        "tests/jobs/test_kills.py::test_killed_at_random_points",
        "graph/store.py",
        "found = table.to_arrow(columns, where=where, at=pin)",
        "found = table.to_arrow(columns, where=where)",
    ),
    breaks(
        "tests/graph/test_store.py::test_dying_at_every_table_leaves_the_old_state_and_a_rerun_completes",
        "graph/store.py",
        "found = table.to_arrow(columns, where=where, at=pin)",
        "found = table.to_arrow(columns, where=where)",
    ),
    breaks(
        "tests/graph/test_observed.py::test_any_order_and_any_number_of_times",
        "graph/observed.py",
        '    if before["state"] in _FINAL and after["state"] not in _FINAL:',
        '    if before["state"] is after["state"]:',
    ),
    breaks(
        "tests/graph/test_versions.py::test_why_after_many_random_runs",
        "query/origins.py",
        "        id = ref.pinned.state.snapshot_id",
        "        id = 1",
    ),
)

AGENT = (
    breaks(
        "tests/spark/agent/test_jdbc.py::test_credentials_never_leave",
        "events/jdbc.py",
        'database=re.split(r"[;?]", rest)[0] or None',
        "database=rest",
    ),
    breaks(
        "tests/events/test_jdbc.py::test_no_password_is_in_a_name",
        "events/jdbc.py",
        "    found = _HOST.fullmatch(first) or (_HOST.match(first) if rest_may_follow else None)",
        '    found = re.match(r"(.+?)(?::([0-9]+))?$", first)',
    ),
    breaks(
        "tests/spark/agent/test_runs.py::test_a_failure_fails_the_run_once",
        "spark/agent/tracker.py",
        "            type = EventType.COMPLETE if happening.error is None else EventType.FAIL\n"
        "            self._emit(self.events.build(type, context, happening))",
        "            type = EventType.COMPLETE\n            self._emit(self.events.build(type, context, happening))",
    ),
)

SERVER = (
    breaks(
        "tests/server/test_events.py::test_a_full_disk_refuses_and_spoils_nothing",
        "server/journal.py",
        "        os.ftruncate(file, size)",
        "        pass",
    ),
    breaks(
        "tests/server/test_events.py::test_what_was_acknowledged_survives_the_death_of_the_server",
        "server/journal.py",
        "                _write_all(self._file, data)",
        "                pass",
    ),
    breaks(
        "tests/server/test_api.py::test_sql_reads_and_does_no_more",
        "query/session.py",
        "            self._bounds.check(statement)",
        "            pass",
    ),
    breaks(
        "tests/server/test_api.py::test_a_query_ends_when_its_time_is_over",
        "query/engine.py",
        "        except duckdb.InterruptException as err:",
        "        except ZeroDivisionError as err:",
    ),
    breaks(
        "tests/server/test_guard.py::test_other_machines_need_a_token",
        "server/options.py",
        "        if not self.is_local and not self.token:",
        "        if not self.is_local and self.token:",
    ),
    breaks(
        "tests/server/test_guard.py::test_programs_show_the_token",
        "server/guard.py",
        "        return self._by_address(scope) or self._asking(scope, headers)",
        "        return None",
    ),
    breaks(
        "tests/server/test_guard.py::test_other_sites_are_refused",
        "server/guard.py",
        '            if foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site"):',
        "            if False:",
    ),
    breaks(
        "tests/server/test_guard.py::test_names_that_are_not_local_are_refused",
        "server/guard.py",
        "        if self._token is None and name not in (*_LOCAL_NAMES, self._options.host):",
        "        if False:",
    ),
    breaks(
        "tests/server/test_why.py::test_no_value_becomes_sql",
        "provenance/told.py",
        """value.replace("'", "''")""",
        "value",
    ),
    breaks(
        "tests/server/test_page.py::test_hostile_names_stay_text",
        "view/svg.py",
        "from html import escape",
        "def escape(text: str) -> str:\n    return text\n",
    ),
    breaks(
        "tests/server/test_openapi.py::test_no_question_breaks_the_server",
        "server/route.py",
        "    except errors.HeadwaterError as err:\n        return error_response(err)",
        "    except ZeroDivisionError as err:\n        return error_response(err)",
    ),
    breaks(
        "tests/server/test_hostile.py::test_slow_connections_are_hung_up_on_and_do_not_keep_others_out",
        "server/serve.py",
        "            self.transport.abort()",
        "            pass",
    ),
    breaks(
        "tests/mcp/test_hostile.py::test_no_tool_writes_unless_it_is_allowed",
        "mcp/protocol.py",
        "if allow_write or not each.writes}",
        "if True}",
    ),
    breaks(
        "tests/mcp/test_paging.py::test_the_pages_of_an_answer_are_together_the_whole",
        "mcp/answers.py",
        "    part = items[offset : offset + limit]",
        "    part = items[offset + 1 : offset + limit]",
    ),
    breaks(
        "tests/mcp/test_hostile.py::test_texts_of_the_warehouse_are_marked_as_data",
        "mcp/answers.py",
        '"note": NOTE, "data": data}',
        '"note": str(data), "data": data}',
    ),
    breaks(
        "tests/mcp/test_hostile.py::test_odd_arguments_get_an_answer_or_an_error_of_ours",
        "mcp/tools.py",
        "        except (msgspec.ValidationError, RecursionError, OverflowError) as err:",
        "        except ZeroDivisionError as err:",
    ),
)

LATER = (
    breaks(
        "tests/upgrade/test_upgrade.py::test_rows_of_every_age",
        "lake/metadata/entries.py",
        'class TableEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):',
        'class TableEntry(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):',
    ),
    breaks(
        "tests/upgrade/test_upgrade.py::test_a_format_of_the_future_is_refused",
        "lake/engine/stored_json.py",
        "    if version > known:",
        "    if version < 0:",
    ),
)

SECRETS = (
    breaks(
        "tests/test_secrets.py::test_an_address_with_a_password_is_refused_without_repeating_it",
        "files/open.py",
        'if ":" in rest.partition("/")[0].rpartition("@")[0]:',
        'if ":" in "":',
    ),
    breaks(
        "tests/test_secrets.py::test_errors_of_transports_are_told_without_what_they_let_slip",
        "events/sinks/sink.py",
        'self._last_error = without_secrets(f"{type(error).__name__}: {error}")',
        'self._last_error = f"{type(error).__name__}: {error}"',
    ),
    breaks(
        "tests/test_house.py::test_nothing_that_is_read_can_become_code",
        "lake/engine/stored_json.py",
        "import msgspec\n",
        "import pickle\n\nimport msgspec\n",
    ),
    breaks(
        "tests/upgrade/test_future.py::test_what_a_later_harvest_keeps_is_refused_too",
        "lineage/effects_wire.py",
        "    except KeyError as err:",
        "    except ZeroDivisionError as err:",
    ),
)

LINEAGE = (
    breaks(
        "tests/proof/test_proof.py::test_generated_queries_have_no_unexplained_change",
        "lineage/values.py",
        "        for condition, _ in case.branches:",
        "        for condition, _ in ():",
    ),
    breaks(
        "tests/proof/test_judge.py::test_a_lost_edge_of_an_array_is_noticed",
        "lineage/bindings.py",
        "                scope.conditions.extend((Kind.JOIN, each, None) for each in lengths)",
        "                scope.conditions.extend((Kind.JOIN, each, None) for each in ())",
    ),
)

REFRESH = (
    breaks(
        "tests/refresh/test_refresh.py::test_what_is_not_understood_is_a_full_run_with_a_reason",
        "query/refresh/refresh.py",
        "        found = doubts(self.tree.root)\n",
        "        found = list[str]()\n",
    ),
    breaks(
        "tests/refresh/test_refresh.py::test_the_first_match_of_an_outer_join_takes_the_place_of_nulls",
        "query/refresh/split.py",
        "len(found) != 1 or not found[0].kept",
        "len(found) != 1",
    ),
    breaks(
        "tests/refresh/test_refresh.py::test_two_refreshes_at_once_do_the_work_once",
        "query/target.py",
        "nothing_changed(target.pinned.table.store) if alone else None",
        "None",
    ),
)

MUTATIONS = (*STORAGE, *ROWS, *TABLES, *SPARK, *REFRESH, *GRAPH, *AGENT, *SERVER, *LATER, *SECRETS, *LINEAGE)
