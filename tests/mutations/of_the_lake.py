"""Ways to break the promises of the store."""

from tests.mutations.mutation import breaks

STORAGE = (
    breaks(
        "tests/files/test_contract.py::test_no_reader_sees_a_torn_file",
        "files/local.py",
        "        self._publish(path, data, os.replace, synced=synced)",
        "        place = Path(self._at(path))\n        self._make_folder(str(place.parent))\n"
        "        place.write_bytes(b''.join(pieces(data)))",
    ),
    breaks(
        "tests/files/test_contract.py::test_sixteen_writers_have_one_winner_in_each_round",
        "files/local.py",
        "self._publish(path, data, os.link)",
        "self._publish(path, data, os.replace)",
    ),
    breaks(
        "tests/files/test_local.py::test_a_full_disk_leaves_nothing",
        "files/local.py",
        "                    os.unlink(temporary)",
        "                    pass",
    ),
    breaks(
        "tests/files/test_contract.py::test_no_path_leaves_the_store",
        "files/protocol.py",
        'part in ("", ".", "..")',
        'part in ("", ".")',
    ),
    breaks(
        "tests/lake/test_hostile.py::test_no_entry_leads_out_of_the_warehouse",
        "files/protocol.py",
        'if any(part in ("", ".", "..") for part in path.split("/")) or _FORBIDDEN.search(path):',
        "if not path:",
    ),
    breaks(
        "tests/lake/sst/test_table.py::test_every_flipped_byte_is_noticed",
        "lake/engine/sst/block.py",
        "if zlib.crc32(padded) != self._sums[number]:",
        "if self._sums[number] == 0:",
    ),
    breaks(
        "tests/lake/sst/test_hostile.py::test_text_that_begins_where_no_text_is_is_refused",
        "lake/engine/sst/chunks.py",
        "    _require(data_at + int(offsets[-1]) == len(view), at)",
        "    pass",
    ),
    breaks(
        "tests/lake/sst/test_hostile.py::test_an_index_that_lies_about_its_length_is_refused",
        "lake/engine/sst/index.py",
        '        with decoding(path, "index", at):',
        "        if True:",
    ),
    breaks(
        "tests/lake/test_hostile.py::test_json_of_every_kind",
        "lake/engine/stored_json.py",
        "(msgspec.DecodeError, UnicodeDecodeError, RecursionError)",
        "(msgspec.DecodeError, UnicodeDecodeError)",
    ),
    breaks(
        "tests/lake/test_wal.py::test_a_flipped_byte_is_an_error_unless_it_is_in_the_last_record",
        "lake/engine/wal/format.py",
        "        if following is not None:",
        "        if following == -1:",
    ),
)

