"""One small way to break each promise of `docs/guarantees.md`, and the test that must notice."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """Source texts and what to put in their place; `test` fails then. Paths are below `src/headwater`."""

    test: str
    edits: tuple[tuple[str, str, str], ...]  # file, old, new

    @property
    def name(self) -> str:
        return self.test.rpartition("::")[2]


def breaks(test: str, file: str, old: str, new: str, *more: tuple[str, str, str]) -> Mutation:
    return Mutation(test, ((file, old, new), *more))


STORAGE = (
    breaks(
        "tests/files/test_contract.py::test_no_reader_sees_a_torn_file",
        "files/local.py",
        "        self._publish(path, data, os.replace)",
        "        place = self._at(path)\n        self._make_folder(place.parent)\n"
        "        place.write_bytes(b''.join(pieces(data)))",
    ),
    breaks(
        "tests/files/test_contract.py::test_sixteen_writers_have_one_winner_in_each_of_twenty_rounds",
        "files/local.py",
        "self._publish(path, data, os.link)",
        "self._publish(path, data, os.replace)",
    ),
    breaks(
        "tests/files/test_local.py::test_a_full_disk_leaves_nothing",
        "files/local.py",
        "                    temporary.unlink()",
        "                    pass",
    ),
    breaks(
        "tests/files/test_contract.py::test_no_path_leaves_the_store",
        "files/paths.py",
        'part in ("", ".", "..")',
        'part in ("", ".")',
    ),
    breaks(
        "tests/lake/test_hostile.py::test_no_entry_leads_out_of_the_warehouse",
        "files/paths.py",
        'if any(part in ("", ".", "..") for part in path.split("/")) or not _printable(path):',
        "if not path:",
    ),
    breaks(
        "tests/lake/sst/test_table.py::test_every_flipped_byte_is_noticed",
        "lake/sst/block.py",
        "if checksum != zlib.crc32(stored[:-4]):",
        "if checksum == 0:",
    ),
    breaks(
        "tests/lake/sst/test_hostile.py::test_text_that_begins_where_no_text_is_is_refused",
        "lake/sst/block.py",
        "            column.validate(full=True)",
        "            column.validate()",
    ),
    breaks(
        "tests/lake/sst/test_hostile.py::test_an_index_that_lies_about_its_length_is_refused",
        "lake/sst/index.py",
        '        with decoding(path, "index", at):',
        "        if True:",
    ),
    breaks(
        "tests/lake/test_hostile.py::test_json_of_every_kind",
        "lake/stored_json.py",
        "(msgspec.DecodeError, UnicodeDecodeError, RecursionError)",
        "(msgspec.DecodeError, UnicodeDecodeError)",
    ),
    breaks(
        "tests/lake/test_wal.py::test_a_flipped_byte_is_an_error_unless_it_is_in_the_last_record",
        "lake/wal/format.py",
        "        if following is not None:",
        "        if following == -1:",
    ),
)

ROWS = (
    breaks(
        "tests/lake/test_crash.py::test_kill_9",
        "lake/lsm.py",
        "synced_at = memtable.wal.append(records) if memtable.wal is not None else 0",
        "synced_at = 0",
    ),
    breaks(
        "tests/lake/test_crash.py::test_death_at_every_call",
        "lake/wal/log.py",
        "            self._appender.sync()\n        except",
        "            pass\n        except",
    ),
    breaks(
        "tests/lake/test_crash.py::test_nothing_is_counted_twice",
        "lake/version.py",
        "wal_floor=max(version.wal_floor, self.wal_floor or 0),",
        "wal_floor=version.wal_floor,",
    ),
    breaks(
        "tests/lake/test_crash.py::test_death_during_recovery",
        "lake/recovery.py",
        "        if live:\n",
        "        if not live:\n",
    ),
    breaks(
        "tests/lake/tables/test_time.py::test_expiry_keeps_the_commit_of_a_log_that_is_still_there_whatever_the_clocks_say",
        "lake/tables/maintenance.py",
        "    retention = _keeping_unlogged(store, retention)\n",
        "",
    ),
)

TABLES = (
    breaks(
        "tests/lake/tables/test_faults.py::test_a_table_that_dies_is_the_old_or_the_new_one",
        "lake/expire.py",
        "            log.forget(expired, earliest=kept_from)\n            self._delete(paths)",
        "            self._delete(paths)\n            log.forget(expired, earliest=kept_from)",
    ),
    breaks(
        "tests/lake/test_commit.py::test_a_commit_whose_answer_was_lost_is_recognised",
        "lake/commit.py",
        "return found.manifest_list == snapshot.manifest_list",
        "return False",
    ),
    breaks(
        "tests/lake/tables/test_table.py::test_a_replayed_commit_lands_once",
        "lake/commit.py",
        "            if (snapshot.commit_user, snapshot.commit_id) == (change.user, change.id):",
        "            if snapshot.snapshot_id < 0:",
        (
            "lake/commit.py",
            "            if (snapshot.commit_user, snapshot.commit_id) == (user, id):",
            "            if snapshot.snapshot_id < 0:",
        ),
    ),
    breaks(
        "tests/lake/tables/test_writers.py::test_no_commit_of_four_processes_is_lost",
        "lake/snapshot.py",
        "self._files.put_if_absent(self._paths.snapshot(",
        "self._files.put(self._paths.snapshot(",
    ),
    breaks(
        "tests/lake/tables/test_table.py::test_rows_that_do_not_fit_change_nothing",
        "lake/tables/convert.py",
        "        whole = conform(table, schema)\n",
        "        whole = table\n",
    ),
    breaks(
        "tests/query/test_conflicts.py::test_no_update_is_lost",
        "lake/commit.py",
        "                change.guard(between, self.delta(between))",
        "                pass",
    ),
    breaks(
        "tests/lake/tables/test_due.py::test_a_compaction_that_others_cross_is_given_up_and_counted",
        "lake/tables/maintenance.py",
        "            except HeadwaterError:\n                store.given_up += 1",
        "            except NotFoundError:\n                store.given_up += 1",
    ),
    breaks(
        "tests/lake/tables/test_time.py::test_expiry_spares_tags_and_readers",
        "lake/expire.py",
        "        data = self._dropped_data(expired, kept_from) - needed",
        "        data = self._dropped_data(expired, kept_from)",
    ),
    breaks(
        "tests/lake/tables/test_leftovers.py::test_what_is_left_is_found_and_nothing_else",
        "lake/tables/leftovers.py",
        "        if path not in taken and all(",
        "        if all(",
    ),
    breaks(
        "tests/lake/tables/test_time.py::test_the_age_of_files_is_told_by_the_clock_of_their_store",
        "lake/store_clock.py",
        "        return next(entry.modified for entry in files.list(folder) if entry.path == path)",
        "        return time.time()",
    ),
    breaks(
        "tests/lake/tables/test_machine.py::test_a_table_is_one_dictionary_per_snapshot",
        "lake/commit.py",
        "            each = replace(each, file=replace(each.file, sequence=sequence))",
        "            each = replace(each, file=replace(each.file, sequence=1))",
    ),
)

SPARK = (
    breaks(
        "tests/spark/test_source.py::test_rows_of_all_tasks_are_one_commit",
        "spark/source/commits.py",
        "    added += [placed for message in written for placed in message.rows]",
        "    added += [placed for message in written[:1] for placed in message.rows]",
    ),
    breaks(
        "tests/spark/test_source.py::test_a_task_that_fails_leaves_nothing",
        "spark/source/commits.py",
        "            discard(store, (*message.deletes, *message.rows))",
        "            pass",
    ),
    breaks(
        "tests/spark/test_faults.py::test_a_driver_that_dies_before_its_commit_leaves_nothing_to_see",
        "lake/expire.py",
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
        "tests/spark/test_catalog.py::test_a_query_reads_one_snapshot",
        "spark/catalog/Scans.java",
        '      batch.put("snapshot", table.version());',
        "",
    ),
)

GRAPH = (
    breaks(
        "tests/graph/test_store.py::test_a_change_begins_by_taking_back_what_a_dead_one_has_left",
        "graph/store.py",
        "            self._write(change, self._take_back(change.id) if alone else {})",
        "            self._write(change, {})",
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
        "return self.store.table(spec).to_arrow(columns, where=where, at=pin)",
        "return self.store.table(spec).to_arrow(columns, where=where)",
    ),
    breaks(
        "tests/graph/test_store.py::test_dying_at_every_table_leaves_the_old_state_and_a_rerun_completes",
        "graph/store.py",
        "return self.store.table(spec).to_arrow(columns, where=where, at=pin)",
        "return self.store.table(spec).to_arrow(columns, where=where)",
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
        "tests/server/test_page.py::test_hostile_names_stay_text",
        "view/svg.py",
        "from html import escape",
        "def escape(text: str) -> str:\n    return text\n",
    ),
    breaks(
        "tests/server/test_openapi.py::test_no_question_breaks_the_server",
        "server/route.py",
        "    except HeadwaterError as err:\n        return error_response(err)",
        "    except ZeroDivisionError as err:\n        return error_response(err)",
    ),
    breaks(
        "tests/server/test_hostile.py::test_slow_connections_are_hung_up_on_and_do_not_keep_others_out",
        "server/serve.py",
        "            self.transport.close()",
        "            pass",
    ),
)

LATER = (
    breaks(
        "tests/upgrade/test_upgrade.py::test_rows_of_every_age",
        "lake/tables/metadata.py",
        'class TableEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):',
        'class TableEntry(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):',
    ),
    breaks(
        "tests/upgrade/test_upgrade.py::test_a_format_of_the_future_is_refused",
        "lake/format_version.py",
        "    if version > known:",
        "    if version < 0:",
    ),
)

SECRETS = (
    breaks(
        "tests/test_secrets.py::test_an_address_with_a_password_is_refused_without_repeating_it",
        "files/open.py",
        ' and ":" in rest.partition("/")[0].rpartition("@")[0]:',
        ' and ":" in "":',
    ),
    breaks(
        "tests/test_secrets.py::test_errors_of_transports_are_told_without_what_they_let_slip",
        "events/sinks/sink.py",
        'self._last_error = without_secrets(f"{type(error).__name__}: {error}")',
        'self._last_error = f"{type(error).__name__}: {error}"',
    ),
    breaks(
        "tests/test_house.py::test_nothing_that_is_read_can_become_code",
        "lake/stored_json.py",
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

MUTATIONS = (*STORAGE, *ROWS, *TABLES, *SPARK, *GRAPH, *AGENT, *SERVER, *LATER, *SECRETS)
