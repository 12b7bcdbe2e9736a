import { expect, test } from "vitest";
import { ClientConnection } from "../../client/connect/client-connection.ts";
import type { LocalError } from "../../rpc/errors.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { type FetchStub, type SentRequest, fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { httpTransports } from "./transport.ts";
import type { HttpAuth, HttpAuthRefusal } from "./settings.ts";

/** An authorization whose challenges the test answers. */
function manualAuth() {
  const challenges: { refusal: HttpAuthRefusal; signal: AbortSignal; settle: (hasNew: boolean | Error) => void }[] = [];
  let token = 0;
  const auth: HttpAuth = {
    headers: () => Promise.resolve({ authorization: `Bearer ${token}` }),
    challenged: (refusal, signal) =>
      new Promise((resolve, reject) => {
        const settle = (hasNew: boolean | Error): void => {
          if (hasNew === true) token++;
          if (hasNew instanceof Error) reject(hasNew);
          else resolve(hasNew);
        };
        challenges.push({ refusal, signal, settle });
      }),
  };
  return { auth, challenges };
}

interface TestTransport extends FetchStub {
  clock: ReturnType<typeof fakeClock>;
  call: (idleTimeout?: number, signal?: AbortSignal) => Promise<unknown>;
}

async function openTransport(auth: HttpAuth): Promise<TestTransport> {
  const stub = fetchStub();
  const clock = fakeClock();
  const dialer = httpTransports({ url: "https://example.com/mcp", fetch: stub.fetch, clock, auth });
  const owner = { notification: () => {}, report: () => {} };
  const channel = new ClientConnection(dialer.open(), clock, owner);
  await channel.open();
  const call: TestTransport["call"] = (idleTimeout = 60_000, signal) =>
    channel
      .exchange("ping", {}, { what: "ping", idleTimeout, totalTimeout: 2 * idleTimeout, signal })
      .catch((e: unknown) => e);
  return { ...stub, clock, call };
}

const challenge = { "www-authenticate": "Bearer" };

test("concurrent refusals lead to one challenge, and each request is repeated once", async () => {
  const { auth, challenges } = manualAuth();
  const { call, next } = await openTransport(auth);
  const answers = [call(), call(), call()];
  const sent = [await next(), await next(), await next()];
  sent[0]?.status(401, challenge);
  sent[1]?.status(401, challenge);
  await flushPromises();
  challenges[0]?.settle(true);
  const repeated = [await next(), await next()];
  // This request was sent with the old token, and is refused after the new token has arrived.
  sent[2]?.status(401, challenge);
  repeated.push(await next());
  for (const { headers, json, body } of repeated) {
    expect(headers.get("authorization")).toBe("Bearer 1");
    json({ jsonrpc: "2.0", id: body.id, result: {} });
  }
  expect(await Promise.all(answers)).toEqual([{}, {}, {}]);
  expect(challenges).toHaveLength(1);
});

test("a challenge contains the refused request, its headers, and the number of repetitions", async () => {
  const { auth, challenges } = manualAuth();
  const { call, next, waiting } = await openTransport(auth);
  const answer = call();
  for (let repeated = 0; repeated < 3; repeated++) {
    (await next()).status(401, challenge);
    await flushPromises();
    expect(challenges).toHaveLength(repeated + 1);
    const [{ refusal, settle }] = challenges.slice(-1) as [(typeof challenges)[0]];
    expect(refusal).toMatchObject({ status: 401, shown: { authorization: `Bearer ${repeated}` }, repeated });
    expect(refusal.request.url.href).toBe("https://example.com/mcp");
    expect(refusal.request.server.href).toBe("https://example.com/mcp");
    expect(refusal.request.method).toBe("POST");
    settle(true);
  }
  (await next()).status(401, challenge);
  expect(await answer).toMatchObject({ code: "unauthorized" });
  expect(challenges.length).toBe(3);
  expect(waiting()).toBe(0);
});

