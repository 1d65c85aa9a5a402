/* row_groups.c - what the footer says of its column chunks: that they lie inside the file (an
 * interrupted append leaves a sound footer with offsets into nothing), how big they are, and their
 * statistics. */
#include "formats/parquet/footer.h"

struct chunk {
    bool has_metadata, elsewhere; /* elsewhere: in another file, as in a summary */
    int64_t values, compressed;
    int64_t data_offset, dictionary_offset; /* 0: none */
    int64_t null_count;                     /* -1: not told */
    struct tarn_thrift_bytes min, max, old_min, old_max;
};

/* Statistics: 1 max 2 min (deprecated), 3 null_count, 5 max_value 6 min_value. */
static void read_statistics(struct tarn_thrift *t, struct chunk *chunk)
{
    struct tarn_thrift_field field = { 0 };

    while (tarn_thrift_next(t, &field)) {
        switch (field.id) {
        case 1: chunk->old_max = tarn_thrift_binary(t, &field); break;
        case 2: chunk->old_min = tarn_thrift_binary(t, &field); break;
        case 3: chunk->null_count = tarn_thrift_int(t, &field); break;
        case 5: chunk->max = tarn_thrift_binary(t, &field); break;
        case 6: chunk->min = tarn_thrift_binary(t, &field); break;
        default: tarn_thrift_skip(t, &field);
        }
    }
}

/* ColumnMetaData: 5 num_values 7 total_compressed_size 9 data_page_offset 11 dictionary_page_offset
 * 12 statistics. */
static void read_metadata(struct tarn_thrift *t, struct chunk *chunk)
{
    struct tarn_thrift_field field = { 0 };

    chunk->has_metadata = true;
    while (tarn_thrift_next(t, &field)) {
        switch (field.id) {
        case 5: chunk->values = tarn_thrift_int(t, &field); break;
        case 7: chunk->compressed = tarn_thrift_int(t, &field); break;
        case 9: chunk->data_offset = tarn_thrift_int(t, &field); break;
        case 11: chunk->dictionary_offset = tarn_thrift_int(t, &field); break;
        case 12:
            if (tarn_thrift_struct(t, &field))
                read_statistics(t, chunk);
            break;
        default: tarn_thrift_skip(t, &field);
        }
    }
}

/* ColumnChunk: 1 file_path 3 meta_data 8 crypto_metadata 9 encrypted_column_metadata. */
static void read_chunk(struct tarn_pq *pq, struct tarn_thrift *t, struct chunk *chunk)
{
    struct tarn_thrift_field field = { 0 };

    *chunk = (struct chunk){ .null_count = -1 };
    while (tarn_thrift_next(t, &field)) {
        if (field.id == 1)
            chunk->elsewhere = tarn_thrift_binary(t, &field).len > 0;
        else if (field.id == 3 && tarn_thrift_struct(t, &field))
            read_metadata(t, chunk);
        else
            tarn_thrift_skip(t, &field);
        pq->encrypted_columns = pq->encrypted_columns || field.id == 8 || field.id == 9;
    }
}

/* Does the chunk lie between the leading magic and the footer? Writers leave offsets of empty chunks at 0. */
static bool is_in_file(const struct tarn_pq *pq, const struct chunk *chunk)
{
    bool dictionary_first = chunk->dictionary_offset > 0 && chunk->dictionary_offset < chunk->data_offset;
    int64_t start = dictionary_first ? chunk->dictionary_offset : chunk->data_offset;

    if (chunk->elsewhere || chunk->compressed == 0 || chunk->values == 0)
        return true;
    return start >= 4 && start <= pq->data_end && chunk->compressed <= pq->data_end - start;
}

