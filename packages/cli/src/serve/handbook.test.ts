import { cp, readFile, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Declined, type ElicitParams, type TextContent } from "mcparley";
import type { ConnectOptions } from "mcparley/client";
import { skillsOf } from "mcparley/skills";
import { describe, expect, test } from "vitest";
import { serveFolder } from "./testing/served-folder.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const handbook = fileURLToPath(new URL("../../../../examples/handbook", import.meta.url));

/** Copies the example to a temporary folder, which is deleted with everything that the test writes. */
async function serve(client: ConnectOptions = {}) {
  const folder = await temporaryFolder();
  await cp(handbook, folder, { recursive: true, filter: (path) => !/\/(?:var|node_modules)(?:\/|$)/.test(path) });
  // The tools of the copy find the packages that those of the original find.
  await symlink(
    fileURLToPath(new URL("../../../../node_modules", import.meta.url)),
    join(folder, "node_modules"),
    "dir",
  );
  return { folder, ...(await serveFolder(folder, { live: { name: "handbook" }, client })) };
}

const textsOf = (messages: { content: unknown }[]): string[] =>
  messages.flatMap(({ content }) => ((content as TextContent).type === "text" ? [(content as TextContent).text] : []));

test("the skill of the handbook is verified, and names entries that the handbook has", async () => {
  const { live, client } = await serve();
  const host = skillsOf(client, { approve: () => true });
  const [one, ...others] = await host.list().all();
  expect(others).toEqual([]);
  const loaded = await host.load(one ?? "");
  const links = [...loaded.body.matchAll(/\]\(([^)]+)\)/g)].map(([, path = ""]) => path);
  expect(links.toSorted()).toEqual(loaded.files?.filter((path) => path !== "SKILL.md").toSorted());
  for (const path of links) expect((await loaded.read(path)).text).toContain("SEV?");
  const named = [...loaded.body.matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name);
  const offered = [...live.server.tools, ...live.server.prompts].map(([name]) => name);
  expect(named).toHaveLength(3);
  expect(offered).toEqual(expect.arrayContaining(named));
});

test("the handbook has no problems", async () => {
  const { live } = await serve();
  expect(live.problems).toEqual([]);
  expect([...live.server.prompts].map(([name]) => name)).toEqual(["code_review", "data_analysis", "incident_report"]);
  expect([...live.server.tools].map(([name]) => name)).toEqual([
    "analyze_incidents",
    "file_incident",
    "search_documents",
    "summarize",
    "word_count",
  ]);
});

test("code_review and data_analysis have the arguments of the specification's examples", async () => {
  const { client } = await serve();
  const prompts = Object.fromEntries((await client.listPrompts().all()).map((prompt) => [prompt.name, prompt]));
  expect(prompts.code_review?.description).toBe("Asks the LLM to analyze code quality and suggest improvements");
  expect(prompts.code_review?.arguments?.map(({ name, required }) => [name, required])).toEqual([
    ["code", true],
    ["language", undefined],
  ]);
  expect(prompts.data_analysis?.arguments?.map(({ name, required }) => [name, required])).toEqual([
    ["dataset_description", true],
    ["analysis_goal", true],
  ]);
  const review = await client.getPrompt("code_review", {
    language: "Python",
    code: "def add(a, b):\n    return a + b",
  });
  expect(review.messages.map(({ role }) => role)).toEqual(["user", "user", "assistant", "user"]);
  expect(textsOf(review.messages)[0]).toContain("Python code");
  expect(textsOf(review.messages)[2]).toContain("~~~~python\ndef add(a, b):\n    return a + b\n~~~~");
  const ref = { type: "ref/prompt" as const, name: "code_review" };
  const context = { code: "def add(a, b):\n    return a + b" };
  expect((await client.complete(ref, { name: "language", value: "" }, { context })).values[0]).toBe("Python");
  expect((await client.complete(ref, { name: "language", value: "ty" })).values).toEqual(["TypeScript"]);
});

test("incident_report embeds the levels, the template, the picture and the report that was chosen", async () => {
  const { client } = await serve();
  const ref = { type: "ref/prompt" as const, name: "incident_report" };
  const { values } = await client.complete(ref, { name: "similar", value: "search" });
  expect(values).toEqual(["2026-05-27-search-index"]);
  const args = { summary: "Search was down.", severity: "SEV1", similar: values.join(), audience: "customers" };
  const { messages } = await client.getPrompt("incident_report", args);
  const kinds = messages.map(({ content }) => ("resource" in content ? content.resource.uri : content.type));
  expect(kinds).toEqual([
    "text",
    "handbook://resources/severity-levels.md",
    "text",
    "handbook://resources/postmortem-template.md",
    "text",
    "image",
    "text",
    "handbook://resources/incidents/2026-05-27-search-index.md",
    "text",
    "text",
  ]);
  expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(1);
  expect(textsOf(messages).at(-1)).toContain("Leave out the names of internal services");
  await expect(client.getPrompt("incident_report", { ...args, severity: "SEV5" })).rejects.toThrow('cannot be "SEV5"');
});

