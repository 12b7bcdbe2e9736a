import type { Icon } from "mcparley";
import { type Field, items, oneOf, readMembers, text, texts, wrong } from "./yaml-fields.ts";

const sizes: Record<string, number> = {
  "": 1,
  b: 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
};
const times: Record<string, number> = { ms: 1, "": 1000, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/** Reads a number of bytes, written as `1048576` or `1 MiB`. */
export function bytes(field: Field): number {
  return quantity(field, sizes, { what: "a size", example: "1 MiB" });
}

/** Reads a duration in milliseconds, written as `30` (seconds), `500ms`, `30s` or `2m`. */
export function duration(field: Field): number {
  return quantity(field, times, { what: "a time", example: "30s" });
}

function quantity(field: Field, units: Record<string, number>, texts: { what: string; example: string }): number {
  const value = text(field);
  const match = /^(\d{1,15}(?:\.\d{1,6})?)\s{0,3}([a-z]{0,3})$/i.exec(value.trim());
  const unit = match && units[match[2]!.toLowerCase()];
  const amount = match && unit ? Math.round(Number(match[1]) * unit) : 0;
  if (amount > 0) return amount;
  throw wrong(
    field,
    `"${field.path}" must be ${texts.what} above zero, not "${value}"`,
    `Write it as ${texts.example}.`,
  );
}

/** Formats a number of milliseconds. */
export function showDuration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

/** Reads a list of icons. Each `src` must be an https: or data: URI, as the specification requires. */
export function icons(field: Field): Icon[] {
  return items(field).map((item) => {
    const { src, ...icon } = readMembers(item, { src: iconSource, mimeType: text, sizes: texts, theme });
    if (src === undefined) throw wrong(item, "an icon needs a src", "Give an https: URL or a data: URI.");
    return { src, ...icon };
  });
}

function iconSource(field: Field): string {
  const source = text(field);
  if (/^(https|data):/i.test(source)) return source;
  throw wrong(field, `an icon cannot come from "${source.slice(0, 60)}"`, "Give an https: URL or a data: URI.");
}

function theme(field: Field): "light" | "dark" {
  return oneOf(field, ["light", "dark"]);
}
