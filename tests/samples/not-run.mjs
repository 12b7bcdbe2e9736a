// @ts-check
import { existsSync } from "node:fs";
import path from "node:path";

/**
 * The shell samples that are not run from the packed packages, with the reason. Those that need a program are run if it is installed.
 *
 * @type {readonly { page: string; line: RegExp; reason: string; programs?: readonly string[] }[]}
 */
export const notRun = [
  {
    page: "docs/start/add-to-a-host.md",
    line: /^(claude|codex|gemini) mcp add /,
    reason: "needs the program of the host; npm run check -- hosts runs it",
  },
  { page: "docs/cli/sign-in.md", line: /^mcparley (login|whoami|logout|call) /, reason: "signs in with a browser" },
  { page: "docs/auth/keycloak.md", line: /^(?!npm )/, reason: "needs Keycloak; npm run check -- keycloak runs it" },
  {
    page: "docs/serve/runtimes.md",
    line: /^(bun|deno) /,
    reason: "needs Bun or Deno; npm run check -- runtimes uses them",
  },
  { page: "docs/serve/folder.md", line: /--store redis:/, reason: "needs Redis; npm run check -- cluster runs it" },
  {
    page: "docs/cli/command.md",
    line: /corp\.example/,
    reason: "needs the certificates and the proxy of a company; tests/network runs the options",
  },
  {
    page: "docs/start/deploy-a-server.md",
    line: /^(redis-server|nginx) |REDIS_URL=|:8080\/mcp/,
    reason: "needs Redis and nginx; npm run check -- cluster runs a server with both",
    programs: ["redis-server", "nginx"],
  },
  {
    page: "docs/start/deploy-a-server.md",
    line: /^docker /,
    reason: "needs Docker; npm run check -- create runs the steps of the Dockerfile, and -- manifests checks it",
  },
];

/** Returns why a line of a page is not run, or undefined if it is. @param {string} page @param {string} line @param {string} [programPath] */
export function reasonAgainst(page, line, programPath = process.env.PATH) {
  const entry = notRun.find((one) => one.page === page && one.line.test(line));
  if (entry?.programs?.every((program) => isInstalled(program, programPath))) return undefined;
  return entry?.reason;
}

/** @param {string} program @param {string} [programPath] */
function isInstalled(program, programPath = "") {
  return programPath.split(path.delimiter).some((folder) => existsSync(path.join(folder, program)));
}
