#!/bin/sh
# prometheus-text-histograms-merged: of a histogram or a summary with a label, parse-prometheus-text-format makes one
# without labels, sum and count, which has the buckets or quantiles of the last series alone. Counters are right.
#
# Packages: parse-prometheus-text-format 1.1.1, and prom-client 15.1.3, which writes the text here.
# Expected: an entry for each series, with labels, sum and count, as it makes of counters and as the text has them
# (Prometheus' text format 0.0.4). A label on a histogram is usual: the route, method or status of a duration.
# Cause: flattenMetrics puts all lines into one object by their bound, and takes sum and count of lines without labels.
# Who meets it: tests, dashboards and checks that read a service's metrics by this package. Without a label all is there,
# so it begins with the first label, or with the second value that it takes.
# Here: one metric of each kind, observed as 0.5 without a label, or as 0.5 for x and twice as 3 for y.
# Seen:
#   histogram, no label: {"buckets":{"1":"1","+Inf":"1"},"count":"1","sum":"0.5"}
#   histogram, one series: {"buckets":{"1":"1","+Inf":"1"}}
#   histogram, two series: {"buckets":{"1":"0","+Inf":"2"}}
#   summary, no label: {"quantiles":{"0.5":"0.5"},"count":"1","sum":"0.5"}
#   summary, one series: {"quantiles":{"0.5":"0.5"}}
#   summary, two series: {"quantiles":{"0.5":"3"}}
#   counter, no label: {"value":"0.5"}
#   counter, one series: {"value":"0.5","labels":{"a":"x"}}
#   counter, two series: {"value":"0.5","labels":{"a":"x"}} {"value":"6","labels":{"a":"y"}}
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact parse-prometheus-text-format@1.1.1 \
  prom-client@15.1.3 || exit 77
cat > run.mjs <<'END'
import { createRequire } from "node:module";
import { Counter, Histogram, Registry, Summary } from "prom-client";

const parse = createRequire(import.meta.url)("parse-prometheus-text-format");
const KINDS = {
  histogram: (options) => new Histogram({ ...options, buckets: [1] }),
  summary: (options) => new Summary({ ...options, percentiles: [0.5] }),
  counter: (options) => new Counter(options),
};
const SERIES = {
  "no label": { labelNames: [], observed: [[{}, 0.5]] },
  "one series": { labelNames: ["a"], observed: [[{ a: "x" }, 0.5]] },
  "two series": {
    labelNames: ["a"],
    observed: [
      [{ a: "x" }, 0.5],
      [{ a: "y" }, 3],
      [{ a: "y" }, 3],
    ],
  },
};
for (const [kind, make] of Object.entries(KINDS))
  for (const [what, { labelNames, observed }] of Object.entries(SERIES)) {
    const registry = new Registry();
    const metric = make({ name: "seconds", help: "h", labelNames, registers: [registry] });
    for (const [labels, value] of observed) (metric.observe ?? metric.inc).call(metric, labels, value);
    const [{ metrics }] = parse(await registry.metrics());
    console.log(`${kind}, ${what}: ${metrics.map((read) => JSON.stringify(read)).join(" ")}`);
  }
END
node run.mjs > seen
cat seen
cat > expected <<'END'
histogram, no label: {"buckets":{"1":"1","+Inf":"1"},"count":"1","sum":"0.5"}
histogram, one series: {"buckets":{"1":"1","+Inf":"1"}}
histogram, two series: {"buckets":{"1":"0","+Inf":"2"}}
summary, no label: {"quantiles":{"0.5":"0.5"},"count":"1","sum":"0.5"}
summary, one series: {"quantiles":{"0.5":"0.5"}}
summary, two series: {"quantiles":{"0.5":"3"}}
counter, no label: {"value":"0.5"}
counter, one series: {"value":"0.5","labels":{"a":"x"}}
counter, two series: {"value":"0.5","labels":{"a":"x"}} {"value":"6","labels":{"a":"y"}}
END
cmp seen expected
