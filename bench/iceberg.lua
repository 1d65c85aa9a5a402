-- wrk: loads of random Iceberg tables, or (BENCH_COMMITS) commits of one property to them. Prints rate, failures, and the 50th
-- and 99th percentile in us.
local tables, base, commits = tonumber(os.getenv("BENCH_TABLES")), os.getenv("BENCH_BASE"), os.getenv("BENCH_COMMITS")
local serial = 0

function setup(thread)
    thread:set("seed", os.time() + math.random(1, 1000000))
end

function init(args)
    math.randomseed(seed)
    local token = os.getenv("BENCH_TOKEN")
    if token and token ~= "" then wrk.headers["Authorization"] = "Bearer " .. token end
    wrk.headers["Content-Type"] = "application/json"
end

function request()
    local path = string.format("%s/v1/namespaces/db/tables/t%d", base, math.random(0, tables - 1))
    if not commits then return wrk.format("GET", path) end
    serial = serial + 1
    return wrk.format("POST", path, nil, string.format(
        '{"requirements":[],"updates":[{"action":"set-properties","updates":{"bench.serial":"%d"}}]}', serial))
end

function done(summary, latency)
    local bad = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
    io.write(string.format("RESULT %.1f %d %d %d\n", (summary.requests - bad) / summary.duration * 1e6, bad,
        latency:percentile(50), latency:percentile(99)))
end
