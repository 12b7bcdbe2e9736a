// @ts-check
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { checkArtifact } from "./artifact/check.mjs";
import { Checks } from "./artifact/checks.mjs";

/**
 * Tests what users install: packs the published packages and checks them. `--update` writes the lists of packed files in
 * `tests/artifact/files`.
 */
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "mcparley-artifact-")));
const checks = new Checks();
try {
  checkArtifact({ folder, update: process.argv.includes("--update"), checks });
  process.stdout.write(`artifact: ${checks.passed} checks passed\n`);
} catch (error) {
  process.stderr.write(`artifact: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
