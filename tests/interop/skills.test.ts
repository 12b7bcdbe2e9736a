import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Running, copyHandbook, serveFolder } from "./handbook.ts";

/** The official client reads the skills of `mcparley serve`. */
describe.each(["2026-07-28", "2025-11-25"])("the official client's skills, %s", (version) => {
  let server: Running;
  let remove: () => Promise<void>;
  let client: Client;

  beforeAll(async () => {
    let folder: string;
    ({ folder, remove } = await copyHandbook());
    server = await serveFolder(folder);
    client = new Client(
      { name: "official", version: "1.0.0" },
      { versionNegotiation: { mode: version === "2026-07-28" ? { pin: version } : "legacy" } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
    await remove();
  });

  test("lists, gets, reads and verifies every file", async () => {
    const skills = new SkillsClient(client);
    expect(skills.supported).toBe(true);
    expect(skills.directoryRead).toBe(true);
    const { skills: listed, invalid } = await skills.list();
    expect(invalid).toEqual([]);
    expect(listed.map(({ uri }) => uri)).toEqual(["skill://lead-incident/SKILL.md"]);
    const [one] = listed;
    if (!one || one.resources === "dynamic") throw new Error("There is no manifest.");
    expect((await skills.get(one.uri)).skill).toEqual(one);
    const manifest = await skills.read(one);
    expect(manifest.verified).toBe(true);
    expect(manifest.frontmatter).toEqual(one.frontmatter);
    for (const { uri } of one.resources) expect((await skills.read(one, uri)).verified).toBe(true);
    const { resources } = await skills.readDirectory("skill://lead-incident");
    expect(resources.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ["lead-incident", "text/markdown"],
      ["messages", "inode/directory"],
    ]);
    await expect(skills.get("skill://nothing/SKILL.md")).rejects.toMatchObject({ code: -32602 });
  });
});
