import { createServer, Declined, tool } from "mcparley/server";
import { fakeClock } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import type { Renderer, FormAnswer, FormRequest, UrlRequest } from "../renderer/renderer.ts";
import { inputHost } from "../testing/input-host.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

const schema = { type: "object", properties: { name: { type: "string" } } };
const sampling = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 5 } as const;

/** A server whose tools ask for input. */
function shop(onLoop: (count: number) => void = () => {}) {
  return createServer({
    name: "shop-server",
    version: "1.2.3",
    tools: {
      form: tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "who?", schema })) }),
      url: tool({
        call: async (_, ctx) => {
          await ctx.elicit({ message: "pay", url: "https://pay.example.com/now" });
          return "paid";
        },
      }),
      roots: tool({ call: async (_, ctx) => JSON.stringify(await ctx.roots()) }),
      can: tool({
        call: (_, ctx) =>
          (["elicit", "elicit.url", "sample", "sample.tools", "roots"] as const).filter((kind) => ctx.can(kind)).join(),
      }),
      loop: tool({
        call: async (_, ctx) => {
          for (let count = 1; ; count++) {
            onLoop(count);
            await ctx.elicit({ message: "more?", schema, key: `k${count}` });
          }
        },
      }),
      stubborn: tool({
        call: async (_, ctx) => {
          for (let count = 1; ; count++) {
            onLoop(count);
            await ctx.elicit({ message: "more?", schema, key: `k${count}` }).catch((error: unknown) => {
              if (!(error instanceof Declined)) throw error;
            });
          }
        },
      }),
      stubbornSampling: tool({
        call: async (_, ctx) => {
          for (let count = 1; ; count++) {
            onLoop(count);
            await ctx
              .sample({ ...sampling, messages: [...sampling.messages], key: `k${count}` })
              .catch((error: unknown) => {
                if (!(error instanceof Declined)) throw error;
              });
          }
        },
      }),
    },
  });
}

const accept: Renderer = {
  form: () => ({ action: "accept", content: { name: "Ann" } }),
  url: () => ({ action: "accept" }),
  sample: () => ({ action: "allow" }),
  sampled: () => ({ action: "allow" }),
};

test("a server of 2025-06-18 that asks without end is stopped", async () => {
  let asked = 0;
  const form = (): { action: "accept"; content: Record<string, never> } => {
    asked++;
    return { action: "accept", content: {} };
  };
  const { client } = await inputHost(shop(), { revision: "2025-06-18", renderer: { form } });
  await expect(client.callTool("loop")).rejects.toThrow("declined");
  expect(asked).toBe(5);
  await client.close();
});

test("a legacy server that ignores all errors is stopped: its calls are cancelled", async () => {
  let count = 0;
  const server = createServer({
    name: "s",
    version: "1",
    tools: {
      deaf: tool({
        call: async (_, ctx) => {
          while (!ctx.signal.aborted && count < 1_000) {
            count++;
            await ctx.elicit({ message: "more?", schema, key: `k${count}` }).catch(() => {});
          }
          return "done";
        },
      }),
    },
  });
  const form = (): FormAnswer => ({ action: "cancel" });
  const { client, cancelSignal } = await inputHost(server, { revision: "2025-11-25", renderer: { form } });
  const calling = client.callTool("deaf", {}, { signal: cancelSignal });
  await expect(calling).rejects.toMatchObject({ code: "aborted" });
  expect(cancelSignal.reason).toMatchObject({ message: expect.stringContaining("elicitationsPerCall") });
  // Five answers, ten refusals, and the request that cancels the call. The server may send another one before it is notified.
  expect(count).toBeLessThan(20);
  await client.close();
});

test("a person can take longer than the time limit of a legacy server", async () => {
  const clock = fakeClock();
  let shown!: (answer: (answer: FormAnswer) => void) => void;
  const waiting = new Promise<(answer: FormAnswer) => void>((resolve) => (shown = resolve));
  const server = createServer({
    name: "s",
    version: "1",
    clock,
    limits: { askTimeout: 20_000 },
    tools: { form: tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "?", schema })) }) },
  });
  const form = (): Promise<FormAnswer> => new Promise((resolve) => shown(resolve));
  const { client } = await inputHost(server, { revision: "2025-11-25", renderer: { form }, clock });
  const calling = client.callTool("form");
  const answer = await waiting;
  for (let minutes = 0; minutes < 10; minutes++) await clock.advance(60_000);
  answer({ action: "accept", content: { name: "Ann" } });
  expect(await calling).toBe('{"name":"Ann"}');
  await client.close();
});

