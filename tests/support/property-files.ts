import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

/** Code that checks a property: an import of fast-check, or of the function `holds`. */
const importsProperties = /\bfrom "(?:fast-check|[./\w-]*\/holds\.ts)"/;

/** Returns the test files of a folder that check properties, which `npm run fuzz` runs with random seeds. */
export function filesWithProperties(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesWithProperties(file);
    return entry.name.endsWith(".test.ts") && importsProperties.test(readFileSync(file, "utf8")) ? [file] : [];
  });
}
