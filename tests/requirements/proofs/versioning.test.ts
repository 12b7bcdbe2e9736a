import { expect } from "vitest";
import { LocalError, MetaKey, forgetRevisions } from "../library.ts";
import { proves } from "../proves.ts";
import { isRequest } from "../../support/raw-message.ts";
import { echo, gotPrompt, requested, textOf } from "../world/subjects.ts";
import { discoverResult, initializeResult } from "../world/world.ts";

const legacyVersion = "2025-11-25";
const supportedVersions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const ofVersion = (version: unknown): { meta: Record<string, unknown> } => ({
  meta: { [MetaKey.protocolVersion]: version },
});

proves("versioning.request.declared", async (world) => {
  const { client, server } = await world.connect();
  await requested(client, server);
  await client.notify("notifications/of-our-own");
  for (const { params } of server.received.filter(isRequest)) {
    expect(params._meta).toMatchObject({ [MetaKey.protocolVersion]: world.version });
  }
});

proves("versioning.unsupported.refused", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  for (const version of ["1900-01-01", "2099-01-01", "2025-11-25", "2024-11-05", ""]) {
    const { error } = await peer.request("tools/list", {}, ofVersion(version));
    expect(error.code).toBe(-32022);
  }
});

proves("versioning.unsupported.lists", async (world) => {
  const peer = await world.serve();
  const { error } = await peer.request("server/discover", {}, ofVersion("1900-01-01"));
  expect(error.data).toEqual({ supported: supportedVersions, requested: "1900-01-01" });
});

proves("versioning.unsupported.retried", async (world) => {
  const { connecting, server } = world.dial();
  const data = { supported: ["1999-01-01", legacyVersion], requested: world.version };
  server.refuse(await server.request("server/discover"), { code: -32022, message: "Unsupported", data });
  const request = await server.request("initialize");
  expect(request.params.protocolVersion).toBe(legacyVersion);
  server.answer(request, initializeResult(legacyVersion));
  expect((await connecting).server.revision).toBe(legacyVersion);
});

proves("versioning.unsupported.surfaced", async (world) => {
  const { connecting, server } = world.dial();
  connecting.catch(() => {});
  const data = { supported: ["1999-01-01"], requested: world.version };
  server.refuse(await server.request("server/discover"), { code: -32022, message: "Unsupported", data });
  await expect(connecting).rejects.toMatchObject({ code: "unsupported_revision" });
  await expect(connecting).rejects.toThrow("1999-01-01");
});

proves("versioning.discover.implemented", async (world) => {
  const peer = await world.serve();
  expect((await peer.request("server/discover")).result).toBeDefined();
});

proves("versioning.discover.result", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const { result } = await peer.request("server/discover");
  expect(result).toMatchObject({ supportedVersions, capabilities: { tools: { listChanged: true } } });
});

proves("versioning.discover.server-info", async (world) => {
  const peer = await world.serve({ name: "mine", version: "3.0.0" });
  const { result } = await peer.request("server/discover");
  expect(result._meta).toEqual({ [MetaKey.serverInfo]: { name: "mine", version: "3.0.0" } });
});

proves("versioning.discover.optional", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  expect(textOf(await peer.request("tools/call", { name: "echo", arguments: { a: 1 } }))).toBe('{"a":1}');
});

proves("versioning.discover.called", async (world) => {
  const { client, server } = await world.connect();
  expect(server.received.map(({ method }) => method)).toEqual(["server/discover"]);
  expect(client.server.capabilities.tools).toEqual({ listChanged: true });
});

proves("versioning.discover.info-not-relied-on", async (world) => {
  for (const info of [undefined, { name: "x".repeat(1_000), version: "0" }, { name: 5 }, "a server"]) {
    const answers = {
      "server/discover": () => ({ ...discoverResult([world.version]), _meta: { [MetaKey.serverInfo]: info } }),
    };
    const { client, server } = await world.connect({}, { answers });
    const { request, outcome } = await requested(client, server);
    server.answer(request, gotPrompt);
    await outcome;
  }
});

proves("versioning.dual-era.served", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  expect((await peer.request("tools/list")).result.resultType).toBe("complete");
  const { result } = await peer.initialize({ protocolVersion: legacyVersion });
  expect(result.protocolVersion).toBe(legacyVersion);
});

proves("versioning.dual-era.by-opening", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  await peer.initialize({ protocolVersion: legacyVersion });
  expect((await peer.request("tools/list")).result).toHaveProperty("resultType");
  if (world.isHttp) return;
  expect((await peer.request("tools/list", {}, { bare: true })).result).not.toHaveProperty("resultType");
});

proves("versioning.dual-era.concurrently", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const call = { name: "echo", arguments: { kind: "modern" } };
  await peer.initialize({ protocolVersion: legacyVersion });
  const headers = { "mcp-protocol-version": legacyVersion };
  const [modern, legacy] = await Promise.all([
    peer.request("tools/call", call),
    peer.request("tools/call", { ...call, arguments: { kind: "legacy" } }, { bare: true, headers }),
  ]);
  expect(textOf(modern)).toEqual('{"kind":"modern"}');
  expect(textOf(legacy)).toEqual('{"kind":"legacy"}');
});

