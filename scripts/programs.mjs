// @ts-check
import { spawnSync } from "node:child_process";
import path from "node:path";
import { failedTests, forgetTests, testArguments, testCounts } from "./failures.mjs";
import { makeReady, root } from "./ready.mjs";

/** Runs the tests that start programs, such as the command in a pseudo-terminal, the examples, and published clients and servers. */
makeReady();
forgetTests("programs");
const runner = path.join(root, "node_modules", "vitest", "vitest.mjs");
const { status } = spawnSync(process.execPath, [runner, ...testArguments("programs", process.argv.slice(2))], {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
});

// The last lines name the failures, because the beginning of a long log may be cut off.
process.stdout.write("\n");
for (const name of failedTests(["programs"])) process.stdout.write(`failed: ${name}\n`);
process.stdout.write(`${testCounts(["programs"])}\n`);
process.exitCode = status === 0 ? 0 : 1;
