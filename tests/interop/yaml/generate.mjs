// Frontmatters from a seed: well-formed ones in every style, and ones with a few mutations that authors or attackers make.

/** A small generator of numbers from a seed (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  const chance = (p) => next() < p;
  const pick = (list) => list[below(list.length)];
  // How wild the text is as a whole: most of it should be well-formed, or the values would hardly be compared.
  const wildness = pick([0, 0, 0.1, 0.3, 1]);
  return { below, chance, pick, odd: (p) => next() < p * wildness };
}

const WORDS = [
  "pdf", "Use when", "the user", "a", "x y", "don't", "C#", "#tag", "a #b", "a: b", "a:b", "http://x.y:80/z", "- x", "-x", "? x", "?x",
  "*bold*", "**bold** text", "&amp", "!important", "%PATH%", "@user", "`code`", "\"q\"", "'q'", "\"q\" then", "[x]", "[x] y", "{x}", "{{x}}", "x, y",
  ">", "|", "> x", "| x", "...", "---", "--- x", "~", "null", "Null", "nULL", "true", "True", "tRue", "yes", "no", "on", "off", "é", "日本：語", "😀", "\u00a0x",
  "\u2028", "\u0085x", "\u200b", "a\tb", "\\n", "\\", "C:\\dir", "x:", ":x", "::", "=", "<<", "", " ", "end ", "0", "-0", "0.0", "-0.0", "1", "12306", "007", "089", "0o17", "0o8",
  "0x1F", "0X1f", "0xg", "1_000", "1e3", "1E+3", "1e400", "-1e400", "1e-400", ".5", "5.", "-.5", "+1", "+", "-", ".", "1.10", "1.2.3", "12:30", "12:30:45", "2024-01-02",
  "2024-01-02T03:04:05Z", ".inf", "-.inf", "+.INF", ".nan", "NaN", "inf", "9007199254740993", "18446744073709551616", "0b101", "1.5e-9", "0.30000000000000004",
  "123456789012345678901234567890", "0xFFFFFFFFFFFFFFFFFFFFF", "\ufeffx", "__proto__", "constructor",
];
const KEYS = [
  "name", "description", "license", "compatibility", "metadata", "allowed-tools", "version", "tags", "author", "a", "b", "c", "k k", "é", "1", "01", "1.0", "true", "null", "~", "0x10",
  "x:y", "-k", "?k", "<<", "__proto__", "toString", "\"q\"", "'q'", "\"a\\tb\"", "*x", "&x k", "!t k", "!!str 1", "", "[k]", "{k: v}", "- k", "1e3", "1e21", "1e-7", "# k", ">k", "@k", "\ufeffk",
];
const TAGS = ["!", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!binary", "!!set", "!!omap", "!!timestamp", "!local", "!a!b", "!<tag:yaml.org,2002:str>", "!<!x>", "!!python/name:x", "!x,", "!%41", "!!"];

const quoted = (r, text) =>
  r.chance(0.5)
    ? `'${text.replaceAll("'", "''")}'`
    : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
const escapes = ["\\n", "\\t", "\\x41", "\\u00e9", "\\U0001F600", "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\/", "\\q", "\\_", "\\N", "\\L", "\\P", "\\e", "\\0", "\\ ", "\\\t", "\\x4", "\\u12", "\\\\", "\\\"", "\\'", "\\U00110000"];

const TAME = ["pdf", "Use when", "the user", "asks", "forms", "don't", "C#", "é", "a:b", "x, y", "10", "1.0", "true", "(see docs)", "yes", "2024-01-02", "/path/to", "50%", "- or", "#1"];

function scalar(r, indent, flow) {
  const props = r.odd(0.2) ? `${r.pick(TAGS)} ` : r.chance(0.06) ? `&${r.pick("xyz")} ` : "";
  if (r.odd(0.1)) return `*${r.pick("xyz")}`;
  const tame = !r.odd(0.6);
  const word = () => r.pick(tame ? TAME : WORDS);
  const words = () => Array.from({ length: 1 + r.below(4) }, word).join(" ");
  const fold = (text) => text.split(" ").join(r.chance(0.1) ? `\n${" ".repeat(indent + (r.odd(0.5) ? 0 : 1) + r.below(3))}` : r.chance(0.05) ? `\n\n${" ".repeat(indent + 1)}` : " ");
  switch (r.below(flow ? 4 : 6)) {
    case 0: return props + word();
    case 1: return props + fold(words());
    case 2: return props + quoted(r, fold(words()));
    case 3: return props + `"${word().replaceAll('"', "")}${r.odd(0.5) ? r.pick(escapes) : "\\n"}${r.chance(0.2) ? "\\\n" + " ".repeat(indent + r.below(3)) : ""}x"`;
    default: return props + block(r, indent);
  }
}

function block(r, indent) {
  const header = r.pick(["|", ">"]) + r.pick(r.odd(0.5) ? ["2", "1-", "+2", "9", "0", " # c", "-  ", " x", "\t"] : ["", "-", "+"]);
  const deep = indent + 1 + r.below(3);
  const lines = Array.from({ length: r.below(6) }, () => {
    if (r.chance(0.2)) return " ".repeat(r.odd(0.8) ? r.below(indent + 5) : 0);
    const more = r.chance(0.15) ? r.below(3) : 0;
    return " ".repeat(Math.max(0, deep + more - (r.odd(0.1) ? 2 : 0))) + (r.odd(0.1) ? "\t" : "") + r.pick(r.odd(0.5) ? WORDS : TAME) + r.pick(["", "", "", " ", "\t", " #c"]);
  });
  return [header, ...lines].join("\n");
}

function flow(r, indent, depth) {
  if (depth <= 0 || r.chance(0.5)) return scalar(r, indent, true);
  const list = r.chance(0.5);
  const gap = () => (r.chance(0.15) ? `\n${" ".repeat(indent + (r.odd(0.5) ? 0 : 1) + r.below(3))}` : r.pick(r.odd(0.4) ? ["", "\t"] : ["", " "]));
  const entries = Array.from({ length: r.below(4) }, () => {
    const value = flow(r, indent, depth - 1);
    if (!list && r.chance(0.1)) return `${key(r)}:${value}`;
    if (list && r.chance(0.85)) return value;
    if (!r.odd(0.7)) return `${key(r)}: ${value}`;
    return r.pick([r.pick(KEYS) + ": " + value, r.pick(KEYS) + ":" + value, quoted(r, r.pick(KEYS)) + ":" + value, r.pick(KEYS), "? " + r.pick(KEYS) + " : " + value, ": " + value]);
  });
  const last = r.chance(0.15) ? "," : "";
  const body = entries.map((entry) => gap() + entry + (r.chance(0.05) ? " # c\n" + " ".repeat(indent + 1) : "")).join(r.odd(0.1) ? " " : ",");
  const end = r.chance(0.2) ? `\n${" ".repeat(Math.max(0, indent - (r.odd(0.5) ? r.below(4) : 2)))}` : gap();
  return (list ? "[" : "{") + body + last + end + (r.odd(0.05) !== list ? "]" : "}");
}

/** A JSON text over several lines, as some authors put below `metadata:`. */
function json(r, indent, depth) {
  if (depth <= 0 || r.chance(0.3)) return r.pick(['"pdf"', '"a: b"', "1", "true", "null", '"\\n"', '"#x"', "plain", "'x'"]);
  const list = r.chance(0.4);
  const members = Array.from({ length: r.below(4) }, (_, n) => (list ? "" : r.pick([`"k${n}": `, `"k${n}":`, `k${n}: `])) + json(r, indent + 2, depth - 1));
  const step = r.odd(0.3) ? r.below(4) - 1 : 2;
  const inner = `\n${" ".repeat(Math.max(0, indent + step))}`;
  const last = members.length && r.chance(0.3) ? "," : "";
  const end = `\n${" ".repeat(Math.max(0, indent - (r.odd(0.3) ? 1 : 0)))}`;
  return (list ? "[" : "{") + members.map((member) => inner + member).join(",") + last + end + (list ? "]" : "}");
}

