/* store_contract.h - what every adapter of the store port must do, as one suite: an adapter's test file runs
 * each case over a store that its opener makes. Fixtures that the failure tests share stand here too. */
#ifndef TARN_TESTS_STORE_CONTRACT_H
#define TARN_TESTS_STORE_CONTRACT_H
#include "catalog/store.h"

/* An empty store in `folder`; the same folder again opens what was left there. */
typedef struct tarn_store *tarn_store_opener(const char *folder);

#define TARN_STORE_CONTRACT(X)                                                                               \
    /* tables */                                                                                             \
    X(a_table_reads_back_as_it_was_inserted)                                                                 \
    X(a_name_is_unique_among_live_tables_of_its_namespace)                                                   \
    X(a_dropped_name_is_free_and_restorable_until_it_is_taken)                                               \
    X(the_newest_dropped_table_or_the_one_with_the_uuid_is_found)                                            \
    X(an_update_writes_every_setting_and_raises_the_revision)                                                \
    X(a_rename_onto_a_live_name_is_refused)                                                                  \
    X(a_commit_needs_the_expected_version_and_a_live_table)                                                  \
    X(pages_of_tables_join_without_gap_or_repetition)                                                        \
    X(lists_filter_by_namespace_prefix_format_and_mode)                                                      \
    X(dropped_tables_of_one_name_are_listed_by_id)                                                           \
    X(a_location_is_found_by_its_equals_ancestors_and_descendants)                                           \
    X(a_purge_takes_the_rows_in_pieces_and_hides_the_table_at_once)                                          \
    X(a_sweep_takes_only_what_an_earlier_process_left_loose)                                                 \
    /* files */                                                                                              \
    X(a_live_path_cannot_be_added_twice)                                                                     \
    X(a_removed_file_gives_its_size_and_only_once)                                                           \
    X(every_version_lists_exactly_its_files)                                                                 \
    X(every_version_lists_exactly_its_files_in_the_order_they_came_too)                                      \
    X(pages_of_files_are_exact_while_commits_go_on)                                                          \
    X(what_changed_since_a_version_is_counted_up_to_a_limit)                                                 \
    X(a_version_lists_its_removes_then_its_adds)                                                             \
    X(what_is_retired_is_in_no_older_version_and_known_until_it_is_gone)                                     \
    X(what_is_not_known_of_a_file_stays_unknown)                                                             \
    /* history */                                                                                            \
    X(a_commit_is_found_by_version_and_by_transaction)                                                       \
    X(a_transaction_id_is_taken_once_a_table)                                                                \
    X(the_history_is_listed_newest_first)                                                                    \
    X(the_instants_of_commits_are_listed_newest_first)                                                       \
    X(adopted_entries_have_a_position_and_no_version)                                                        \
    X(taken_ids_are_found_by_name_and_by_the_highest_number)                                                 \
    X(an_idempotency_key_belongs_to_all_its_parts_and_expires)                                               \
    X(schemas_are_listed_oldest_first)                                                                       \
    X(meta_values_are_set_and_replaced)                                                                      \
    /* batches */                                                                                            \
    X(a_batch_reads_back_with_its_commit)                                                                    \
    X(batches_are_listed_by_id_status_and_prefix)                                                            \
    X(a_rollback_takes_the_batches_of_its_versions)                                                          \
    X(documents_of_batches_are_pending_until_they_are_shown)                                                 \
    /* monitors and the rest */                                                                              \
    X(a_new_table_is_due_at_once_and_not_yet_scanned)                                                        \
    X(what_is_due_comes_earliest_first_and_tells_when_to_look_again)                                         \
    X(a_dropped_table_is_never_due)                                                                          \
    X(a_scan_row_reads_back_as_it_was_put)                                                                   \
    X(one_look_gives_the_table_and_its_scan)                                                                 \
    X(the_spans_of_closed_findings_of_a_code_come_newest_first)                                              \
    X(findings_are_ordered_worst_first_and_closed_ones_may_reopen)                                           \
    X(what_is_said_of_a_finding_reads_back)                                                                  \
    X(a_lost_root_is_told_by_one_table_as_long_as_it_lives)                                                  \
    X(closed_findings_come_newest_first_in_pages_and_expire)                                                 \
    X(the_status_list_counts_what_is_open_and_names_the_worst)                                               \
    X(a_silence_reads_back_and_goes)                                                                         \
    X(silences_come_newest_first_or_by_the_end_of_their_time)                                                \
    X(samples_of_scans_that_saw_the_same_are_one_run)                                                        \
    X(old_samples_are_thinned_to_one_an_hour_and_go)                                                         \
    X(a_publication_moves_the_published_version_without_a_revision)                                          \
    X(tables_with_something_to_publish_are_pending)                                                          \
    X(a_marked_table_is_pending_until_every_mark_is_shown)                                                   \
    X(tokens_are_listed_and_revoked)                                                                         \
    X(a_namespace_comes_back_as_it_was_written)                                                              \
    X(a_table_makes_its_namespace_and_a_used_one_stays)                                                      \
    X(a_namespace_with_dropped_tables_goes_and_comes_back_with_them)                                         \
    X(a_change_of_a_namespace_touches_every_table)                                                           \
    X(events_come_back_in_order_page_by_page)                                                                \
    X(the_oldest_events_expire_and_no_number_comes_twice)                                                    \
    X(who_waits_for_events_is_told_after_they_are_durable)                                                   \
    /* Iceberg */                                                                                            \
    X(a_document_of_an_iceberg_table_reads_back_in_both_forms)                                               \
    X(a_dropped_table_gives_way_to_itself_and_a_live_one_does_not)                                           \
    X(a_table_takes_a_uuid_that_no_other_live_one_has)                                                       \
    X(a_view_reads_back_and_changes_only_from_its_own_revision)                                              \
    X(views_are_listed_by_name_page_by_page)                                                                 \
    X(an_answer_belongs_to_its_principal_and_key_and_the_first_one_stays)                                    \
    X(the_purge_that_is_due_first_comes_first_and_later_after_a_failure)                                     \
    X(reports_come_newest_first_and_the_old_ones_go)                                                         \
    /* transactions */                                                                                       \
    X(a_refusal_undoes_what_it_wrote_and_nothing_else)                                                       \
    X(a_refusal_in_a_group_leaves_its_neighbours_alone)                                                      \
    X(submits_from_many_threads_are_counted_exactly_once)                                                    \
    X(a_group_is_answered_after_it_is_durable)                                                               \
    X(a_read_sees_one_snapshot_while_writes_go_on)                                                           \
    X(a_read_cannot_write)                                                                                   \
    X(a_thread_that_rested_reads_again)                                                                      \
    X(an_error_keeps_its_members_on_the_way_to_the_caller)                                                   \
    X(what_is_queued_is_finished_before_the_store_closes)                                                    \
    X(everything_is_there_after_the_store_is_opened_again)