proves("versioning.detect.modern", async (world) => {
  const { connecting, server } = world.dial();
  const request = await server.request("server/discover");
  expect(request.params._meta).toMatchObject({ [MetaKey.protocolVersion]: world.version });
  server.answer(request, discoverResult([legacyVersion, world.version]));
  expect((await connecting).server).toMatchObject({ revision: world.version, revisionKind: "modern" });
  expect(server.received.map(({ method }) => method)).toEqual(["server/discover"]);
});

proves("versioning.detect.any-error", async (world) => {
  for (const code of [-32601, -32602, -32600, -32603, -32000, 1, 0]) {
    forgetRevisions();
    const { connecting, server } = world.dial();
    server.refuse(await server.request("server/discover"), { code, message: "What?" });
    server.answer(await server.request("initialize"), initializeResult(legacyVersion));
    expect((await connecting).server.revisionKind).toBe("legacy");
  }
});

proves("versioning.detect.silence", async (world) => {
  const { connecting, server } = world.dial({ probeTimeout: 2_000 });
  await server.request("server/discover");
  await world.clock.advance(2_000);
  server.answer(await server.request("initialize"), initializeResult(legacyVersion));
  expect((await connecting).server.revisionKind).toBe("legacy");
});

proves("versioning.detect.recognised-error", async (world) => {
  for (const code of [-32020, -32021, -32022]) {
    forgetRevisions();
    const { connecting, server } = world.dial();
    connecting.catch(() => {});
    const data = { supported: ["2099-01-01"], requested: world.version, requiredCapabilities: {} };
    server.refuse(await server.request("server/discover"), { code, message: "A modern refusal", data });
    await expect(connecting).rejects.toThrow();
    expect(server.received.map(({ method }) => method)).toEqual(["server/discover"]);
  }
});

proves("versioning.detect.http-body", async (world) => {
  for (const body of ["", "Bad Request", "{}", '{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"}}']) {
    forgetRevisions();
    const { connecting, server } = world.dial(
      {},
      {
        answers: { initialize: () => initializeResult(legacyVersion) },
        http: {
          intercept(request) {
            if (request.body.method !== "server/discover") return false;
            request.text(body, { status: 400 });
            return true;
          },
        },
      },
    );
    expect((await connecting).server.revisionKind).toBe("legacy");
    expect(server.received.some(({ method }) => method === "initialize")).toBe(true);
  }
});

proves("versioning.detect.http-status", async (world) => {
  for (const status of [400, 404, 405, 406, 415, 422]) {
    forgetRevisions();
    const { connecting } = world.dial(
      {},
      {
        answers: { initialize: () => initializeResult(legacyVersion) },
        http: {
          intercept(request) {
            if (request.body.method !== "server/discover") return false;
            request.status(status);
            return true;
          },
        },
      },
    );
    expect((await connecting).server.revisionKind).toBe("legacy");
  }
});

proves("versioning.detect.cached", async (world) => {
  let isLost = false;
  const { connecting, server } = world.dial(
    {},
    {
      answers: { initialize: () => initializeResult(legacyVersion) },
      http: {
        intercept(request) {
          if (request.body.method !== "prompts/get" || isLost) return false;
          isLost = true;
          request.status(404);
          return true;
        },
      },
    },
  );
  server.refuse(await server.request("server/discover"), { code: -32601, message: "Method not found" });
  const client = await connecting;
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  await outcome;
  const opened = server.received.filter(({ method }) => method === "server/discover" || method === "initialize");
  expect(opened.map(({ method }) => method)).toEqual(["server/discover", "initialize", "initialize"]);
});

proves("versioning.detect.cached-for-process", async (world) => {
  const { connecting, server } = world.dial();
  server.refuse(await server.request("server/discover"), { code: -32601, message: "Method not found" });
  server.answer(await server.request("initialize"), initializeResult(legacyVersion));
  const client = await connecting;
  for (let count = 0; count < 3; count++) {
    const { request, outcome } = await requested(client, server);
    server.answer(request, gotPrompt);
    await outcome;
  }
  expect(server.received.filter(({ method }) => method === "server/discover").length).toBe(1);
});

proves("versioning.modern-only.client-probes", async (world) => {
  const { connecting, server } = world.dial({ revision: world.version });
  connecting.catch(() => {});
  server.refuse(await server.request("server/discover"), { code: -32601, message: "Method not found" });
  await expect(connecting).rejects.toSatisfy(
    (error) => error instanceof LocalError && error.code === "unsupported_revision",
  );
  await expect(connecting).rejects.toThrow(world.version);
});

proves("versioning.modern-only.names-versions", async (world) => {
  const peer = await world.serve({ tools: { echo }, revisions: [world.version] });
  const clientInfo = { name: "raw", version: "1" };
  for (const protocolVersion of ["2025-11-25", "2024-11-05", world.version]) {
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const headers = { "mcp-protocol-version": undefined, "mcp-method": undefined } as never;
    const { error } = await peer.request("initialize", params, { bare: true, headers });
    expect(error.code).toBe(-32022);
    expect(error.message).toContain(`Supported: ${world.version}.`);
    expect(error.data).toEqual({ supported: [world.version], requested: protocolVersion });
  }
  expect((await peer.request("server/discover")).result.supportedVersions).toEqual([world.version]);
});