function key(r) {
  if (!r.odd(0.6)) return r.pick(["name", "description", "license", "metadata", "author", "tags"]) + r.below(100);
  const key = r.pick(KEYS);
  return r.chance(0.15) ? quoted(r, key) : key;
}

function node(r, indent, depth) {
  const pad = " ".repeat(indent);
  const choice = r.below(10);
  if (depth <= 0 || choice < 4) return " " + scalar(r, indent, false);
  if (choice === 5 && r.chance(0.5)) {
    const at = Math.max(0, indent - (r.chance(0.5) ? 0 : 2));
    return (r.chance(0.5) ? " " : `\n${" ".repeat(Math.max(at, r.odd(0.5) ? 0 : indent))}`) + json(r, at, 3);
  }
  if (choice < 6) return " " + flow(r, indent, depth);
  const props = r.odd(0.2) ? ` ${r.pick([...TAGS, "&x", "&y"])}` : "";
  if (choice < 8) {
    const at = r.chance(0.2) ? indent - 2 : indent;
    const items = Array.from({ length: 1 + r.below(3) }, () => `${" ".repeat(Math.max(0, at))}-${r.odd(0.3) ? "\t" : ""}${r.chance(0.2) ? " " + key(r) + ":" : ""}${node(r, indent + 2, depth - 1)}`);
    return `${props}${r.chance(0.03) ? " # c" : ""}\n${items.join("\n")}`;
  }
  return `${props}\n${pairs(r, indent, depth - 1, 1 + r.below(3)).map((line) => pad + line).join("\n")}`;
}