#define X(name) void tarn_contract_##name(tarn_store_opener *open);
TARN_STORE_CONTRACT(X)
#undef X

/* --- fixtures --- */
/* A managed table at version 0 in `namespace_`, location "/lake/<namespace_>/<name>". Texts are borrowed. */
struct tarn_table fx_table(const char *namespace_, const char *name);
/* Inserts it under a fresh id. */
tarn_code fx_insert(struct tarn_tx *tx, struct tarn_table *table, struct tarn_err *err);
/* The same in a transaction of its own; ends the test when it fails. Gives the id. */
int64_t fx_make(struct tarn_store *store, const char *namespace_, const char *name);
/* The row as it is now, owned. */
struct tarn_table *fx_get(struct tarn_store *store, int64_t id);
/* Writes the row back. */
void fx_update(struct tarn_store *store, const struct tarn_table *table);
/* One commit on top of what is there: adds and removes one path each (NULL: none). Sizes are 100 bytes. */
struct fx_commit {
    int64_t table_id;
    const char *transaction, *add, *remove;
    int64_t expected; /* -1: whatever it is */
    int64_t version;  /* out */
};
tarn_tx_fn fx_commit_tx;
int64_t fx_commit(struct tarn_store *store, int64_t table_id, const char *transaction, const char *add,
                  const char *remove);
/* Runs a body; ends the test when its code is not `code`. */
/* An open finding, and its writing (ctx: it). */
struct tarn_finding fx_finding(int64_t table_id, const char *id, const char *code, const char *subject, enum tarn_severity severity);
tarn_tx_fn fx_put_finding_tx;
void fx_write(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_code code);
void fx_read(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_code code);
/* Expects equal texts, or none on both sides. */
void fx_same(const char *a, const char *b);
/* The paths of a snapshot, "a b c", read in pages of `page`. Owned. */
char *fx_paths(struct tarn_store *store, int64_t table_id, int64_t version, int64_t page);
#endif
