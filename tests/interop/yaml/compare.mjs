// Compares our loader with the hosts' parser.
//
//   node compare.mjs [--generate N] [--seed S] [--show N] [DIRECTORY ...]
//
// Reads every SKILL.md below the directories and N generated frontmatters, and fails when ours gives another value, or
// takes what the hosts refuse. Refusals of what hosts take are allowed; they are counted by code. The parser is run as
// the cargo example `frontmatter`, or as the program that the variable FRONTMATTER names.

import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { generate } from "./generate.mjs";
import { frontmatter, read, same } from "./hosts.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { generate: { type: "string", default: "3000" }, seed: { type: "string", default: "1" }, show: { type: "string", default: "20" } },
});

const inputs = [];
for (const directory of positionals) {
  for (const path of skills(directory)) inputs.push({ name: path, bytes: readFileSync(path) });
}
for (let n = 0; n < Number(values.generate); n += 1) {
  const yaml = generate(Number(values.seed), n);
  inputs.push({ name: `generated ${values.seed}/${n}`, bytes: Buffer.from(`---\n${yaml}\n---\n\n# Body\n`) });
}

const answers = ours(inputs.map((input) => input.bytes));
const counts = { same: 0, "both refuse": 0, "wrong value": 0, "lax accept": 0 };
const refused = {};
const faults = [];
inputs.forEach((input, i) => {
  const theirs = expected(input.bytes);
  const answer = answers[i];
  let verdict;
  if (answer.code) {
    verdict = theirs.value === undefined ? "both refuse" : `refused: ${answer.code}`;
  } else {
    verdict = theirs.value === undefined ? "lax accept" : same(answer.value, theirs.value) ? "same" : "wrong value";
  }
  if (verdict.startsWith("refused")) refused[answer.code] = (refused[answer.code] ?? 0) + 1;
  else counts[verdict] += 1;
  const wanted = verdict === "wrong value" || verdict === "lax accept" || (process.env.SHOW_REFUSED && verdict.startsWith("refused"));
  if (wanted) faults.push({ verdict, input, answer, theirs });
});

for (const { verdict, input, answer, theirs } of faults.slice(0, Number(values.show))) {
  console.log(`${verdict}: ${input.name}\n  text   ${JSON.stringify(input.bytes.toString("utf8").slice(0, 600))}`);
  console.log(`  ours   ${JSON.stringify(answer).slice(0, 600)}\n  theirs ${JSON.stringify(theirs).slice(0, 600)}`);
}
console.log(`${inputs.length} inputs:`, JSON.stringify(counts), "refused though hosts take it:", JSON.stringify(refused));
if (counts["wrong value"] + counts["lax accept"] > 0 || inputs.length === 0) process.exitCode = 1;

function* skills(directory) {
  // Paths are bytes, for names that are not UTF-8.
  for (const entry of readdirSync(directory, { withFileTypes: true, encoding: "buffer" })) {
    const path = Buffer.concat([Buffer.from(directory), Buffer.from("/"), entry.name]);
    if (entry.isDirectory()) yield* skills(path);
    else if (entry.isFile() && entry.name.toString() === "SKILL.md") yield path;
  }
}

/** What a host makes of a file: `value` is absent where it gets no mapping out of it. */
function expected(bytes) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { error: "not UTF-8" };
  }
  const yaml = frontmatter(text);
  if (yaml === undefined) return { error: "no frontmatter" };
  const answer = read(yaml);
  // An empty frontmatter has no fields, which is how MCP Inspector sees it.
  if (answer.value === null && /^(?:[ \t]*(?:#[^\n]*)?(?:\r?\n|$))*$/.test(yaml.replace(/^\ufeff/, ""))) return { value: {} };
  const mapping = answer.value !== null && typeof answer.value === "object" && !Array.isArray(answer.value);
  return "value" in answer && !mapping ? { error: "not a mapping" } : answer;
}

function ours(files) {
  const framed = Buffer.concat(files.flatMap((file) => [Buffer.from(`${file.length}\n`), file]));
  const root = new URL("../../..", import.meta.url);
  const program = process.env.FRONTMATTER;
  const run = program
    ? spawnSync(program, [], { input: framed, maxBuffer: 1 << 30 })
    : spawnSync("cargo", ["run", "--quiet", "--example", "frontmatter"], { cwd: root, input: framed, maxBuffer: 1 << 30 });
  if (run.error || run.status !== 0) throw new Error(`our parser ended with ${run.status}: ${run.error ?? run.stderr}`);
  const lines = run.stdout.toString("utf8").split("\n").slice(0, -1);
  if (lines.length !== files.length) throw new Error(`our parser answered ${lines.length} of ${files.length} files`);
  return lines.map((line) => JSON.parse(line));
}