ROWS = (
    breaks(
        "tests/lake/test_crash.py::test_kill_9",
        "lake/engine/lsm.py",
        "synced_at = memtable.wal.append(records) if memtable.wal is not None else 0",
        "synced_at = 0",
    ),
    breaks(
        "tests/lake/test_crash.py::test_death_at_every_call",
        "lake/engine/wal/log.py",
        "            self._appender.sync()\n        except",
        "            pass\n        except",
    ),
    breaks(
        "tests/lake/test_crash.py::test_nothing_is_counted_twice",
        "lake/engine/version.py",
        "wal_floor=max(version.wal_floor, after),",
        "wal_floor=version.wal_floor,",
    ),
    breaks(
        "tests/lake/test_crash.py::test_nothing_is_counted_twice",
        "lake/tables/row_writer.py",
        "        return str(sequence) in self._landed",
        "        return False",
    ),
    breaks(
        "tests/lake/test_crash.py::test_death_during_recovery",
        "lake/engine/lsm.py",
        "            self._upkeep.flush_all()\n            for _, path in logs:",
        "            for _, path in logs:",
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
        "tests/lake/tables/test_crossed.py::test_a_slow_writer_loses_nothing_and_lands_once",
        "lake/metadata/snapshot.py",
        "        if self._has_expired(snapshot.snapshot_id):",
        "        if False:",
    ),
    breaks(
        "tests/lake/tables/test_overflow.py::test_of_two_commits_that_do_not_fit_together_the_second_is_refused",
        "lake/tables/overflow.py",
        "    if not change.added or not _headroom(store.shape()).is_needed:",
        "    if change.added:",
    ),
    breaks(
        "tests/lake/tables/test_faults.py::test_a_table_that_dies_is_the_old_or_the_new_one",
        "lake/metadata/expire.py",
        "                log.forget(expired, earliest=kept_from)",
        "                pass",
        (
            "lake/metadata/expire.py",
            "                self._delete(paths)\n                removed",
            "                self._delete(paths)\n                log.forget(expired, earliest=kept_from)\n"
            "                removed",
        ),
    ),
    breaks(
        "tests/lake/tables/test_crossed.py::test_a_scan_of_the_latest_state_reads_the_newer_one",
        "lake/metadata/leases.py",
        "                self._files.delete(path)\n                raise",
        "                self._files.delete(path)",
    ),
    breaks(
        "tests/lake/tables/test_crossed.py::test_a_compaction_is_done_again",
        "lake/tables/maintenance.py",
        "    return store.latest().snapshot_id != state.snapshot_id",
        "    return False",
    ),
    breaks(
        "tests/lake/test_commit.py::test_a_commit_whose_answer_was_lost_is_recognised",
        "lake/metadata/commit.py",
        "return found == snapshot.manifest_list",
        "return False",
    ),
    breaks(
        "tests/lake/tables/test_table.py::test_a_replayed_commit_lands_once",
        "lake/metadata/commit.py",
        "            if (snapshot.commit_user, snapshot.commit_id) == (change.user, change.id):",
        "            if snapshot.snapshot_id < 0:",
        (
            "lake/metadata/commit.py",
            "            if (snapshot.commit_user, snapshot.commit_id) == (user, id):",
            "            if snapshot.snapshot_id < 0:",
        ),
    ),
    breaks(
        "tests/lake/tables/test_writers.py::test_no_commit_of_four_processes_is_lost",
        "lake/metadata/snapshot.py",
        "self._files.put_if_absent(path, encode_snapshot(",
        "self._files.put(path, encode_snapshot(",
    ),
    breaks(
        "tests/lake/tables/test_table.py::test_rows_that_do_not_fit_change_nothing",
        "lake/tables/convert.py",
        "        whole = conform(table, schema)\n",
        "        whole = table\n",
    ),
    breaks(
        "tests/query/test_conflicts.py::test_no_update_is_lost",
        "lake/metadata/commit.py",
        "                change.guard(between, delta)",
        "                pass",
    ),
    breaks(
        "tests/lake/tables/test_due.py::test_a_compaction_that_others_cross_is_given_up_and_counted",
        "lake/tables/maintenance.py",
        "        except HeadwaterError:\n            store.given_up += 1",
        "        except NotFoundError:\n            store.given_up += 1",
    ),
    breaks(
        "tests/lake/tables/test_time.py::test_expiry_spares_tags_and_readers",
        "lake/metadata/expire.py",
        "        needed = list(held())",
        "        needed: list[Snapshot] = []",
    ),
    breaks(
        "tests/lake/tables/test_leftovers.py::test_what_is_left_is_found_and_nothing_else",
        "lake/tables/maintenance.py",
        "        if path not in taken and all(",
        "        if all(",
    ),
    breaks(
        "tests/lake/tables/test_time.py::test_the_age_of_files_is_told_by_the_clock_of_their_store",
        "lake/metadata/store_clock.py",
        "        return next(entry.modified for entry in files.list(folder) if entry.path == path)",
        "        return time.time()",
    ),
    breaks(
        "tests/lake/tables/test_machine.py::test_a_table_is_one_dictionary_per_snapshot",
        "lake/metadata/commit.py",
        "            each = replace(each, file=msgspec.structs.replace(each.file, sequence=sequence))",
        "            each = replace(each, file=msgspec.structs.replace(each.file, sequence=1))",
    ),
    breaks(
        "tests/lake/tables/test_machine.py::test_a_table_is_one_dictionary_per_snapshot",
        "lake/engine/merge/merge.py",
        "np.where(kinds != RowKind.PUT, positions, -1)",
        "np.where(kinds == RowKind.REPLACE, positions, -1)",
    ),
    breaks(
        "tests/lake/tables/test_machine.py::test_a_table_is_one_dictionary_per_snapshot",
        "lake/engine/row_adapter.py",
        "        return pa.repeat(pa.scalar(field.default, wanted), rows)",
        "        return pa.nulls(rows, wanted)",
    ),
    breaks(
        "tests/query/test_selects.py::test_every_select_gives_what_duckdb_gives",
        "query/pushdown.py",
        ' or bool(node.args.get("negate"))',
        "",
    ),
)
