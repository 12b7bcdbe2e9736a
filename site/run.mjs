// @ts-check
import path from "node:path";
import { installLocked } from "../scripts/npm.mjs";
import { readOptions } from "../tests/support/runner.mjs";

const help = `npm run check -- site [options]

Builds the documentation site from docs/ and the docstrings into site/dist. Installs its tools into site/node_modules, and
reports "not run" if they cannot be installed.

  --url URL        the address at which the site will be served; default: the root of any host
  --serve          then serve the site on loopback until Ctrl+C
  --port N         the port for --serve (4173)
  --check          then check links, and open pages in Chromium: axe, network, screenshots in site/.screenshots
`;

const { url, serve, port, check } = readOptions(help, {
  url: { type: "string" },
  serve: { type: "boolean", default: false },
  port: { type: "string", default: "4173" },
  check: { type: "boolean", default: false },
});
const reason = installLocked(import.meta.dirname, import.meta.dirname);
if (reason === undefined) await build();
else process.stdout.write(`not run  The tools of the site cannot be installed: ${reason}\n`);

async function build() {
  // These need the packages that were just installed.
  const { baseOf, buildSite, built } = await import("./scripts/build.mjs");
  const base = baseOf(url);
  await buildSite({ url });
  process.stdout.write(`built    ${path.relative(process.cwd(), built)}\n`);
  if (check) {
    const { checkSite } = await import("./scripts/report.mjs");
    const screenshots = path.join(import.meta.dirname, ".screenshots");
    process.exitCode = await checkSite({ folder: built, base, screenshots });
  }
  if (serve) {
    const { serveSite } = await import("./scripts/serve.mjs");
    const served = await serveSite(built, { port: Number(port), base });
    process.stdout.write(`The site is served at ${served.url} until Ctrl+C.\n`);
  }
}
