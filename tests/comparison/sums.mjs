// @ts-check
import assert from "node:assert/strict";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { connect } from "mcparley/client";
import { installSample } from "../../benchmarks/measure/size-sample.mjs";

/** The packages of the README's server in each library. The server is the same, with zod. @type {Record<string, string[]>} */
const packagesOfSums = {
  mcparley: ["mcparley", "zod"],
  "sdk-v1": ["@modelcontextprotocol/sdk", "zod"],
  "sdk-v2": ["@modelcontextprotocol/server", "zod"],
  fastmcp: ["fastmcp", "zod"],
  tmcp: ["tmcp", "@tmcp/adapter-zod", "@tmcp/transport-stdio", "zod"],
};

/** Calls the README's server in each library, and measures its packages and its bundle. @param {{ programs: string; tools: string }} folders @returns {Promise<string[][]>} */
export async function measureSums({ programs, tools }) {
  /** @type {string[][]} */
  const rows = [["packages"], ["installed, MB"], ["bundle, KB (gzip)"]];
  for (const [library, packages] of Object.entries(packagesOfSums)) {
    const program = path.join(programs, library, "sums.mjs");
    const source = program.replace(/\.mjs$/, ".ts");
    const options = /** @type {const} */ ({ bundle: true, platform: "node", format: "esm", logLevel: "silent" });
    await build({ entryPoints: [source], outfile: program, packages: "external", ...options });
    const client = await connect({ command: process.execPath, args: [program] });
    assert.deepEqual(await client.callTool("add", { a: 1, b: 2 }), { sum: 3 });
    await client.close();
    // Optional packages that a dependency of FastMCP imports. They are not installed.
    const bundled = await build({
      entryPoints: [source],
      minify: true,
      write: false,
      external: ["effect", "sury"],
      ...options,
    });
    const size = gzipSync(bundled.outputFiles?.[0]?.contents ?? "").length;
    const installed = installSample({ name: library, isPeer: library !== "mcparley", packages }, tools);
    rows[0]?.push(String(installed.packages));
    rows[1]?.push(((installed.installed ?? 0) / 1000).toFixed(1));
    rows[2]?.push(String(Math.round(size / 1000)));
  }
  return rows;
}
