// @ts-check
import path from "node:path";
import { baseOf, buildSite, built } from "./build.mjs";
import { checkSite } from "./report.mjs";
import { serveSite } from "./serve.mjs";

/**
 * Builds the site, then checks and serves it. Its argument is the JSON of the options of `npm run site`.
 *
 * @type {{ url?: string, check: boolean, serve: boolean, port: string }}
 */
const { url, check, serve, port } = JSON.parse(process.argv[2] ?? "{}");

const base = baseOf(url);
await buildSite({ url });
process.stdout.write(`built    ${path.relative(process.cwd(), built)}\n`);
if (check) {
  const screenshots = path.join(import.meta.dirname, "../.screenshots");
  process.exitCode = await checkSite({ folder: built, base, screenshots });
}
if (serve) {
  const served = await serveSite(built, { port: Number(port), base });
  process.stdout.write(`The site is served at ${served.url} until Ctrl+C.\n`);
}
