-- wrk: status look-ups of random tables. Requests are made ahead, so that the client is as cheap as it can be.
-- BENCH_PATH is a format with one %06d, BENCH_TOKEN the bearer token or nothing.
local requests, count = {}, 20000

function setup(thread)
    thread:set("seed", os.time() + math.random(1, 1000000))
end

function init(args)
    math.randomseed(seed)
    local tables = tonumber(os.getenv("BENCH_TABLES"))
    local token = os.getenv("BENCH_TOKEN")
    if token then wrk.headers["Authorization"] = "Bearer " .. token end
    for i = 1, count do
        requests[i] = wrk.format("GET", string.format(os.getenv("BENCH_PATH"), math.random(0, tables - 1)))
    end
end

local next_ = 0
function request()
    next_ = next_ % count + 1
    return requests[next_]
end

function done(summary)
    local bad = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
    io.write(string.format("RESULT %.1f %d\n", (summary.requests - bad) / summary.duration * 1e6, bad))
end
