// @ts-check
import { tmpdir } from "node:os";
import path from "node:path";

/** @import { Command, Feature, Peer, Place } from "./types.ts" */

const both = /** @type {const} */ (["legacy", "modern"]);
const legacy = /** @type {const} */ (["legacy"]);
const onBoth = /** @type {const} */ (["stdio", "http"]);

/** @param {string} name @param {"server" | "client"} side @returns {(place: Place) => Command} */
function inNode(name, side) {
  return ({ tools, node, transport }) => {
    const file = path.join(tools, "node/matrix/peers", name, `${side}.mjs`);
    return { program: node, args: side === "server" ? [file, transport] : [file] };
  };
}

/** @param {string} environment @param {string} name @param {"server" | "client"} side @returns {(place: Place) => Command} */
function inPython(environment, name, side) {
  return ({ tools, transport }) => {
    const program = path.join(tools, environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
    const file = path.join(import.meta.dirname, "peers", name, `${side}.py`);
    return { program, args: side === "server" ? [file, transport] : [file] };
  };
}

/** @param {string} name @param {"server" | "client"} side @returns {(place: Place) => Command} */
function built(name, side) {
  return ({ tools, transport }) => {
    const program = path.join(tools, name, "bin", process.platform === "win32" ? `${side}.exe` : side);
    return { program, args: side === "server" ? [transport] : [] };
  };
}

/** Us. @type {Record<"server" | "client" | "host", (place: Place) => Command>} */
export const own = {
  host: () => ({
    program: process.execPath,
    args: [path.join(import.meta.dirname, "peers/mcparley/host.mjs")],
  }),
  server: ({ transport }) => ({
    program: process.execPath,
    args: [path.join(import.meta.dirname, "peers/mcparley/server.mjs"), transport],
  }),
  client: () => ({
    program: process.execPath,
    args: [path.join(import.meta.dirname, "peers/mcparley/client.mjs")],
  }),
};

/** @type {readonly Peer[]} */
export const peers = [
  {
    name: "@modelcontextprotocol/sdk (v1)",
    needs: "node",
    server: { transports: onBoth, revisionKinds: legacy, command: inNode("sdk-v1", "server") },
    client: { transports: onBoth, revisionKinds: legacy, command: inNode("sdk-v1", "client") },
  },
  {
    name: "@modelcontextprotocol/server and client (v2)",
    needs: "node",
    server: { transports: onBoth, revisionKinds: both, command: inNode("sdk-v2", "server") },
    client: { transports: onBoth, revisionKinds: both, command: inNode("sdk-v2", "client") },
  },
  {
    name: "tmcp",
    needs: "node",
    server: {
      transports: onBoth,
      revisionKinds: both,
      legacyRevision: "2025-06-18",
      command: inNode("tmcp", "server"),
    },
  },
  {
    name: "mcp-lite",
    needs: "node",
    server: {
      transports: ["http"],
      revisionKinds: legacy,
      lacks: {
        completion: "it has no completion",
        cancel: "handlers have no signal",
        subscriptions: "it has no subscriptions",
      },
      command: inNode("mcp-lite", "server"),
    },
  },
  {
    name: "fastmcp (TypeScript)",
    needs: "node",
    server: { transports: onBoth, revisionKinds: legacy, command: inNode("fastmcp-ts", "server") },
  },
  {
    name: "mcp-use",
    needs: "node22",
    server: { transports: ["http"], revisionKinds: both, command: inNode("mcp-use", "server") },
  },
  {
    name: "server-everything",
    needs: "node",
    server: {
      transports: onBoth,
      revisionKinds: legacy,
      names: {
        server: "mcp-servers/everything",
        add: "get-sum",
        fail: "",
        greet: "args-prompt",
        greetArguments: { city: "Ada" },
        memo: "demo://resource/static/document/architecture.md",
        memoText: "Everything",
        template: "demo://resource/dynamic/text/{resourceId}",
        otherMemo: "demo://resource/dynamic/text/1",
        otherText: "Resource 1",
        completed: "completable-prompt",
        completion: { name: "department", value: "Eng" },
        completes: "Engineering",
        slow: "trigger-long-running-operation",
        slowArguments: { duration: 0.2, steps: 4 },
        wait: "trigger-long-running-operation",
        waitArguments: { duration: 20, steps: 100 },
        cancelled: "",
        ask: "trigger-elicitation-request",
        answer: { name: "blue" },
        sample: "trigger-sampling-request",
        sampleArguments: { prompt: "What is six times seven?", maxTokens: 10 },
        change: "toggle-subscriber-updates",
      },
      command: inNode("server-everything", "server"),
    },
  },
  {
    name: "server-filesystem",
    needs: "node",
    server: {
      transports: ["stdio"],
      revisionKinds: legacy,
      names: {
        server: "secure-filesystem-server",
        add: "read_text_file",
        addArguments: { path: path.join(tmpdir(), "mcparley-interop/note.txt") },
        fail: "read_text_file",
      },
      lacks: all("it offers tools alone", [
        "prompts",
        "resources",
        "completion",
        "progress",
        "cancel",
        "elicitation",
        "sampling",
        "subscriptions",
      ]),
      command: inNode("server-filesystem", "server"),
    },
  },
  {
    name: "Inspector --cli",
    needs: "node22",
    client: {
      transports: onBoth,
      revisionKinds: both,
      lacks: all("each of its runs is one request, which asks, tells and waits for nothing", [
        "completion",
        "progress",
        "cancel",
        "elicitation",
        "sampling",
        "subscriptions",
      ]),
      command: inNode("inspector", "client"),
    },
  },
  {
    name: "mcp (Python SDK)",
    needs: "python",
    server: { transports: onBoth, revisionKinds: both, command: inPython("python", "python-sdk", "server") },
    client: { transports: onBoth, revisionKinds: both, command: inPython("python", "python-sdk", "client") },
  },
  {
    name: "fastmcp (Python)",
    needs: "python-fastmcp",
    server: {
      transports: onBoth,
      revisionKinds: both,
      lacks: { subscriptions: "it has no subscriptions" },
      command: inPython("python-fastmcp", "python-fastmcp", "server"),
    },
    client: {
      transports: onBoth,
      revisionKinds: both,
      lacks: { subscriptions: "it has no subscriptions" },
      command: inPython("python-fastmcp", "python-fastmcp", "client"),
    },
  },
  {
    name: "go-sdk",
    needs: "go",
    server: { transports: onBoth, revisionKinds: both, command: built("go-sdk", "server") },
    client: { transports: onBoth, revisionKinds: both, command: built("go-sdk", "client") },
  },
  {
    name: "rmcp",
    needs: "rust",
    server: { transports: onBoth, revisionKinds: both, command: built("rmcp", "server") },
    client: { transports: onBoth, revisionKinds: both, command: built("rmcp", "client") },
  },
];

/** @param {string} reason @param {readonly Feature[]} features @returns {Partial<Record<Feature, string>>} */
function all(reason, features) {
  return Object.fromEntries(features.map((feature) => [feature, reason]));
}