test("search_documents ranks the best answer first, and links to its document", async () => {
  const { client } = await serve();
  const { content, structuredContent } = await client.callToolResult("search_documents", {
    query: "customer minutes",
    limit: 3,
  });
  const { hits } = structuredContent as { hits: { uri: string; heading: string; line: number; score: number }[] };
  expect(hits.length).toBe(3);
  expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
  for (const { uri, line, heading } of hits) {
    const [contents] = (await client.readResource(uri)).contents;
    expect((contents as { text: string }).text.split("\n")[line - 1]).toMatch(new RegExp(`^#+ ${heading}$`));
  }
  const links = content.filter(({ type }) => type === "resource_link");
  expect(links.length).toBe(new Set(hits.map(({ uri }) => uri)).size);
  expect(await client.callTool("search_documents", { query: "xylophone" })).toEqual({ hits: [] });
  const first = async (query: string) =>
    (await client.callTool("search_documents", { query })).hits[0].document as string;
  expect(await first("rolling back")).not.toBe("Style guide");
  expect(await first("how should I write a review comment?")).toBe("Code review guide");
  await expect(client.callTool("search_documents", { query: "x", limit: 0 })).rejects.toThrow("/limit");
});

test("analyze_incidents counts incidents, reports progress, and can be cancelled", async () => {
  const { client } = await serve();
  const progress: number[] = [];
  const onProgress = ({ progress: done, total }: { progress: number; total?: number }): void => {
    expect(total).toBe(8);
    progress.push(done);
  };
  const table = (await client.callTool(
    "analyze_incidents",
    { by: "trigger", confidence: true },
    { onProgress },
  )) as string;
  expect(progress).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(table).toMatch(/^\| deploy \| 10 \| 294,383 \| 17 \| 38 \| \d+ to \d+ \|$/m);
  expect(table).toContain("40 incidents");
  const april = await client.callTool("analyze_incidents", { by: "service", from: "2026-04-01", to: "2026-04-30" });
  expect(april).toContain("4 incidents");
  expect(april).toMatch(/^\| booking-api \| 1 \| 258,100 \| 2 \| 29 \|$/m);
  await expect(client.callTool("analyze_incidents", { by: "month", from: "2026-02-30" })).rejects.toThrow(
    "Invalid ISO date",
  );
  await expect(
    client.callTool("analyze_incidents", { by: "month", from: "2020-01-01", to: "2020-01-02" }),
  ).rejects.toThrow("no incidents");
  const controller = new AbortController();
  const cancelled = client.callTool(
    "analyze_incidents",
    { by: "month", confidence: true },
    { signal: controller.signal, onProgress: () => controller.abort() },
  );
  await expect(cancelled).rejects.toMatchObject({ code: "aborted" });
});

describe.each(["2025-11-25", "2026-07-28"])("file_incident on %s", (revision) => {
  const args = { title: "Nobody can pay", service: "payments", notes: "Since 10:00." };
  const filed = (folder: string) => readdir(join(folder, "var", "incidents")).catch(() => []);

  test("asks the user and writes one file", async () => {
    const asked: ElicitParams[] = [];
    const { client, folder } = await serve({
      revision,
      elicit: (question) => {
        asked.push(question);
        return { action: "accept", content: { severity: "SEV1", lead: "Ada\n# L", confirm: true } };
      },
    });
    expect(await client.callTool("file_incident", args)).toMatch(
      /^Filed as var\/incidents\/.* with SEV1\. Escalate immediately/,
    );
    expect(asked.map(({ message }) => message)).toEqual(['File the incident "Nobody can pay" (payments)?']);
    const files = await filed(folder);
    expect(files).toHaveLength(1);
    const record = await readFile(join(folder, "var", "incidents", files.join()), "utf8");
    expect(record).toMatch(
      /^# Nobody can pay\n\n- Severity: SEV1\n- Service: payments\n- Lead: Ada # L\n- Declared: \S+\n\n## Notes\n\nSince 10:00\.\n$/,
    );
  });

  test.each([
    ["declines", { action: "decline" as const }],
    ["answers without consent", { action: "accept" as const, content: { severity: "SEV1", confirm: false } }],
  ])("writes nothing when the user %s", async (_, answer) => {
    const { client, folder } = await serve({ revision, elicit: () => answer });
    await expect(client.callTool("file_incident", args)).rejects.toThrow(/declined|decided not to/);
    expect(await filed(folder)).toEqual([]);
  });

  test("names the missing capability if the client cannot ask", async () => {
    const { client, folder } = await serve({ revision });
    await expect(client.callTool("file_incident", args)).rejects.toThrow(/elicitation/);
    expect(await filed(folder)).toEqual([]);
  });
});

