-- wrk: appends of one file each to random tables, every path new. BENCH_RUN makes the paths of this run its own.
-- BENCH_PATH (/api/table/t%06d/commits) may name one table instead. Prints rate, failures and the 99th percentile in us.
local path = os.getenv("BENCH_PATH") or "/api/table/t%06d/commits"
local serial, run, tables = 0, os.getenv("BENCH_RUN"), tonumber(os.getenv("BENCH_TABLES"))
-- `id` is global: setup() gives each thread its own, or their paths would collide.
local threads = 0

function setup(thread)
    threads = threads + 1
    thread:set("id", threads)
end

function init(args)
    math.randomseed(os.time() + id)
    wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_TOKEN")
    wrk.headers["Content-Type"] = "application/json"
end

function request()
    serial = serial + 1
    return wrk.format("POST", string.format(path, math.random(0, tables - 1)), nil,
        string.format('{"operations":[{"type":"add_file","path":"data/date=2024-02-01/hour=14/%s-%d-%d.parquet",' ..
            '"size":1024}],"commitMetadata":{"author":"bench"}}', run, id, serial))
end

function done(summary, latency)
    local bad = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
    io.write(string.format("RESULT %.1f %d %d\n", (summary.requests - bad) / summary.duration * 1e6, bad,
        latency:percentile(99)))
end
