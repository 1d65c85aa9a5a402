/* test_iceberg_extra.c - updates of an Iceberg table's statistics files and encryption keys. Expected values: REST specification
 * (StatisticsFile, BlobMetadata, EncryptedKey: what is required) and the reference's TableMetadata.Builder, worked out by hand. */
#include "tests/support/iceberg_rows.h"
#include <criterion/criterion.h>

#define CHECK(rows) tarn_iceberg_rows_check(rows, sizeof(rows) / sizeof *(rows))

#define STAT(id, path) "{'snapshot-id':" id ",'statistics-path':'" path "','file-size-in-bytes':9,'file-footer-size-in-bytes':4,'blob-metadata':[]}"
#define PART(id, path) "{'snapshot-id':" id ",'statistics-path':'" path "','file-size-in-bytes':9}"
#define BLOB(more) "{'type':'apache-datasketches-theta-v1','snapshot-id':12,'sequence-number':2,'fields':[1]" more "}"
#define BLOBS(blob) \
    "{'snapshot-id':12,'statistics-path':'a','file-size-in-bytes':9,'file-footer-size-in-bytes':4,'blob-metadata':[" blob "]}"
#define KEY(secret) "{'key-id':'k1','encrypted-key-metadata':'" secret "'}"
static const char k_keyed[] = "{'format-version':3,'next-row-id':20,'encryption-keys':[" KEY("aa") "]}";

Test(iceberg_extra, statistics_and_keys_are_known_by_their_snapshot_and_their_id)
{
    static const struct tarn_iceberg_row rows[] = {
        { "set; the snapshot of the file counts", NULL,
          "[{'action':'set-statistics','snapshot-id':1,'statistics':" STAT("12", "a") "}]",
          "{'statistics':[" STAT("12", "a") "]}", NULL, 0 },
        { "set anew; the snapshot need not exist", "{'statistics':[" STAT("77", "a") "," STAT("12", "b") "]}",
          "[{'action':'set-statistics','statistics':" STAT("77", "c") "}]",
          "{'statistics':[" STAT("12", "b") "," STAT("77", "c") "]}", NULL, 0 },
        { "removed", "{'statistics':[" STAT("77", "a") "," STAT("12", "b") "]}",
          "[{'action':'remove-statistics','snapshot-id':77}]", "{'statistics':[" STAT("12", "b") "]}", NULL, 0 },
        { "nothing removed", NULL, "[{'action':'remove-statistics','snapshot-id':77}]", NULL, NULL, 0 },
        { "of partitions", "{'partition-statistics':[" PART("12", "a") "]}",
          "[{'action':'set-partition-statistics','partition-statistics':" PART("12", "b") "}]",
          "{'partition-statistics':[" PART("12", "b") "]}", NULL, 0 },
        { "of partitions, removed", "{'partition-statistics':[" PART("12", "a") "]}",
          "[{'action':'remove-partition-statistics','snapshot-id':12}]", "{'partition-statistics':[]}", NULL, 0 },
        { "of partitions, nothing removed", NULL, "[{'action':'remove-partition-statistics','snapshot-id':5}]", NULL, NULL, 0 },
        { "without a path", NULL,
          "[{'action':'set-statistics','statistics':{'snapshot-id':1,'file-size-in-bytes':9}}]", NULL,
          "Cannot parse missing field: statistics-path", 0 },
        { "with a blob", NULL, "[{'action':'set-statistics','statistics':" BLOBS(BLOB("")) "}]", "{'statistics':[" BLOBS(BLOB("")) "]}", NULL, 0 },
        { "with a blob that says more", NULL, "[{'action':'set-statistics','statistics':" BLOBS(BLOB(",'properties':{'ndv':'3'},'x':1")) "}]",
          "{'statistics':[" BLOBS(BLOB(",'properties':{'ndv':'3'},'x':1")) "]}", NULL, 0 },
        { "without a footer's size", NULL,
          "[{'action':'set-statistics','statistics':{'snapshot-id':1,'statistics-path':'a','file-size-in-bytes':9,'blob-metadata':[]}}]",
          NULL, "Cannot parse missing field: file-footer-size-in-bytes", 0 },
        { "without blobs", NULL,
          "[{'action':'set-statistics','statistics':{'snapshot-id':1,'statistics-path':'a','file-size-in-bytes':9,'file-footer-size-in-bytes':4}}]",
          NULL, "Cannot parse missing field: blob-metadata", 0 },
        { "with blobs that are no list", NULL,
          "[{'action':'set-statistics','statistics':{'snapshot-id':1,'statistics-path':'a','file-size-in-bytes':9,'file-footer-size-in-bytes':4,"
          "'blob-metadata':{}}}]",
          NULL, "Cannot parse blob-metadata: it must be an array", 0 },
        { "with a blob that is none", NULL, "[{'action':'set-statistics','statistics':" BLOBS("1") "}]", NULL,
          "Cannot parse blob metadata: each must be an object", 0 },
        { "with a blob without a type", NULL, "[{'action':'set-statistics','statistics':" BLOBS("{'snapshot-id':1}") "}]", NULL,
          "Cannot parse missing field: type", 0 },
        { "with a blob of columns by name", NULL,
          "[{'action':'set-statistics','statistics':" BLOBS("{'type':'a','snapshot-id':1,'sequence-number':1,'fields':['id']}") "}]", NULL,
          "Cannot parse fields: it must be an array of whole numbers", 0 },
        { "with a blob's property that is a number", NULL, "[{'action':'set-statistics','statistics':" BLOBS(BLOB(",'properties':{'ndv':3}")) "}]",
          NULL, "Cannot parse properties: the value of \"ndv\" must be text", 0 },
        { "a key", "{'format-version':3,'next-row-id':20}", "[{'action':'add-encryption-key','encryption-key':" KEY("aa") "}]",
          "{'encryption-keys':[" KEY("aa") "]}", NULL, 0 },
        { "a key, before version 3", NULL, "[{'action':'add-encryption-key','encryption-key':" KEY("aa") "}]",
          "{'encryption-keys':[" KEY("aa") "]}", NULL, 0 },
        { "a key with its padding", NULL, "[{'action':'add-encryption-key','encryption-key':" KEY("aGVsbG8=") "}]",
          "{'encryption-keys':[" KEY("aGVsbG8=") "]}", NULL, 0 },
        { "a key that is no base64", NULL, "[{'action':'add-encryption-key','encryption-key':" KEY("$$$$") "}]", NULL,
          "Cannot parse encrypted-key-metadata: it must be base64", 0 },
        { "a key with too much padding", NULL, "[{'action':'add-encryption-key','encryption-key':" KEY("aa=") "}]", NULL,
          "Cannot parse encrypted-key-metadata: it must be base64", 0 },
        { "a key that was cut", NULL, "[{'action':'add-encryption-key','encryption-key':" KEY("aGVsb") "}]", NULL,
          "Cannot parse encrypted-key-metadata: it must be base64", 0 },
        { "a key that is there", k_keyed, "[{'action':'add-encryption-key','encryption-key':" KEY("bb") "}]", NULL, NULL, 0 },
        { "a key removed", k_keyed, "[{'action':'remove-encryption-key','key-id':'k1'}]", "{'encryption-keys':null}", NULL, 0 },
        { "a key that is not there", k_keyed, "[{'action':'remove-encryption-key','key-id':'k2'}]", NULL, NULL, 0 },
    };
    CHECK(rows);
}
