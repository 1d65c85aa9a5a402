#!/bin/bash
# demo.sh: a small lake of real files, from nothing to a status that says what is wrong. `make demo` runs it.
#
# It serves a copy of examples/lake from build/demo, registers the tables over REST, commits a batch, breaks one table
# on purpose, shows both statuses, cures the broken one, and leaves the server up. Running it again starts over; tools/demo-stop ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
tarn=${TARN:-build/release/tarn}
demo=$PWD/build/demo
lake=$demo/lake

bold= plain=
[ ! -t 1 ] || { bold=$'\033[1m' plain=$'\033[0m'; }
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
# What is asked, then the answer's status line and body; ends the demo when the status is not the expected one.
ask() { # STATUS METHOD PATH [BODY]
    local wanted=$1 method=$2 path=$3 status
    shift 3
    echo "  $method $path"
    status=$(curl -sS -o "$demo/answer" -w '%{http_code}' -X "$method" -H "Authorization: Bearer $TARN_TOKEN" \
        -H 'Content-Type: application/json' "$TARN_URL$path" ${1+-d "$1"})
    if [ "$status" != "$wanted" ]; then
        echo "demo: $status instead of $wanted: $(cat "$demo/answer")" >&2
        exit 1
    fi
}
# A few members of the last answer, on one line.
show() { # MEMBER...
    python3 -c '
import json, sys
answer = json.load(open(sys.argv[1]))
print("    " + "  ".join(f"{k}: {json.dumps(answer[k])}" for k in sys.argv[2:]))' "$demo/answer" "$@"
}
# A status document as a person would want it.
show_status() {
    python3 - "$demo/answer" <<'PY'
import json, sys
s = json.load(open(sys.argv[1]))
color = {"ok": 32, "warning": 33, "error": 31}.get(s["severity"], 0)
mark, plain = (f"\033[{color}m", "\033[0m") if sys.stdout.isatty() else ("", "")
print(f"    {s['table']}: {mark}{s['status']}, severity {s['severity']}{plain}; version {s['version']}, {s['latest_transaction']}, "
      f"{s['files']} files, {s['total_size']}, manifest age {s['manifest_age']}")
for f in s["findings"]:
    cure = f", cure: {f['cure']}" if f["cure"] else ""
    print(f"      {f['severity']:8} {f['message']} (since {f['since']}{cure})")
PY
}
register() { # TABLE PARTITION_KEYS
    ask 201 POST /api/tables "{\"name\": \"$1\", \"location\": \"$lake/$1\", \"import\": true, \"partition_keys\": $2,
                               \"schema\": $(cat "examples/schemas/$1.json")}"
    show name version schema_version partition_keys
}
# The file is written first, then told: nobody reads it before the commit.
commit_file() { # FILE-UNDER-incoming/SET PATH DESCRIPTION
    mkdir -p "$lake/flights/$(dirname "$2")"
    cp "examples/incoming/$1/$2" "$lake/flights/$2"
    local date=${2#date=} hour=${2#*hour=}
    ask 201 POST /api/table/flights/commits "{\"operations\": [{\"type\": \"add_file\", \"path\": \"$2\",
        \"size\": $(stat -c %s "$lake/flights/$2"),
        \"partitionValues\": {\"date\": \"${date%%/*}\", \"hour\": $((10#${hour%%/*}))}}],
        \"commitMetadata\": {\"author\": \"demo\", \"description\": \"$3\"}}"
    show version transaction files published
}

tools/demo-stop >/dev/null
rm -rf "$demo"
mkdir -p "$demo"
cp -r examples/lake "$lake"

say "1. A server over a copy of examples/lake: departures from New York, weather, airports"
# In a session of its own, so that it outlives this script.
setsid "$tarn" serve --data "$demo/data" --root "$lake" --listen 127.0.0.1:0 --scan-interval 10s \
    >"$demo/server.log" 2>&1 </dev/null &
echo $! >"$demo/pid"
for _ in $(seq 100); do
    TARN_URL=$(sed -n 's/.*\(http:\/\/[0-9.:]*\).*/\1/p' "$demo/server.log" | head -n 1)
    [ -z "$TARN_URL" ] || break
    kill -0 "$(cat "$demo/pid")" 2>/dev/null || break
    sleep 0.1
done
[ -n "$TARN_URL" ] || { cat "$demo/server.log" >&2; exit 1; }
TARN_TOKEN=$(cat "$demo/data/admin.token")
export TARN_URL TARN_TOKEN
echo "  $TARN_URL"

say "2. Register the tables: files that lie there are imported, with facts from their footers"
register flights '["date", "hour"]'
register weather '["date"]'
register airports '[]'

say "3. Commit the next morning, hour by hour"
commit_file flights date=2013-07-05/hour=05/flights-0001.parquet "5 July, five o'clock"
commit_file flights date=2013-07-05/hour=06/flights-0001.parquet "5 July, six o'clock"
echo "  in the lake: $(ls "$lake/flights/_transactions" | tr '\n' ' '), manifest.json, last_committed_txn: $(cat "$lake/flights/last_committed_txn")"

say "4. Flights and weather are as they should be"
ask 200 POST /api/table/flights/check
show_status
ask 200 POST /api/table/weather/check
show_status

say "5. Break flights in three ways"
echo "  a file that nobody registers, written 20 minutes ago (grace is 15): hour=07/flights-0001.parquet"
mkdir -p "$lake/flights/date=2013-07-05/hour=07"
cp examples/incoming/flights/date=2013-07-05/hour=07/flights-0001.parquet "$lake/flights/date=2013-07-05/hour=07/"
touch -d '20 minutes ago' "$lake/flights/date=2013-07-05/hour=07/flights-0001.parquet"
echo "  a release that writes arr_delay as text and a column too many, committed all the same:"
commit_file drifted date=2013-07-05/hour=07/flights-0002.parquet "a careless release"
entry=$(ls "$lake/flights/_transactions" | sort -V | tail -n 2 | head -n 1)
echo "  a log entry is lost: _transactions/$entry"
rm "$lake/flights/_transactions/$entry"

say "6. What the status says now"
ask 200 POST /api/table/flights/check
show_status
ask 200 GET /api/table/weather/status
show_status

say "7. Cure it: every finding names its plan, and a plan is a dry run until it is told to run"
cure() { # ARGUMENT...
    echo "  \$ tarn repair $*"
    "$tarn" repair "$@" | sed -n '/^$/q; s/^/    /p'
}
echo "  the careless release is undone, as any commit can be"
ask 200 GET /api/table/flights
version=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$demo/answer")
ask 201 POST /api/table/flights/rollback "{\"expected_version\": $version, \"to_version\": $((version - 1)),
    \"author\": \"demo\", \"description\": \"undo the careless release\"}"
show version files_removed
cure flights republish
cure flights republish --run
cure flights register
cure flights register --run

say "8. What the status says now"
ask 200 GET /api/table/flights/status
show_status

say "The server stays up. To try:"
cat <<TXT
  export TARN_URL=$TARN_URL TARN_TOKEN=$TARN_TOKEN
  curl -H "Authorization: Bearer \$TARN_TOKEN" \$TARN_URL/api/table/flights/status
  curl -H "Authorization: Bearer \$TARN_TOKEN" \$TARN_URL/api/table/flights/commits
  curl -H "Authorization: Bearer \$TARN_TOKEN" -H 'Accept: text/uri-list' \$TARN_URL/api/table/flights/files
  curl -H "Authorization: Bearer \$TARN_TOKEN" \$TARN_URL/api/status
  curl \$TARN_URL/openapi.yaml
  $tarn tables
  $tarn status flights
  $tarn history flights
  $tarn check $lake/flights
To end it: tools/demo-stop
TXT