describe.each(["2026-07-28", "2025-11-25"])("input requests (%s)", (revision) => {
  test("declare only the capabilities that can be answered", async () => {
    const can = async (settings: Partial<Parameters<typeof inputHost>[1]>): Promise<unknown> => {
      const { client } = await inputHost(shop(), { revision, ...settings });
      const answer = await client.callTool("can");
      await client.close();
      return answer;
    };
    const model = scriptedModel([]);
    expect(await can({})).toBe("");
    expect(await can({ renderer: {}, model })).toBe("");
    expect(await can({ renderer: { form: () => ({ action: "cancel" }) } })).toBe("elicit");
    expect(await can({ renderer: { url: () => ({ action: "cancel" }) } })).toBe("elicit.url");
    expect(await can({ renderer: { sample: () => ({ action: "allow" }) }, model })).toBe("");
    expect(await can({ renderer: accept })).toBe("elicit,elicit.url");
    expect(await can({ renderer: accept, model, roots: () => [] })).toBe("elicit,elicit.url,sample,sample.tools,roots");
  });

  test("show a form with the server and the call, and send the answer", async () => {
    const forms: FormRequest[] = [];
    const renderer: Renderer = {
      form: (request) => {
        forms.push(request);
        return { action: "accept", content: { name: "secret answer" } };
      },
    };
    const { client, decisions, activities } = await inputHost(shop(), { revision, renderer });
    expect(await client.callTool("form")).toBe('{"name":"secret answer"}');
    expect(forms).toMatchObject([
      {
        origin: {
          server: "shop",
          claims: { name: "shop-server", version: "1.2.3" },
          during: 'tools/call "form"',
        },
        message: "who?",
        fields: [{ name: "name" }],
      },
    ]);
    expect(decisions).toEqual([{ subject: "elicitation", name: "form", outcome: "allowed", by: "person" }]);
    expect(activities).toEqual(['form waiting tools/call "form"', 'form answered tools/call "form"']);
    expect(JSON.stringify([decisions, activities])).not.toContain("secret");
    await client.close();
  });

  test.each([
    ["decline", "declined"],
    ["cancel", "dismissed"],
  ] as const)("send the answer %s of the user", async (action, message) => {
    const renderer: Renderer = { form: () => ({ action }), url: () => ({ action }) };
    const { client, decisions, activities } = await inputHost(shop(), { revision, renderer });
    for (const name of ["form", "url"]) await expect(client.callTool(name)).rejects.toThrow(message);
    expect(decisions.map(({ name, outcome, by }) => `${name} ${outcome} ${by}`)).toEqual([
      "form denied person",
      "url denied person",
    ]);
    expect(activities.filter((activity) => activity.includes("declined")).length).toBe(2);
    await client.close();
  });

  test("show a URL with its remarks", async () => {
    const urls: UrlRequest[] = [];
    const renderer: Renderer = {
      url: (request) => {
        urls.push(request);
        return { action: "accept" };
      },
    };
    const { client } = await inputHost(shop(), { revision, renderer, serverHost: "shop.example.com" });
    expect(await client.callTool("url")).toBe("paid");
    expect(urls).toMatchObject([
      { message: "pay", url: "https://pay.example.com/now", host: "pay.example.com", origin: { server: "shop" } },
    ]);
    expect(urls[0]?.remarks).toEqual(['The host differs from the host of the server, "shop.example.com".']);
    await client.close();
  });

  test("share the current roots, with a record", async () => {
    let roots = [{ uri: "file:///a" }];
    const { client, decisions, activities } = await inputHost(shop(), { revision, roots: () => roots });
    expect(await client.callTool("roots")).toBe('[{"uri":"file:///a"}]');
    roots = [{ uri: "file:///b" }];
    await client.rootsChanged();
    expect(await client.callTool("roots")).toBe('[{"uri":"file:///b"}]');
    expect(decisions[0]).toEqual({
      subject: "roots",
      name: "roots/list",
      outcome: "allowed",
      by: "configuration",
    });
    expect(activities[1]).toBe('roots answered tools/call "roots"');
    await client.close();
  });

  test("stop a server that asks without end: the call fails after the limit", async () => {
    let asked = 0;
    const renderer: Renderer = {
      form: () => {
        asked++;
        return { action: "accept", content: {} };
      },
    };
    let count = 0;
    const { client, decisions } = await inputHost(
      shop((loop) => (count = loop)),
      { revision, renderer },
    );
    await expect(client.callTool("loop")).rejects.toThrow("declined");
    expect([asked, count]).toEqual([5, 6]);
    expect(decisions.at(-1)).toEqual({ subject: "elicitation", name: "form", outcome: "denied", by: "limit" });
    // The next call has its own limit.
    await expect(client.callTool("loop")).rejects.toThrow("declined");
    expect(asked).toBe(10);
    await client.close();
  });

  test.each(["stubborn", "stubbornSampling"])("stop a server that ignores refusals (%s)", async (name) => {
    let asked = 0;
    const deny = (): { action: "deny" } => {
      asked++;
      return { action: "deny" };
    };
    const form = (): { action: "decline" } => {
      asked++;
      return { action: "decline" };
    };
    let count = 0;
    const { client, cancelSignal } = await inputHost(
      shop((loop) => (count = loop)),
      {
        revision,
        renderer: { form, sample: deny, sampled: deny },
        model: scriptedModel([]),
        limits: { elicitationsPerCall: 2, samplesPerCall: 2 },
      },
    );
    const error = await client.callTool(name, {}, { signal: cancelSignal }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(asked).toBeLessThanOrEqual(2);
    // Two answers, ten refusals, and the request that ends the call.
    expect(count).toBeLessThanOrEqual(14);
    expect(client.inFlight).toBe(0);
    await client.close();
  });

  test("refuse more requests in a minute than the limit", async () => {
    const { client, decisions } = await inputHost(shop(), {
      revision,
      renderer: accept,
      roots: () => [],
      limits: { requestsPerMinute: 1 },
    });
    expect(await client.callTool("form")).toBe('{"name":"Ann"}');
    await expect(client.callTool("form")).rejects.toThrow("declined");
    await expect(client.callTool("roots")).rejects.toThrow("limit requestsPerMinute");
    expect(decisions.slice(1).map(({ subject, by }) => `${subject} ${by}`)).toEqual([
      "elicitation limit",
      "roots limit",
    ]);
    await client.close();
  });

  test("pass the signal of the request to the question, and end with the call", async () => {
    let aborted = false;
    const controller = new AbortController();
    const renderer: Renderer = {
      form: (_, signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => (aborted = true));
          controller.abort();
        }),
    };
    const { client } = await inputHost(shop(), { revision, renderer });
    await expect(client.callTool("form", {}, { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(aborted).toBe(true);
    await client.close();
  });
});
