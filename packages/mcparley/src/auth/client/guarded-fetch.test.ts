import { describe, expect, test } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import { fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { makeGuardedFetch } from "./guarded-fetch.ts";

function guarded(allowPrivate = false) {
  const stub = fetchStub();
  const clock = fakeClock();
  return { ...stub, clock, fetch: makeGuardedFetch({ allowPrivate, fetch: stub.fetch, clock }) };
}

describe("the URLs of authorization requests", () => {
  test.each([
    ["http://as.example/", "must be https"],
    ["ftp://as.example/", "must be https"],
    ["https://user:pass@as.example/", "a user or a password"],
    ["https://10.0.0.1/", "a private network"],
    ["https://169.254.169.254/latest/meta-data", "a private network"],
    ["https://[::ffff:10.0.0.1]/", "a private network"],
    ["http://localhost:8080/", "a private network"],
    ["https://vault.internal/", "a private network"],
  ])("refuses %s: %s", async (url, why) => {
    const { fetch, waiting } = guarded();
    const error = await fetch(url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "forbidden_url", message: expect.stringContaining(why) });
    expect(String(error)).not.toContain("pass@");
    expect(waiting()).toBe(0);
  });

  test.each(["https://10.0.0.1/", "http://localhost:8080/", "http://127.0.0.1:1/"])(
    "accepts %s if the MCP server is on a private network too",
    async (url) => {
      const { fetch, next } = guarded(true);
      const answer = fetch(url);
      (await next()).json({ ok: true });
      expect(await (await answer).json()).toEqual({ ok: true });
    },
  );
});

describe("redirects", () => {
  test("are followed by a GET within the origin", async () => {
    const { fetch, next } = guarded();
    const answer = fetch("https://as.example/a");
    (await next()).status(302, { location: "/b" });
    const second = await next();
    expect(second.url).toBe("https://as.example/b");
    second.json({});
    expect((await answer).status).toBe(200);
  });

  test.each([
    ["another origin", "GET", "https://other.example/"],
    ["a private address", "GET", "https://10.0.0.1/"],
    ["nowhere", "GET", "http://"],
    ["the same origin with a user in the URL", "GET", "https://user@as.example/"],
    ["the same origin with a password in the URL", "GET", "https://:secret@as.example/"],
    ["the same origin after a POST, because it would send the credentials again", "POST", "/token"],
  ])("are not followed to %s", async (_, method, location) => {
    const { fetch, next, waiting } = guarded();
    const answer = fetch("https://as.example/a", { method });
    (await next()).status(307, { location });
    const followed = next().then(({ url }) => url);
    const outcome = await Promise.race([followed, answer.catch((error: unknown) => error)]);
    expect(outcome).toMatchObject({ code: "forbidden_url" });
    expect(waiting()).toBe(0);
  });

  test("end after three", async () => {
    const { fetch, next, waiting } = guarded();
    const answer = fetch("https://as.example/0");
    for (let hop = 1; hop <= 4; hop++) (await next()).status(302, { location: `/${hop}` });
    await expect(answer).rejects.toThrow(
      "https://as.example/3 redirects an authorization request to https://as.example, more than 3 times.",
    );
    expect(waiting()).toBe(0);
  });
});

describe("limits", () => {
  test("a response one byte over the limit is rejected, and one at the limit is read", async () => {
    const { fetch, next } = guarded();
    const fits = fetch("https://as.example/");
    (await next()).text("x".repeat(1_048_576));
    expect((await (await fits).text()).length).toBe(1_048_576);
    const large = fetch("https://as.example/");
    (await next()).text("x".repeat(1_048_577));
    await expect(large).rejects.toMatchObject({ code: "too_large" });
  });

  test("a response that does not start or does not end times out", async () => {
    const { fetch, next, clock } = guarded();
    const ended = expect(fetch("https://as.example/")).rejects.toMatchObject({ code: "timeout" });
    const { signal, stream } = await next();
    stream();
    await clock.advance(14_999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    await ended;
    expect(clock.pending).toBe(0);
  });

  test("the caller's signal aborts the request with its reason", async () => {
    const { fetch, next } = guarded();
    const controller = new AbortController();
    const answer = fetch("https://as.example/", { signal: controller.signal });
    await next();
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
  });

  test("the error of an unreachable host names it", async () => {
    const { fetch, next } = guarded();
    const answer = fetch("https://as.example/");
    (await next()).fail(new TypeError("fetch failed"));
    await expect(answer).rejects.toMatchObject({ code: "unreachable", data: { host: "as.example" } });
  });
});
