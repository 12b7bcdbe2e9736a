// @ts-check

/**
 * The shell samples that are not run from the packed packages, with the reason.
 *
 * @type {readonly { page: string; line: RegExp; reason: string }[]}
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
];

/** Returns why a line of a page is not run, or undefined if it is. @param {string} page @param {string} line */
export function reasonAgainst(page, line) {
  return notRun.find((entry) => entry.page === page && entry.line.test(line))?.reason;
}
