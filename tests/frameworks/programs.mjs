// @ts-check
import path from "node:path";

/**
 * A program of `examples/frameworks`, with its packages and its runtime.
 *
 * @typedef {object} Program
 * @property {string} name for `--only`
 * @property {string} file the program, for the page
 * @property {readonly string[]} packages the packages that it imports, in the versions of the example's manifest
 * @property {"node" | "bun" | "deno" | "workerd"} runtime
 * @property {string} [types] the package of global types (default: `node`)
 * @property {string} [path] the path of the endpoint (default: `/mcp`)
 * @property {boolean} [tls] whether it is served over HTTP/2 with TLS
 * @property {boolean} [compresses] whether it compresses other responses than event streams
 * @property {number} [status] with which it ends on SIGTERM (default: 0)
 * @property {readonly string[]} [build] the arguments of Node that build it
 * @property {readonly string[]} [start] the arguments of Node that start it (default: the file, by tsx)
 * @property {Partial<Record<"modern" | "legacy", readonly string[]>>} [lacks] the checks that the platform cannot pass; the page of the platform has the reasons
 */

const next = path.join("..", "node_modules", "next", "dist", "bin", "next");

/** @type {readonly Program[]} */
export const programs = [
  {
    name: "express",
    file: "express.ts",
    packages: ["express", "compression", "@types/express", "@types/compression"],
    runtime: "node",
    compresses: true,
  },
  { name: "fastify", file: "fastify.ts", packages: ["fastify"], runtime: "node" },
  {
    name: "koa",
    file: "koa.ts",
    packages: ["koa", "@koa/router", "@koa/bodyparser", "@types/koa"],
    runtime: "node",
  },
  {
    name: "hono",
    file: "hono.ts",
    packages: ["hono", "@hono/node-server"],
    runtime: "node",
    path: "/api/mcp",
    compresses: true,
  },
  { name: "h3", file: "h3.ts", packages: ["h3"], runtime: "node" },
  {
    name: "next",
    file: "app/api/mcp/route.ts",
    packages: ["next", "react", "react-dom", "@types/react", "typescript"],
    runtime: "node",
    path: "/api/mcp",
    compresses: true,
    status: 143,
    build: [next, "build"],
    start: [next, "start"],
  },
  { name: "http2", file: "http2.ts", packages: [], runtime: "node", tls: true },
  {
    name: "workers",
    file: "worker.ts",
    packages: [],
    runtime: "workerd",
    // workerd ends on SIGTERM when its responses are complete, and does not notify the Worker, which could end its streams.
    lacks: { modern: ["listen", "stop"], legacy: ["elicit", "cancel", "listen", "end"] },
  },
  { name: "bun", file: "bun.ts", packages: ["@types/bun"], types: "bun", runtime: "bun" },
  { name: "deno", file: "deno.ts", packages: ["@types/deno"], types: "deno", runtime: "deno" },
];
