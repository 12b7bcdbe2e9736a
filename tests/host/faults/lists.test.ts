import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../packages/host/src/loop/run-events.ts";
import { callStep, scriptedModel, textStep } from "../../../packages/host/src/testing/scripted-model.ts";
import {
  deceptiveTexts,
  duplicates,
  endlessPages,
  manyTools,
  wrongLists,
  wrongTypes,
} from "../hostile/servers/lists.ts";
import { rawServer, toolNamed } from "../hostile/servers/raw-server.ts";
import { faultHost, revisions } from "./fault-host.ts";

const names = ({ tools }: { tools: readonly { name: string }[] }): string[] => tools.map(({ name }) => name);

describe.each(revisions)("a server that lies about its lists (%s)", (revision) => {
  test("entries and members of wrong types are left out and reported, and the correct ones are usable", async () => {
    await using fault = await faultHost(wrongTypes(), { revision });
    expect(names(fault.host.catalogue)).toContain("bad__correct");
    const { tool } = fault.host.catalogue.tools.find(({ name }) => name === "bad__wrong-annotations")!;
    expect(tool).not.toHaveProperty("annotations");
    expect(fault.errors().join("\n")).toContain('The entry "no-schema" of tools/list was left out');
    expect(fault.errors().join("\n")).toContain('A member "annotations" of tools/list was left out');
    expect(await fault.host.callTool("bad__correct", {})).toMatchObject({ status: "result" });
    expect(await fault.ping()).toBe("pong");
  });

  test("values that are no lists are reported, and other servers are usable", async () => {
    await using fault = await faultHost(wrongLists(), { revision });
    expect(names(fault.host.catalogue)).toEqual(["good__ping"]);
    expect(fault.errors().join("\n")).toContain('must contain an array "tools"');
    expect(await fault.ping()).toBe("pong");
  });

  test("the first of two entries with the same name is used, and the other one is reported", async () => {
    await using fault = await faultHost(duplicates(), { revision });
    const { tools, prompts, resources } = fault.host.catalogue;
    expect(names({ tools })).toEqual(["bad__twice", "good__ping"]);
    expect(tools[0]?.tool.description).toBe("The tool twice.");
    expect([prompts.length, resources.length]).toEqual([1, 1]);
    expect(fault.errors().join("\n")).toContain("it occurs twice");
  });

  test("the first 2,000 of 10,000 tools are usable, and the others are reported", async () => {
    await using fault = await faultHost(manyTools(), { revision });
    expect(fault.host.catalogue.tools).toHaveLength(2_001);
    expect(fault.errors().join("\n")).toContain("2000");
    expect(await fault.host.callTool("bad__tool-0", {})).toMatchObject({ status: "result" });
    expect(await fault.ping()).toBe("pong");
  });

  test.each([
    [false, 1_000, "longer than 1000 pages"],
    [true, 1, "the same cursor twice"],
  ])(
    "of pages without an end the first are usable, and the fault is reported (repeated: %s)",
    async (repeats, count, reason) => {
      await using fault = await faultHost(endlessPages({ repeats }), { revision });
      expect(names(fault.host.catalogue)).toHaveLength(count + 1);
      expect(fault.errors().join("\n")).toContain(reason);
      expect(await fault.ping()).toBe("pong");
    },
  );

  test("names that imitate tools of the host, of other servers and of objects are unique for the model", async () => {
    const deceptive = [
      "search_tools",
      "call_tool",
      "read_result",
      "good__ping",
      "__proto__",
      "constructor",
      "a b",
      "é",
    ];
    const tools = [...deceptive, "x".repeat(500)].map(toolNamed);
    const server = rawServer({ name: "imitating" }, ({ method }) => (method === "tools/list" ? { tools } : undefined));
    await using fault = await faultHost(server, { revision });
    const found = names(fault.host.catalogue);
    expect(found).toHaveLength(tools.length + 1);
    expect(new Set(found).size).toBe(found.length);
    for (const name of found) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(found.filter((name) => !name.startsWith("bad_"))).toEqual(["good__ping"]);
  });
});

describe.each(revisions)("a server with terminal escapes and direction characters in all texts (%s)", (revision) => {
  // Control characters except for line feeds and tabs, direction marks, zero-width characters and tags.
  const deceptive = /[^\P{Cc}\n\t]|[\u200B-\u200F\u202A-\u202E\u2066-\u2069]|\u{E0041}/u;

  test("the requests to the model contain no such character, and names that providers accept", async () => {
    const model = scriptedModel([({ tools = [] }) => callStep(tools.map(({ name }) => ({ name }))), textStep("Done.")]);
    const renderer = { form: () => ({ action: "decline" as const }) };
    await using fault = await faultHost(deceptiveTexts(), { revision, model, renderer });
    const { host } = fault;
    const conversation = host.conversation();
    for (const { server, resource } of host.catalogue.resources)
      await conversation.attach({ server, uri: resource.uri });
    const [prompt] = host.catalogue.prompts;
    const args = Object.fromEntries((prompt?.prompt.arguments ?? []).map(({ name }) => [name, "a"]));
    await conversation.prompt(prompt!.name, args);
    const run = host.run({ conversation });
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    expect((await run.finished).reason).toBe("answered");
    expect(model.requests).toHaveLength(2);
    for (const { prompt, tools = [] } of model.requests) {
      const texts: string[] = [];
      JSON.stringify({ prompt, tools }, (key, value: unknown) => {
        texts.push(key, ...(typeof value === "string" ? [value] : []));
        return value;
      });
      expect(texts.filter((text) => deceptive.test(text))).toEqual([]);
      for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(texts.join("\n")).toContain("end");
    }
    const results = events.filter(({ type }) => type === "result");
    expect(results.length).toBeGreaterThanOrEqual(3);
  });
});