test("a request is repeated at most 30 times after the challenges of other requests", async () => {
  const { auth, challenges } = manualAuth();
  const { call, next, waiting } = await openTransport(auth);
  const answer = call();
  let refused = await next();
  for (let repeated = 0; repeated < 30; repeated++) {
    const otherAnswer = call();
    (await next()).status(401, challenge);
    refused.status(401, challenge);
    await flushPromises();
    challenges[repeated]?.settle(true);
    const both = [await next(), await next()];
    for (const { body, json } of both) {
      if (body.id !== refused.body.id) json({ jsonrpc: "2.0", id: body.id, result: {} });
    }
    refused = both.find(({ body }) => body.id === refused.body.id) ?? refused;
    expect(await otherAnswer).toEqual({});
  }
  refused.status(401, challenge);
  await flushPromises();
  expect(challenges).toHaveLength(30);
  expect(waiting()).toBe(0);
  expect(await answer).toMatchObject({ code: "unauthorized" });
});

test("a request fails if the authorization has no new credentials", async () => {
  const { auth, challenges } = manualAuth();
  const { call, next, waiting } = await openTransport(auth);
  const answer = call();
  (await next()).status(401, challenge);
  await flushPromises();
  challenges[0]?.settle(false);
  expect(await answer).toMatchObject({ code: "unauthorized" });
  expect(waiting()).toBe(0);
});

test("a 403 without a challenge requests no authorization", async () => {
  const { auth, challenges } = manualAuth();
  const { call, next } = await openTransport(auth);
  const answer = call();
  (await next()).status(403);
  expect(await answer).toMatchObject({ code: "unauthorized" });
  expect(challenges).toEqual([]);
});

test("a failed sign-in rejects all requests that wait for it, and the next request can sign in again", async () => {
  const { auth, challenges } = manualAuth();
  const { call, next, waiting } = await openTransport(auth);
  const first = call();
  (await next()).status(401, challenge);
  await flushPromises();
  const later = call();
  await flushPromises();
  expect(waiting()).toBe(0);
  const failure = new Error("nobody signed in") as LocalError;
  challenges[0]?.settle(failure);
  for (const answer of [first, later]) expect(String(await answer)).toContain("nobody signed in");
  expect(waiting()).toBe(0);
  const again = call();
  (await next()).status(401, challenge);
  await flushPromises();
  expect(challenges).toHaveLength(2);
  challenges[1]?.settle(true);
  const { json, body } = await next();
  json({ jsonrpc: "2.0", id: body.id, result: {} });
  expect(await again).toEqual({});
});

test("the time limits of all waiting requests are stopped during a sign-in, and continue after it", async () => {
  const { auth, challenges } = manualAuth();
  const { call, next, clock } = await openTransport(auth);
  const refused = call(1_000);
  (await next()).status(401, challenge);
  await flushPromises();
  const held = call(1_000);
  await clock.advance(3_600_000);
  challenges[0]?.settle(true);
  const sent = [await next(), await next()].toSorted((a, b) => Number(a.body.id) - Number(b.body.id));
  const [first, second] = sent as [SentRequest, SentRequest];
  await clock.advance(999);
  first.json({ jsonrpc: "2.0", id: first.body.id, result: {} });
  expect(await refused).toEqual({});
  await clock.advance(1);
  expect(await held).toMatchObject({ code: "timeout" });
  second.status(202);
});

test("a sign-in is aborted when no call waits for it", async () => {
  const { auth, challenges } = manualAuth();
  const { call, next } = await openTransport(auth);
  const givingUp = [new AbortController(), new AbortController()];
  const answers = givingUp.map(({ signal }) => call(1_000, signal));
  (await next()).status(401, challenge);
  (await next()).status(401, challenge);
  await flushPromises();
  const [{ signal, settle }] = challenges as [(typeof challenges)[0]];
  givingUp[0]?.abort();
  await flushPromises();
  expect(signal.aborted).toBe(false);
  givingUp[1]?.abort();
  await flushPromises();
  expect(signal.aborted).toBe(true);
  settle(false);
  for (const answer of answers) expect(await answer).toMatchObject({ code: "aborted" });
});