test("summarize sends the document and the length to the client's model", async () => {
  const { client } = await serve({
    sample: ({ messages, maxTokens }) => {
      const [{ text }] = messages.map(({ content }) => content) as [TextContent];
      if (text.includes("# Glossary")) throw new Declined();
      expect(text).toMatch(/^Summarize this document for a new colleague in at most 2 sentences\.\n\n# On-call guide/);
      return { role: "assistant", content: { type: "text", text: `Short, ${maxTokens}.` }, model: "tiny" };
    },
  });
  const args = { document: "on-call.md", reader: "a new colleague", sentences: 2 };
  expect(await client.callTool("summarize", args)).toBe(
    "Short, 160.\n\n(handbook://resources/on-call.md, summarized by tiny)",
  );
  await expect(client.callTool("summarize", { document: "glossary.md" })).rejects.toThrow("declined");
  await expect(client.callTool("summarize", { document: "../server.yaml" })).rejects.toThrow(
    'Document "../server.yaml" does not exist',
  );
});

test("word_count counts a document or a text, and no file outside the documents", async () => {
  const { client } = await serve();
  const text = "One two\nthree – four's\n";
  expect(await client.callTool("word_count", { text })).toEqual({
    lines: 2,
    words: 4,
    characters: 23,
    minutesToRead: 0,
  });
  expect(await client.callTool("word_count", {})).toEqual({ lines: 0, words: 0, characters: 0, minutesToRead: 0 });
  expect(await client.callTool("word_count", { document: "on-call.md" })).toMatchObject({ minutesToRead: 2.5 });
  for (const document of ["../server.yaml", "/etc/passwd", "missing.md", "--eval"]) {
    await expect(client.callTool("word_count", { document }), document).rejects.toThrow(
      `Document "${document}" does not exist`,
    );
  }
});

test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
  "each tool returns the value of the newest revision on %s",
  async (revision) => {
    const sample: ConnectOptions["sample"] = () => ({
      role: "assistant",
      content: { type: "text", text: "Short." },
      model: "tiny",
    });
    const calls: [name: string, args: object][] = [
      ["analyze_incidents", { by: "service" }],
      ["search_documents", { query: "customer minutes" }],
      ["search_documents", { query: "xylophone" }],
      ["summarize", { document: "on-call.md" }],
      ["word_count", { document: "on-call.md" }],
    ];
    const valuesOn = async (version: string): Promise<unknown[]> => {
      const { client } = await serve({ revision: version, sample });
      expect(client.server.revision).toBe(version);
      return Promise.all(calls.map(([name, args]) => client.callTool(name, args)));
    };
    expect(await valuesOn(revision)).toEqual(await valuesOn("2026-07-28"));
  },
);

test("the links between the documents have existing targets", async () => {
  const { client } = await serve();
  const uris = new Set((await client.listResources().all()).map(({ uri }) => uri));
  for (const uri of uris) {
    const [contents] = (await client.readResource(uri)).contents;
    if (!contents || !("text" in contents)) continue;
    for (const [, target] of contents.text.matchAll(/\]\(([^)#]+\.md)\)/g)) {
      const linked = new URL(target ?? "", uri).href;
      // The files of a skill are listed by its SKILL.md.
      if (linked.startsWith("skill:")) expect((await client.readResource(linked)).contents).toHaveLength(1);
      else expect(uris, `${uri} links to ${target}`).toContain(linked);
    }
  }
});

test("the YAML of the guides is served without a problem", async () => {
  const pages = ["folder", "folder-tools"].map((page) =>
    readFile(join(handbook, `../../docs/serve/${page}.md`), "utf8"),
  );
  const guides = (await Promise.all(pages)).join("\n");
  const [settings, prompt, notes, review, auth, program, ...more] = [...guides.matchAll(/```yaml\n(.*?)```/gs)].map(
    ([, yaml]) => yaml,
  );
  expect(more).toEqual([]);
  const folder = await temporaryFolder({
    "served/prompts/p.md": `${prompt}Hello\n`,
    "served/resources.yaml": notes ?? "",
    "served/skills/review/SKILL.md": `${review}Review it.\n`,
    "served/tools/find.yaml": program ?? "",
    "served/server.yaml": `${settings}${auth}`,
    "served/prompts/languages.ts": "export default (): string[] => [];\n",
    "served/resources/incidents.csv": "INC-1\nINC-2\n",
    "books/restart.md": "# Restart\n",
  });
  const { live, client } = await serveFolder(join(folder, "served"));
  expect(live.problems).toEqual([]);
  expect((await client.listResources().all()).map(({ uri, title }) => [uri, title])).toEqual([
    ["test://resources/incidents.csv", "Incidents, January to October 2026"],
    ["test://books/restart.md", "How to restart"],
    ["skill://review/SKILL.md", undefined],
  ]);
  if (process.platform === "win32") return;
  expect(await client.callTool("find", { pattern: "INC", lines: 1 })).toBe("resources/incidents.csv:1:INC-1\n");
  expect(await client.callTool("find", { pattern: "-x" })).toBe("");
});
