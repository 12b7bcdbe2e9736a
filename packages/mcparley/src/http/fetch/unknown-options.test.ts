import { expect, test } from "vitest";
import { listen } from "../../node/listen.ts";
import { toNodeHandler } from "../../node/node-handler.ts";
import { createServer } from "../../server/create-server.ts";
import { toFetch } from "./to-fetch.ts";

const server = createServer({ name: "x", version: "1" });
const accepted = {
  path: "/mcp",
  allowedHosts: [],
  allowedOrigins: [],
  cors: false,
  auth: () => undefined,
  maxBody: 1000,
  bodyTimeout: 1000,
  trustProxy: "forwarded",
  keepAlive: 1000,
  closeTimeout: 1000,
  health: false,
  sessions: true,
  legacySse: false,
  events: {},
};

test("an unknown option of an endpoint is rejected, and the error names the option to use", async () => {
  const wrong = { ...accepted, auht: () => undefined };
  const error = {
    code: "invalid_definition",
    message: 'The HTTP endpoint cannot be offered: "options" has the unknown member "auht"; did you mean "auth"?',
  };
  expect(() => toFetch(server, wrong)).toThrow(expect.objectContaining(error) as Error);
  expect(() => toNodeHandler(server, wrong)).toThrow(expect.objectContaining(error) as Error);
  await expect(listen(server, { ...wrong, port: 0 })).rejects.toMatchObject(error);
});

test("all options are accepted", async () => {
  expect(toFetch(server, accepted)).toHaveProperty("fetch");
  expect(toNodeHandler(server, accepted)).toBeTypeOf("function");
  const times = { headersTimeout: 1000, requestTimeout: 1000, keepAliveTimeout: 1000 };
  const running = await listen(server, { ...accepted, ...times, port: 0, host: "127.0.0.1" });
  await running.close();
});
