// Rewrites a table of cases: asks npm `yaml` again for every case there, and for those of a second file if there is one (a
// list of {id, yaml}).
//
//   node cases.mjs tests/data/yaml-cases.json [NEW.json]

import { readFileSync, writeFileSync } from "node:fs";
import { read } from "./hosts.mjs";

const [table, more] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(table, "utf8"));
if (more) cases.push(...JSON.parse(readFileSync(more, "utf8")));
const lines = cases.map(({ id, yaml }) => {
  const answer = read(yaml);
  const npm = "value" in answer ? "value" : answer.notJson ? "not-json" : "error";
  // Values that the table's reader finds too deep are refused here anyway.
  const json = "value" in answer && depth(answer.value) < 100 ? { json: answer.value } : {};
  return JSON.stringify({ id, yaml, npm, ...json });
});
writeFileSync(table, `[\n${lines.join(",\n")}\n]\n`);

function depth(value) {
  return value && typeof value === "object" ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
}
