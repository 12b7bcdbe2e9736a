// @ts-check
import path from "node:path";
import { chromiumArguments } from "../../support/chromium.mjs";

/**
 * @import { Command, Feature, TransportKind } from "../matrix/types.ts"
 *
 * The program of a runtime, and the project with the installed packages.
 * @typedef {{ program: string; project: string }} Place
 *
 * A runtime as a client or as a server, over one transport.
 * @typedef {object} Side
 * @property {TransportKind} transport
 * @property {string} by the functions that start it, as the table shows them
 * @property {(place: Place, revision: string) => Command} command
 * @property {(revision: string) => Partial<Record<Feature, string>>} [lacks] the features that it lacks, with the reason
 *
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} title
 * @property {readonly Side[]} clients
 * @property {readonly Side[]} servers
 * @property {readonly string[]} [flags] arguments to run a program that uses files. Undefined if the runtime has no files.
 */

const matrix = "matrix/peers/mcparley";
/** The first revision with elicitation. */
const elicitation = "2025-06-18";
const modern = "2026-07-28";
const first = "2024-11-05";

/** The revisions in the order of the columns. */
export const revisions = [first, "2025-03-26", elicitation, "2025-11-25", modern];

/**
 * Returns the word with which a server is started. 2024-11-05 has HTTP+SSE.
 *
 * @param {TransportKind} transport
 * @param {string} revision
 */
export function wordFor(transport, revision) {
  return transport === "http" && revision === first ? "sse" : transport;
}

/** Returns the features that a revision lacks, with the reason. @param {string} revision @returns {Partial<Record<Feature, string>>} */
export function lackedBy(revision) {
  return revision < elicitation ? { elicitation: `${revision} has no elicitation` } : {};
}

/**
 * A file of the project, run by a runtime.
 *
 * @param {string} file
 * @param {(transport: TransportKind, isServer: boolean) => readonly string[]} [flags]
 */
function program(file, flags = () => []) {
  return (/** @type {TransportKind} */ transport, /** @type {boolean} */ isServer) =>
    /** @param {Place} place @param {string} revision @returns {Command} */
    ({ program, project }, revision) => ({
      program,
      args: [
        ...flags(transport, isServer),
        path.join(project, file),
        ...(isServer ? [wordFor(transport, revision)] : []),
      ],
    });
}

/** @param {ReturnType<typeof program>} started @returns {Side[]} */
const clientsOf = (started) => [
  { transport: "http", by: "connect(url)", command: started("http", false) },
  { transport: "stdio", by: "connect({ command })", command: started("stdio", false) },
];

/** @param {ReturnType<typeof program>} started @returns {Side[]} */
const serversOf = (started) => [
  { transport: "http", by: "listen", command: started("http", true) },
  { transport: "stdio", by: "serveStdio", command: started("stdio", true) },
];

/** The smallest permissions of our programs, as docs/serve/runtimes.md lists them. @param {TransportKind} transport @param {boolean} isServer */
function denoFlags(transport, isServer) {
  const forStdio = isServer ? [] : ["--allow-run", "--allow-env"];
  return ["run", "--no-prompt", ...(transport === "http" ? ["--allow-net=127.0.0.1"] : forStdio)];
}

/**
 * A bundled Worker, started by a program on the Node that runs this script. An assignment follows the arguments of a client.
 *
 * @param {string} worker
 * @param {(revision: string) => string[]} words
 */
function inWorkerd(worker, words) {
  return (/** @type {Place} */ { program, project }, /** @type {string} */ revision) => ({
    program: process.execPath,
    args: [
      path.join(project, "runtimes/start-workerd.mjs"),
      program,
      path.join(project, "built", worker),
      ...words(revision),
    ],
  });
}

/** Reasons why a Worker without sessions cannot do something for a client of a legacy revision. @param {string} revision */
function lackedByWorker(revision) {
  const none = lackedBy(revision);
  if (revision >= modern) return none;
  const reason = "it needs a session, which a Worker has only in a Durable Object";
  return { elicitation: reason, ...none, cancel: reason, sampling: reason, subscriptions: reason };
}

/** @param {Place} place @returns {Command} */
const inPage = ({ program, project }) => ({
  program: process.execPath,
  args: [path.join(project, "runtimes/open-page.mjs"), program, path.join(project, "built"), ...chromiumArguments],
});

const client = `${matrix}/client.mjs`;
const server = `${matrix}/server.mjs`;
const fetchServer = "runtimes/fetch-server.mjs";

/** @param {string} version @returns {Runtime} */
const node = (version) => ({
  name: `node${version}`,
  title: `Node ${version}`,
  clients: clientsOf(program(client)),
  servers: serversOf(program(server)),
  flags: [],
});

/** @type {readonly Runtime[]} */
export const runtimes = [
  ...["20", "22", "24", "26"].map(node),
  {
    name: "bun",
    title: "Bun",
    clients: clientsOf(program(client)),
    servers: [
      { transport: "http", by: "toFetch, Bun.serve", command: program(fetchServer)("http", true) },
      ...serversOf(program(server)),
    ],
    flags: [],
  },
  {
    name: "deno",
    title: "Deno",
    clients: clientsOf(program(client, denoFlags)),
    servers: [
      { transport: "http", by: "toFetch, Deno.serve", command: program(fetchServer, denoFlags)("http", true) },
      ...serversOf(program(server, denoFlags)),
    ],
    flags: ["run", "--no-prompt", "--allow-read", "--allow-write", "--allow-env", "--allow-sys=uid"],
  },
  {
    name: "workerd",
    title: "workerd",
    clients: [{ transport: "http", by: "connect(url)", command: inWorkerd("client-worker.js", () => []) }],
    servers: [
      // Without sessions there is no HTTP+SSE. Clients of 2024-11-05 are served over Streamable HTTP.
      { transport: "http", by: "toFetch", command: inWorkerd("worker.js", () => ["http"]), lacks: lackedByWorker },
      {
        transport: "http",
        by: "toFetch, Durable Object",
        command: inWorkerd("durable-worker.js", (revision) => [wordFor("http", revision)]),
      },
    ],
  },
  {
    name: "chromium",
    title: "Chromium",
    clients: [{ transport: "http", by: "connect(url)", command: inPage }],
    // The page is the client, and starts the server in a Web Worker.
    servers: [{ transport: "port", by: "Web Worker", command: inPage }],
  },
];
