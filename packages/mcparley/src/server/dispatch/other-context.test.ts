import { expect, expectTypeOf, test } from "vitest";
import { openPeer } from "mcparley-tests/support/raw-peer.ts";
import type { Context } from "../core/context.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";

// As a handler in JavaScript.
type AnyContext = Record<string, any>;
const named = { name: "x", version: "1" };

async function errorsOf(handler: (ctx: AnyContext) => unknown, version: string): Promise<unknown[]> {
  const errors: unknown[] = [];
  const t = tool({ call: (_, ctx) => void handler(ctx as never) });
  const server = createServer({ ...named, tools: { t }, onError: (error) => errors.push(error) });
  const { error } = await (await openPeer(server, version)).request("tools/call", { name: "t" });
  expect(error).toMatchObject({ message: "Internal error" });
  return errors;
}

test.each<[string, (ctx: AnyContext) => unknown, string]>([
  ["sendNotification", (ctx) => ctx.sendNotification({ method: "a" }), "ctx.notify, ctx.log or ctx.progress"],
  ["sendRequest", ({ sendRequest }) => sendRequest({ method: "roots/list" }), "ctx.elicit, ctx.sample or ctx.roots"],
  ["elicitInput", (ctx) => ctx.elicitInput?.({ message: "?" }), "ctx.elicit({ message, schema })"],
  ["reportProgress", ({ reportProgress }) => reportProgress({ progress: 1 }), "ctx.progress(done, total)"],
  ["mcpReq", (ctx) => ctx.mcpReq.notify({ method: "a" }), "ctx.elicit, ctx.signal or ctx.log"],
  ["authInfo", (ctx) => ctx.authInfo?.scopes, "ctx.principal"],
  ["sessionId", ({ sessionId }) => sessionId, "ctx.session"],
  ["debug", (ctx) => ctx.debug("a"), "ctx.log.debug(data)"],
  ["info", (ctx) => ctx.info("a"), "ctx.log.info(data)"],
  ["warn", ({ warn }) => warn("a"), "ctx.log.warning(data)"],
  ["warning", (ctx) => ctx.warning("a"), "ctx.log.warning(data)"],
  ["error", (ctx) => ctx.error?.("a"), "ctx.log.error(data)"],
  ["streamContent", (ctx) => ctx.streamContent([]), "ctx.progress or ctx.notify, and return all content at the end"],
])("%s of other libraries is an error with the name to use", async (name, handler, cure) => {
  for (const version of ["2026-07-28", "2025-11-25", "2024-11-05"])
    expect(await errorsOf(handler, version)).toMatchObject([
      { name: "TypeError", message: `The context has no "${name}". Use ${cure}.` },
    ]);
});

test.each([
  ["warn", "warning"],
  ["trace", "debug"],
  ["fatal", "critical"],
])("ctx.log.%s of other libraries is an error with the name to use", async (name, level) => {
  const message = `ctx.log has no "${name}". Use ctx.log.${level}(data).`;
  expect(await errorsOf((ctx) => ctx.log[name]("a"), "2026-07-28")).toMatchObject([{ name: "TypeError", message }]);
});

test("the context of a server can have such a name", async () => {
  const seen: unknown[] = [];
  const names = { sessionId: "s1", sendRequest: 5, mcpReq: undefined, info: "i", error: undefined };
  const server = createServer({
    ...named,
    context: () => names,
    tools: {
      t: tool({
        call: (_, ctx: AnyContext) => void seen.push({ ...ctx }, ctx.sessionId, ctx.sendRequest, ctx.mcpReq),
      }) as never,
    },
  });
  const peer = await openPeer(server, "2026-07-28");
  for (let call = 0; call < 2; call++) await peer.request("tools/call", { name: "t" });
  const expected = [expect.objectContaining(names), "s1", 5, undefined];
  expect(seen).toEqual([...expected, ...expected]);
});

test("a name that no library has is undefined", async () => {
  const seen: unknown[] = [];
  const t = tool({
    call: (_, ctx) => void seen.push((ctx as unknown as AnyContext)["other"], Object.prototype.toString.call(ctx)),
  });
  const peer = await openPeer(createServer({ ...named, tools: { t } }), "2026-07-28");
  await peer.request("tools/call", { name: "t" });
  expect(seen).toEqual([undefined, "[object Object]"]);
});

test("a context that a test writes by hand needs only the members that exist", () => {
  type Names =
    | "sendNotification"
    | "sendRequest"
    | "elicitInput"
    | "reportProgress"
    | "mcpReq"
    | "authInfo"
    | "sessionId"
    | "streamContent";
  const mock = (existing: Omit<Context, Names>): Context => existing;
  expectTypeOf(mock).returns.toEqualTypeOf<Context>();
});