function pairs(r, indent, depth, count) {
  return Array.from({ length: count }, () => {
    if (r.chance(0.04)) return "# comment";
    if (r.chance(0.03)) return "";
    if (r.chance(0.03)) return `? ${key(r)}\n${" ".repeat(indent)}:${node(r, indent + 2, depth)}`;
    return `${key(r)}${(r.odd(0.4) ? r.pick([" :", ":\t"]) : ":")}${node(r, indent + 2, depth)}`;
  });
}

const INSERTS = [" ", "  ", "\t", "\n", "\n\n", ":", ": ", "- ", "#", " #", "'", '"', "[", "]", "{", "}", ",", "&", "*", "!", "|", ">", "%", "@", "`", "?", "? ", "\\", "...", "\n...\n", "---", "~", "0", "\r\n", "\u2028", "\u00a0", "\ufeff", "\u0007", "\ud83d\ude00", "<<: "];

function mutate(r, text) {
  const at = r.below(text.length + 1);
  const to = Math.min(text.length, at + 1 + r.below(4));
  switch (r.below(5)) {
    case 0: return text.slice(0, at) + r.pick(INSERTS) + text.slice(at);
    case 1: return text.slice(0, at) + text.slice(to);
    case 2: return text.slice(0, at) + r.pick(INSERTS) + text.slice(to);
    case 3: {
      const lines = text.split("\n");
      const line = r.below(lines.length);
      lines[line] = r.chance(0.5) ? " ".repeat(r.below(4)) + lines[line] : lines[line].slice(r.below(3));
      return lines.join("\n");
    }
    default: {
      const lines = text.split("\n");
      lines.splice(r.below(lines.length), 0, lines[r.below(lines.length)]);
      return lines.join("\n");
    }
  }
}

const SOUP = ["a", "b: ", "c:", "- ", "? ", ": ", "\n", "\n", "\n  ", "\n    ", "\n- ", "\na: ", "\nb: ", "\n  c: ", "\r\n", "\t", " ", "#", " # c", "'", '"', "\\", "[", "]", "{", "}", ",", "&x ", "*x", "!", "!!str ", "!t ", "|", ">", "|2", ">-", "|+", "\n...", "\n--- ", "---", "%", "@", "~", "1.0", "x y", "é", "?", "-", ":", "\n#", "\n\n"];

/** Signs of YAML in any order. */
const soup = (r) => "a: " + Array.from({ length: 1 + r.below(14) }, () => r.pick(SOUP)).join("");

/** The frontmatter number `n` of a seed. */
export function generate(seed, n) {
  const r = random((seed * 1_000_003 + n) | 0);
  let text = r.chance(0.25) ? soup(r) : pairs(r, 0, 3, 1 + r.below(5)).join("\n");
  const mutations = r.chance(0.6) ? 0 : 1 + r.below(2);
  for (let i = 0; i < mutations; i += 1) text = mutate(r, text);
  if (r.chance(0.1)) text = text.replaceAll("\n", "\r\n");
  if (r.chance(0.1)) text += r.pick(["\n", "\n\n", " ", "\n  ", "\n\t", "\n# c", "\n..."]);
  return text.toWellFormed();
}