static void add_bounds(struct tarn_pq_leaf *leaf, const struct chunk *chunk)
{
    bool has_new = chunk->min.data && chunk->max.data;
    bool has_old = chunk->old_min.data && chunk->old_max.data && tarn_pq_old_bounds_hold(leaf->element);

    if (has_new)
        tarn_pq_bounds_add(leaf, chunk->min, chunk->max);
    else if (has_old)
        tarn_pq_bounds_add(leaf, chunk->old_min, chunk->old_max);
    else if (chunk->values > 0 && chunk->null_count != chunk->values)
        leaf->bounds_lost = true;
}

static bool add_chunk(struct tarn_pq *pq, size_t i, const struct chunk *chunk)
{
    struct tarn_parquet_column *column = &pq->out->columns[i];
    struct tarn_pq_leaf *leaf = &pq->leaves[i];

    if (!chunk->has_metadata && !pq->encrypted_columns)
        return tarn_pq_corrupt(pq, "column %.60s has no metadata", column->path);
    if (chunk->compressed < 0 || chunk->values < 0 ||
        __builtin_add_overflow(column->compressed_bytes, chunk->compressed, &column->compressed_bytes))
        return tarn_pq_corrupt(pq, "column %.60s has an impossible size", column->path);
    if (!is_in_file(pq, chunk))
        return tarn_pq_corrupt(pq, "data of column %.60s lies outside of the file", column->path);
    if (!chunk->has_metadata || chunk->null_count < 0 || chunk->null_count > chunk->values)
        leaf->nulls_lost = true;
    else if (__builtin_add_overflow(column->null_count, chunk->null_count, &column->null_count))
        return tarn_pq_corrupt(pq, "column %.60s has an impossible number of nulls", column->path);
    leaf->bounds_lost = leaf->bounds_lost || !chunk->has_metadata;
    add_bounds(leaf, chunk);
    return true;
}

static bool read_chunks(struct tarn_pq *pq, struct tarn_thrift *t, const struct tarn_thrift_field *field)
{
    size_t count = tarn_thrift_list(t, field, TARN_THRIFT_STRUCT);
    struct chunk chunk;

    if (t->fault)
        return false;
    if (count != pq->out->column_count)
        return tarn_pq_corrupt(pq, "a row group has %zu columns, the schema %zu", count,
                               pq->out->column_count);
    for (size_t i = 0; i < count; i++) {
        read_chunk(pq, t, &chunk);
        if (t->fault || !add_chunk(pq, i, &chunk))
            return false;
    }
    return true;
}

/* RowGroup: 1 columns 3 num_rows. */
static bool read_row_group(struct tarn_pq *pq, struct tarn_thrift *t, int64_t *rows)
{
    struct tarn_thrift_field field = { 0 };
    bool has_columns = false;

    while (tarn_thrift_next(t, &field)) {
        if (field.id == 1 && has_columns)
            return tarn_pq_corrupt(pq, "a row group lists its columns twice");
        if (field.id == 1) {
            has_columns = true;
            if (!read_chunks(pq, t, &field))
                return false;
        } else if (field.id == 3) {
            *rows = tarn_thrift_int(t, &field);
        } else {
            tarn_thrift_skip(t, &field);
        }
    }
    return !t->fault && (has_columns || tarn_pq_corrupt(pq, "a row group has no columns"));
}

bool tarn_pq_row_groups(struct tarn_pq *pq, struct tarn_thrift *t, const struct tarn_thrift_field *field)
{
    size_t count = tarn_thrift_list(t, field, TARN_THRIFT_STRUCT);
    int64_t total = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t rows = 0;
        if (!read_row_group(pq, t, &rows))
            return false;
        if (rows < 0 || __builtin_add_overflow(total, rows, &total))
            return tarn_pq_corrupt(pq, "a row group has an impossible number of rows");
    }
    if (t->fault)
        return false;
    pq->out->row_groups = (int64_t)count;
    if (total != pq->out->rows)
        return tarn_pq_corrupt(pq, "the file says %lld rows, its row groups %lld", (long long)pq->out->rows,
                               (long long)total);
    return true;
}
