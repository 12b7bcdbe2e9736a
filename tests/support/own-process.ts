import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

/**
 * Code that replaces functions, timers or globals, listens to events of the process, or measures its memory. Such a test
 * would affect the tests of other files in the same process. `vi.fn` and the waits of `vi` affect nothing.
 */
const changesProcess =
  /\bvi\.(?!fn\b|wait|importActual)|\bprocess\.(?:on|once|emit|chdir|exitCode|memoryUsage)\b|\bprocess\.env\.\w+ = |\bsetFlagsFromString\b|\bwatchEventLoop\b/;

/** Returns the test files of a folder that need a process of their own. */
export function filesWithOwnProcess(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesWithOwnProcess(file);
    return entry.name.endsWith(".test.ts") && changesProcess.test(readFileSync(file, "utf8")) ? [file] : [];
  });
}
