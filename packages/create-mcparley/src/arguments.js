// @ts-check
import path from "node:path";
import { parseArgs } from "node:util";
import { CreateError } from "./create.js";

/** @import { Project } from "./create.js" */
/** @typedef {Project & { ask: boolean; help: boolean }} Arguments */

const defaultFolder = "mcp-server";

export const help = `npm create mcparley@latest [FOLDER] [-- OPTIONS]

Writes a project with an MCP server in TypeScript: a tool, a prompt, a resource, a test, a Dockerfile, a workflow
for GitHub, and the configuration of hosts. It overwrites nothing and installs nothing.

  FOLDER         the folder of the project; it must be empty or not exist (${defaultFolder})
  --stdio        a server that a host starts (the default)
  --http         a server over HTTP
  --name NAME    the name of the package and of the server (the name of the folder)
  --ask          asks for the folder, the name and the transport
  -h, --help     shows this text
`;

const options = /** @type {const} */ ({
  stdio: { type: "boolean", default: false },
  http: { type: "boolean", default: false },
  name: { type: "string" },
  ask: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
});

/** Reads the words of the command line. Throws `CreateError` if they are wrong. @param {readonly string[]} words @returns {Arguments} */
export function readArguments(words) {
  const { values, positionals } = parse(words);
  if (values.stdio && values.http) throw new CreateError("Choose one of --stdio and --http.");
  if (positionals.length > 1) {
    throw new CreateError(`One folder is needed; got ${positionals.join(", ")}. Put quotes around a name with spaces.`);
  }
  const folder = positionals[0] ?? defaultFolder;
  const name = values.name ?? path.basename(path.resolve(folder));
  return { folder, name, transport: values.http ? "http" : "stdio", ask: values.ask, help: values.help };
}

/** @param {readonly string[]} words */
function parse(words) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (cause) {
    const [sentence = ""] = cause instanceof Error ? cause.message.split(". ") : [];
    throw new CreateError(
      `${sentence.replace(/\.$/, "")}. Options: ${Object.keys(options)
        .map((name) => `--${name}`)
        .join(", ")}.`,
      {
        cause,
      },
    );
  }
}

/** Returns the text to print when the project is written. @param {Project} project @param {string} from the current folder */
export function nextSteps({ folder, name, transport }, from) {
  const inside = path.relative(from, path.resolve(folder)) || ".";
  const relative = inside.startsWith("..") ? path.resolve(folder) : inside;
  const enter = relative === "." ? [] : [`  cd ${/^[\w./\\-]+$/.test(relative) ? relative : JSON.stringify(relative)}`];
  const start =
    transport === "http"
      ? [
          "  npm run dev",
          `  npx mcparley add http://127.0.0.1:3000/mcp --name ${name} --to claude-code  (in another terminal)`,
        ]
      : ["  npm run build", `  npx mcparley add --name ${name} --to claude-code -- node dist/main.js`];
  return [
    "",
    `Wrote ${name} to ${path.resolve(folder)}. Next:`,
    "",
    ...enter,
    "  npm install",
    "  npm test",
    ...start,
    "",
    "The last command adds the server to Claude Code. Other hosts are vscode, cursor, codex, gemini-cli and zed.",
    "",
  ].join("\n");
}
