import { type ConfigValue, type Reference, formatValue, partsOf } from "../values.ts";
import { UnsupportedTarget } from "./host.ts";

/** Returns the text of a reference in the notation of a host, or undefined if the host has none. */
export type WriteReference = (reference: Reference) => string | undefined;

/** Returns a value as the text of a file. Throws `UnsupportedTarget` for a reference that the host does not replace. */
export function writeValue(value: ConfigValue, write: WriteReference): string {
  return partsOf(value)
    .map((part) => {
      if (typeof part === "string") return part;
      const text = write(part);
      if (text !== undefined) return text;
      throw new UnsupportedTarget(
        `The host does not replace ${formatValue([part])} at this place.`,
        "Write the value itself, or let the server read the variable from its environment.",
      );
    })
    .join("");
}

export function writeValues(values: readonly ConfigValue[], write: WriteReference): string[] {
  return values.map((value) => writeValue(value, write));
}

/** Returns a table as an object, or undefined if it is empty. */
export function writeTable(
  table: ReadonlyMap<string, ConfigValue>,
  write: WriteReference,
): Readonly<Record<string, string>> | undefined {
  if (table.size === 0) return undefined;
  return Object.fromEntries([...table].map(([name, value]) => [name, writeValue(value, write)]));
}

/** `${env:NAME}`, `${input:ID}` and the variables of editors. */
export const editorReference: WriteReference = (reference) =>
  reference.kind === "env" && reference.fallback !== undefined ? undefined : formatKnown(reference);

function formatKnown(reference: Reference): string | undefined {
  return reference.kind === "unknown" || reference.kind === "file" ? undefined : formatValue([reference]);
}

/** `${NAME}` and `${NAME:-fallback}`. */
export const shellReference: WriteReference = (reference) => {
  if (reference.kind !== "env" || !/^[A-Za-z_]\w*$/.test(reference.name)) return undefined;
  return reference.fallback === undefined ? `\${${reference.name}}` : formatValue([reference]);
};

export const noReference: WriteReference = () => undefined;
