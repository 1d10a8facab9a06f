// What the hosts make of a YAML text: npm `yaml` with its defaults, as the official suite and MCP Inspector call it.

import { parse } from "yaml";

/** `{value}`, or `{error}` where the text is refused, or `{notJson}` where JSON cannot hold the value. */
export function read(text) {
  let value;
  try {
    value = parse(text, { logLevel: "error" });
  } catch (error) {
    return { error: String(error.message).split("\n")[0] };
  }
  return isJson(value, new Set()) ? { value } : { notJson: true };
}

function isJson(value, above) {
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return true;
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (above.has(value)) return false;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return false;
  above.add(value);
  const members = Array.isArray(value) ? value : Object.entries(value).flat();
  const all = members.every((member) => isJson(member, above));
  above.delete(value);
  return all;
}

/** The value of a JSON text with the sign of zeros, compared by value and not by the order of members. */
export function same(a, b) {
  if (typeof a !== typeof b || a === null || b === null) return Object.is(a, b);
  if (typeof a !== "object") return Object.is(a, b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/** The text between the fences, as hosts cut it, or `undefined`. */
export function frontmatter(file) {
  const text = file.charCodeAt(0) === 0xfeff ? file.slice(1) : file;
  const match = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)??---[ \t]*(?:\r?\n|$)/.exec(text);
  return match ? (match[1] ?? "") : undefined;
}
