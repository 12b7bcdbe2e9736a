import { describe, expect, test, vi } from "vitest";
import { openPeer, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";

const legacy = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const modern = "2026-07-28";

/** Calls a tool that throws an error with a code. Returns the error that arrived, and what `onError` received. */
async function thrown(version: string, code: number) {
  const onError = vi.fn<(error: unknown) => void>();
  const error = new ProtocolError(code, "own", { data: { a: 1 } });
  const fail = tool({
    call: () => {
      throw error;
    },
  });
  const server = createServer({ name: "x", version: "1", tools: { fail }, onError });
  const peer = await openPeer(server, version);
  const { error: received } = await peer.request("tools/call", { name: "fail" });
  return { received, error, onError };
}

describe("an error code that a handler throws", () => {
  test.each(
    legacy.flatMap((version) => [-32000, -32019, -32020, -32050, -32099, 403].map((code) => [version, code] as const)),
  )("arrives unchanged on %s: %i", async (version, code) => {
    const { received, onError } = await thrown(version, code);
    expect(received).toEqual({ code, message: "own", data: { a: 1 } });
    expect(onError).not.toHaveBeenCalled();
  });

  test.each([-32000, -32019, -32020, -32021, -32022, -32100, 403])(
    "arrives unchanged on 2026-07-28 if it is defined or free: %i",
    async (code) => {
      const { received, onError } = await thrown(modern, code);
      expect(received).toEqual({ code, message: "own", data: { a: 1 } });
      expect(onError).not.toHaveBeenCalled();
    },
  );

  test.each([-32023, -32042, -32050, -32099])(
    "is replaced and reported on 2026-07-28 if it is reserved: %i",
    async (code) => {
      const { received, error, onError } = await thrown(modern, code);
      expect(received).toEqual({ code: -32600, message: "own", data: { a: 1 } });
      expect(onError).toHaveBeenCalledOnce();
      const reported = onError.mock.calls[0]?.[0] as TypeError;
      expect(reported.cause).toBe(error);
      expect(reported.message).toContain(`reserves the error code ${code}, so -32600 was sent`);
    },
  );
});

test("a missing client capability is an invalid request on a revision without a code for it", async () => {
  const ask = tool({ call: async (_, { roots }) => (await roots()).length });
  const peer = await rawPeer(createServer({ name: "x", version: "1", tools: { ask } }));
  await openSession(peer, "2025-11-25");
  expect((await peer.request("tools/call", { name: "ask" })).error.code).toBe(-32600);
});
