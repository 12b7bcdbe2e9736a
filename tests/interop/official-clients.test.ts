import { readFile, writeFile, appendFile, readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Running, command, copyHandbook, serveFolder } from "./handbook.ts";
import { type OfficialClient, type Where, connectFirst, connectSecond } from "./official-clients.ts";

const clients = [
  ["@modelcontextprotocol/sdk (v1)", connectFirst],
  ["@modelcontextprotocol/client (v2), legacy revision", (where: Where) => connectSecond(where, "legacy")],
  ["@modelcontextprotocol/client (v2), modern revision", (where: Where) => connectSecond(where, "modern")],
] as const;

describe.each(["stdio", "http"] as const)("the handbook over %s", (transport) => {
  let folder: string;
  let remove: () => Promise<void>;
  let server: Running | undefined;
  let where: Where;

  beforeAll(async () => {
    ({ folder, remove } = await copyHandbook());
    if (transport === "http") server = await serveFolder(folder);
    where = server
      ? { url: server.url }
      : { command: process.execPath, args: [command, "serve", folder, "--stdio", "--watch"] };
  });

  afterAll(async () => {
    await server?.stop();
    await remove();
  });

  describe.each(clients)("with %s", (_name, connect) => {
    let client: OfficialClient;

    beforeAll(async () => {
      client = await connect(where);
    });
    afterAll(() => client.close());

    test("lists tools, prompts and resources", async () => {
      const names = (await client.listTools()).map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(["analyze_incidents", "file_incident", "search_documents", "summarize", "word_count"]),
      );
      const prompts = (await client.listPrompts()).map(({ name }) => name);
      expect(prompts).toEqual(expect.arrayContaining(["code_review", "data_analysis", "incident_report"]));
      const resources = await client.listResources();
      expect(resources.find(({ name }) => name.endsWith("on-call.md"))).toMatchObject({ mimeType: "text/markdown" });
      expect(resources.find(({ mimeType }) => mimeType === "image/png")).toBeDefined();
    });

    test("calls a tool with structured output, and a tool that is a program", async () => {
      const found = await client.callTool("search_documents", { query: "postmortem", limit: 2 });
      expect(found.content[0]).toMatchObject({ type: "text", text: expect.stringMatching(/postmortem/i) as string });
      expect((found.structuredContent as { hits: object[] }).hits).toHaveLength(2);
      const counted = await client.callTool("word_count", { text: "three short words" });
      expect(counted.structuredContent).toMatchObject({ words: 3 });
    });

    test("receives a tool error for invalid arguments", async () => {
      const result = await client.callTool("search_documents", { query: "" });
      expect(result.isError).toBe(true);
      expect(result.content[0]?.text).toContain("query");
    });

    test("receives all progress of a long call before its result", async () => {
      const seen: number[] = [];
      const args = { by: "service", confidence: true };
      const result = await client.callTool("analyze_incidents", args, {
        onprogress: ({ progress }) => seen.push(progress),
      });
      expect(result.content[0]?.text).toContain("customer minutes");
      expect(seen.length).toBeGreaterThan(3);
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      expect(new Set(seen).size).toBe(seen.length);
    });

    test("cancels a call, and can be used afterwards", async () => {
      const controller = new AbortController();
      const call = client.callTool(
        "analyze_incidents",
        { by: "month", confidence: true },
        { signal: controller.signal, onprogress: () => controller.abort() },
      );
      await expect(call).rejects.toThrow();
      expect((await client.callTool("word_count", { text: "still here" })).structuredContent).toMatchObject({
        words: 2,
      });
    });

    test("gets prompts with arguments, embedded resources and completion", async () => {
      const review = await client.getPrompt("code_review", { code: "print(1)", language: "Python" });
      expect(review.messages.map(({ role }) => role)).toContain("assistant");
      expect(JSON.stringify(review)).toContain("print(1)");
      expect(review.messages.map(({ content }) => content.type)).toContain("resource");
      expect(await client.complete("code_review", "language", "py")).toContain("Python");
      await expect(client.getPrompt("code_review", {})).rejects.toThrow(/code/);
    });

    test("reads text and bytes, and receives an error for an unknown resource", async () => {
      const resources = await client.listResources();
      const guide = resources.find(({ name }) => name.endsWith("on-call.md"));
      const image = resources.find(({ mimeType }) => mimeType === "image/png");
      const [text] = (await client.readResource(guide?.uri ?? "")).contents;
      expect(text?.text).toBe(await readFile(path.join(folder, "resources/on-call.md"), "utf8"));
      const [bytes] = (await client.readResource(image?.uri ?? "")).contents;
      expect(
        Buffer.from(bytes?.blob ?? "", "base64")
          .subarray(1, 4)
          .toString(),
      ).toBe("PNG");
      await expect(client.readResource("handbook://resources/nope.md")).rejects.toThrow(/not found/i);
    });

    test("answers an elicitation form, and the tool takes effect once", async () => {
      const before = await filed(folder);
      const result = await client.callTool("file_incident", { title: "Mail is late", service: "notifier" });
      expect(result.content[0]?.text).toContain("SEV2");
      expect((await filed(folder)) - before).toBe(1);
    });

    test("answers sampling", async () => {
      const result = await client.callTool("summarize", { document: "on-call.md" });
      expect(result.content[0]?.text).toContain("In short: read the guide.");
    });

    test("is notified of a changed file and of an added file", async () => {
      const guide = (await client.listResources()).find(({ name }) => name.endsWith("style-guide.md"));
      const heard: string[] = [];
      let wake: () => void = () => {};
      const waitFor = async (kind: string): Promise<void> => {
        while (!heard.includes(kind)) await new Promise<void>((resolve) => (wake = resolve));
      };
      await client.watch(guide?.uri ?? "", (kind) => {
        heard.push(kind);
        wake();
      });
      await appendFile(path.join(folder, "resources/style-guide.md"), "\nOne more rule.\n");
      await waitFor("updated");
      await writeFile(path.join(folder, "resources", `added-${transport}-${Date.now()}.md`), "# Added\n");
      await waitFor("listed");
    });
  });
});

async function filed(folder: string): Promise<number> {
  return (await readdir(path.join(folder, "var/incidents")).catch(() => [])).length;
}
