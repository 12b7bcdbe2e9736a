import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { LocalError } from "../../../rpc/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import { resource } from "../../../server/definition.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { supportedVersions } from "../../../mcp/revisions/index.ts";
import { type RawPeer, modernMeta, openPeer, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import type { SkillEntry, SkillResource } from "../skill-entry.ts";
import { skill } from "./skill.ts";
import { type Skills, skills } from "./skills.ts";

const modern = "2026-07-28";
const sum = (content: string | Uint8Array): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const manifest = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n# ${name}\n`;

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
const guide = "\uFEFFThe guide – with a byte order mark.\r\n";
const files = {
  "SKILL.md": manifest("pdf", 'license: MIT\nmetadata:\n  version: "1.0"\n'),
  "references/A guide.md": new TextEncoder().encode(guide),
  "assets/logo.png": png,
};

function serve(given: Skills, more: object = {}): Server {
  return createServer({ name: "s", version: "1", extensions: [given], ...more });
}

interface TextOrBlob {
  uri: string;
  text?: string;
  blob?: string;
}

const manifestOf = (entry: SkillEntry | undefined): SkillResource[] =>
  Array.isArray(entry?.resources) ? entry.resources : expect.fail("it has no manifest");

const list = async (peer: RawPeer): Promise<SkillEntry[]> =>
  (await peer.request("skills/list")).result.skills as SkillEntry[];

describe.each(supportedVersions)("a server with skills, to a client of %s", (version) => {
  test("lists each with its front matter and all its files", async () => {
    const peer = await openPeer(serve(skills({ "team/pdf": skill(files) })), version);
    const { result } = await peer.request("skills/list");
    const resources = Object.entries(files).map(([path, content]) => ({
      uri: `skill://team/pdf/${path.replace(" ", "%20")}`,
      digest: sum(content),
      size: Buffer.byteLength(content),
    }));
    const entry = {
      uri: "skill://team/pdf/SKILL.md",
      frontmatter: { name: "pdf", description: "Does pdf.", license: "MIT", metadata: { version: "1.0" } },
      resources,
    };
    expect(result.skills).toEqual([entry]);
    const got = (await peer.request("skills/get", { uri: entry.uri })).result;
    expect(got.skill).toEqual(entry);
    const isModern = version === modern;
    for (const one of [result, got]) {
      expect("ttlMs" in one && "cacheScope" in one).toBe(isModern);
      expect(one.resultType).toBe(isModern ? "complete" : undefined);
    }
  });

  test("returns each file byte for byte", async () => {
    const peer = await openPeer(serve(skills({ "team/pdf": skill(files) })), version);
    const [entry] = await list(peer);
    for (const { uri, digest, size } of manifestOf(entry)) {
      const { contents } = (await peer.request("resources/read", { uri })).result as { contents: TextOrBlob[] };
      const [content] = contents;
      const bytes =
        content?.text === undefined ? Buffer.from(content?.blob ?? "", "base64") : Buffer.from(content.text, "utf8");
      expect(content?.uri).toEqual(uri);
      expect(sum(bytes)).toEqual(digest);
      expect(bytes.length).toEqual(size);
    }
    const [logo] = (await peer.request("resources/read", { uri: "skill://team/pdf/assets/logo.png" })).result
      .contents as JsonObject[];
    expect(logo).toMatchObject({ mimeType: "image/png", blob: Buffer.from(png).toString("base64") });
  });

  test("lists SKILL.md in its resources, and lists folders", async () => {
    const peer = await openPeer(serve(skills({ "team/pdf": skill(files) })), version);
    const listed = (await peer.request("resources/list")).result.resources;
    const shown = {
      uri: "skill://team/pdf/SKILL.md",
      name: "pdf",
      description: "Does pdf.",
      mimeType: "text/markdown",
    };
    expect(listed).toMatchObject([shown]);
    const read = async (uri: string): Promise<unknown> =>
      ((await peer.request("resources/directory/read", { uri })).result.resources as JsonObject[]).map(
        ({ uri, mimeType }) => [uri, mimeType],
      );
    expect(await read("skill://team")).toEqual([["skill://team/pdf", "inode/directory"]]);
    expect(await read("skill://team/pdf")).toEqual([
      ["skill://team/pdf/SKILL.md", "text/markdown"],
      ["skill://team/pdf/assets", "inode/directory"],
      ["skill://team/pdf/references", "inode/directory"],
    ]);
    expect(await read("skill://team/pdf/references")).toEqual([
      ["skill://team/pdf/references/A%20guide.md", "text/markdown"],
    ]);
  });

  test("rejects unknown skills and folders with -32602", async () => {
    const peer = await openPeer(serve(skills({ "team/pdf": skill(files) })), version);
    for (const [method, uri] of [
      ["skills/get", "skill://team/other/SKILL.md"],
      ["skills/get", "skill://team/pdf"],
      ["skills/get", "skill://team/pdf/references/A%20guide.md"],
      ["skills/get", 5],
      ["resources/directory/read", "skill://team/pdf/SKILL.md"],
      ["resources/directory/read", "skill://team/pdf/"],
      ["resources/directory/read", "skill://nowhere"],
    ]) {
      expect((await peer.request(method as string, { uri })).error.code).toBe(-32602);
    }
    expect((await peer.request("skills/list", { cursor: "nonsense" })).error.code).toBe(-32602);
  });
});

const connectTo = (given: Skills, more?: object): Promise<RawPeer> => openPeer(serve(given, more), modern);

test("the extension is declared, and resources even without skills", async () => {
  const declared = async (given: Skills): Promise<unknown> =>
    (await (await connectTo(given)).request("server/discover")).result.capabilities;
  expect(await declared(skills())).toMatchObject({
    resources: {},
    extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
  });
  expect(await declared(skills({}, { directoryRead: false }))).toMatchObject({
    extensions: { "io.modelcontextprotocol/skills": {} },
  });
  const without = await connectTo(skills({ pdf: skill({ "SKILL.md": manifest("pdf") }) }, { directoryRead: false }));
  expect((await without.request("resources/directory/read", { uri: "skill://pdf" })).error.code).toBe(-32601);
  const empty = await connectTo(skills());
  expect(await list(empty)).toEqual([]);
  expect((await empty.request("resources/templates/list")).result.resourceTemplates).toEqual([]);
});

test.each([
  "skill://team/pdf/../pdf/SKILL.md",
  "skill://team/pdf/%2e%2e/pdf/SKILL.md",
  "skill://team/pdf/references/a%20guide.md",
  "skill://team/pdf/references/A guide.md",
  "skill://team/pdf/references%2FA%20guide.md",
  "skill://team/pdf/SKILL.md?x",
  "skill://team/pdf/constructor",
  "skill:///etc/passwd",
])("a path is never resolved: %s is not found", async (uri) => {
  const peer = await connectTo(skills({ "team/pdf": skill(files) }));
  expect((await peer.request("resources/read", { uri })).error).toMatchObject({ code: -32602, data: { uri } });
});

describe("nested skills", () => {
  const nested = skills({
    "outer/inner": skill({ "SKILL.md": manifest("inner"), "a.md": "inner a" }),
    outer: skill({ "SKILL.md": manifest("outer"), "inner/a.md": "outer a", "b.md": "b" }),
  });

  test("the outer skill lists the files of the inner skill, with the same digests", async () => {
    const peer = await connectTo(nested);
    const entries = await list(peer);
    const inner = entries.find(({ frontmatter }) => frontmatter.name === "inner")!.resources as { uri: string }[];
    const outer = entries.find(({ frontmatter }) => frontmatter.name === "outer")!.resources as { uri: string }[];
    expect(outer.map(({ uri }) => uri).toSorted()).toEqual([
      "skill://outer/SKILL.md",
      "skill://outer/b.md",
      "skill://outer/inner/SKILL.md",
      "skill://outer/inner/a.md",
    ]);
    for (const one of inner) expect(outer).toContainEqual(one);
    const { contents } = (await peer.request("resources/read", { uri: "skill://outer/inner/a.md" })).result;
    expect(contents).toMatchObject([{ text: "inner a" }]);
  });

  test("an inner skill that makes the outer one too large is rejected, and nothing changes", async () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f${at}.md`, "x"]));
    const given = skills({ outer: skill({ ...many, "SKILL.md": manifest("outer") }) });
    const inner = skill({ ...many, "SKILL.md": manifest("inner") });
    expect(() => given.set("outer/inner", inner)).toThrow('"outer" has 802 files');
    expect(given.size).toBe(1);
    expect(given.has("outer/inner")).toBe(false);
    const [entry] = await list(await connectTo(given));
    expect(entry?.resources.length).toBe(401);
  });
});

test("a skill with a generated file is dynamic", async () => {
  let reads = 0;
  const report = skill({ "SKILL.md": manifest("report"), "today.md": () => `Read ${++reads} times.` });
  const peer = await connectTo(skills({ report }));
  expect(await list(peer)).toMatchObject([{ resources: "dynamic" }]);
  expect(reads).toBe(0);
  for (const time of [1, 2]) {
    const { contents } = (await peer.request("resources/read", { uri: "skill://report/today.md" })).result;
    expect(contents).toMatchObject([{ text: `Read ${time} times.` }]);
  }
});

test("a stored file is read only when a client requests it", async () => {
  let reads = 0;
  const stored = { digest: sum("text"), size: 4, mimeType: "text/x-own", read: () => (reads++, "text") };
  const peer = await connectTo(skills({ a: skill({ "SKILL.md": manifest("a"), x: stored }) }));
  expect((await list(peer))[0]?.resources).toContainEqual({ uri: "skill://a/x", digest: stored.digest, size: 4 });
  expect(reads).toBe(0);
  const { contents } = (await peer.request("resources/read", { uri: "skill://a/x" })).result;
  expect(contents).toEqual([{ uri: "skill://a/x", mimeType: "text/x-own", text: "text" }]);
});

test("a large text is sent as base64 only if it would be longer in JSON", async () => {
  const [quotes, prose] = ['"'.repeat(2_000_000), "word ".repeat(400_000)];
  const peer = await connectTo(skills({ a: skill({ "SKILL.md": manifest("a"), "q.txt": quotes, "p.txt": prose }) }));
  const read = async (name: string): Promise<TextOrBlob | undefined> => {
    const { contents } = (await peer.request("resources/read", { uri: `skill://a/${name}` })).result;
    return (contents as TextOrBlob[])[0];
  };
  expect(Buffer.from((await read("q.txt"))?.blob ?? "", "base64").toString()).toBe(quotes);
  expect((await read("p.txt"))?.text).toBe(prose);
});

describe("an invalid skill is rejected when it is defined", () => {
  const content = manifest("a");
  test.each([
    [() => skill({ "README.md": content }), "no SKILL.md"],
    [() => skill({ "SKILL.md": () => content }), "no SKILL.md, or it is not text"],
    [() => skill({ "SKILL.md": "# Title" }), "no front matter"],
    [() => skill({ "SKILL.md": "---\nname: a\n---\n" }), "no description"],
    [() => skill({ "SKILL.md": manifest("-a") }), '"-a" is not a valid skill name'],
    [() => skill({ "SKILL.md": manifest("A") }), '"A" is not a valid skill name'],
    [() => skill({ "SKILL.md": manifest("a--b") }), '"a--b" is not a valid skill name'],
    [() => skill({ "SKILL.md": manifest("a", "metadata:\n  version: 1\n") }), '"metadata.version" must be a text'],
    [() => skill({ "SKILL.md": manifest("a", `compatibility: ${"x".repeat(501)}\n`) }), "compatibility"],
    [() => skill({ "SKILL.md": `---\nname: a\ndescription: ${"é".repeat(1025)}\n---\n` }), "1024"],
    [() => skill({ "SKILL.md": content, "../x": "x" }), '"../x"'],
    [() => skill({ "SKILL.md": content, "a//b": "x" }), '"a//b"'],
    [() => skill({ "SKILL.md": content, "a\\b": "x" }), "is not a path"],
    [() => skill({ "SKILL.md": content, "\ud800": "x" }), "is not a path"],
    [() => skill({ "SKILL.md": content, "a\u202Efdp.exe": "x" }), String.raw`"a\u{202e}fdp.exe" is not a path`],
    [() => skill({ "SKILL.md": content, "a\u2067": "x" }), "is not a path"],
    [() => skill({ "SKILL.md": content, x: { digest: "md5:0", size: 1, read: () => "" } }), '"x" must be'],
    [() => skill({ "SKILL.md": content, x: new Uint8Array(17 * 1024 * 1024) }), "bytes"],
    [() => skills({ b: skill({ "SKILL.md": content }) }), 'must be its name, "a"'],
    [() => skills({ "../a": skill({ "SKILL.md": content }) }), "the path is invalid"],
    [() => skills({ a: {} as never }), "skill(...)"],
    [
      () => serve(skills(), { resources: { "skill files": resource("x://y", { read: () => "" }) } }),
      'name "skill files"',
    ],
  ])("%#: %s", (define, reason) => {
    expect(define).toThrow(LocalError);
    expect(define).toThrow(reason);
  });

  test("a name of 64 characters and 512 files are accepted, and more are rejected", () => {
    const name = "a".repeat(64);
    const many = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, ""]));
    expect(() => skills({ [name]: skill({ ...many(511), "SKILL.md": manifest(name) }) })).not.toThrow();
    expect(() => skill({ ...many(512), "SKILL.md": manifest(name) })).toThrow("513 files");
    expect(() => skill({ "SKILL.md": manifest(`${name}a`) })).toThrow("is not a valid skill name");
  });
});

test.each([
  [{ scope: ["docs"] }, '"options" has the unknown member "scope"; did you mean "scopes"?'],
  [{ scopes: "docs" }, '"scopes" must be a list of texts without spaces'],
])("the options %j are refused", (options, message) => {
  expect(() => skill(files, options as object)).toThrow(message);
});

test("scopes hide a skill, also from its parent folders, and reject its requests", async () => {
  const server = serve(
    skills({
      "team/open": skill({ "SKILL.md": manifest("open") }),
      "team/open/shut": skill({ "SKILL.md": manifest("shut") }, { scopes: ["admin"] }),
    }),
  );
  const peerWith = (scopes: string[]): Promise<RawPeer> =>
    rawPeer(
      { attach: (transport) => server.attach(transport, { principal: { issuer: "i", subject: "s", scopes } }) },
      { meta: modernMeta(modern) },
    );
  const [anyone, admin] = [await peerWith([]), await peerWith(["admin"])];
  const uri = "skill://team/open/shut/SKILL.md";
  expect(JSON.stringify(await list(anyone))).not.toContain("shut");
  expect((await list(admin)).map(({ frontmatter }) => frontmatter.name)).toEqual(["open", "shut"]);
  expect((await anyone.request("resources/list")).result.resources).toHaveLength(1);
  for (const method of ["skills/get", "resources/read"]) {
    expect((await anyone.request(method, { uri })).error).toMatchObject({ code: 403, data: { scopes: ["admin"] } });
    expect((await admin.request(method, { uri })).error).toBeUndefined();
  }
  const folder = "skill://team/open/shut";
  expect((await anyone.request("resources/directory/read", { uri: folder })).error.code).toBe(-32602);
  const { resources } = (await anyone.request("resources/directory/read", { uri: "skill://team/open" })).result;
  expect(resources).toHaveLength(1);
  expect((await anyone.request("skills/list")).result.cacheScope).toBe("private");
});

test("long lists are split into pages between entries", async () => {
  const names = Array.from({ length: 250 }, (_, at) => `s${at}`);
  const given = skills(Object.fromEntries(names.map((name) => [name, skill({ "SKILL.md": manifest(name) })])));
  const peer = await connectTo(given, { limits: { pageSize: 120 } });
  const pages: string[][] = [];
  let cursor: unknown;
  do {
    const { result } = await peer.request("skills/list", cursor === undefined ? {} : { cursor });
    pages.push((result.skills as SkillEntry[]).map(({ frontmatter }) => frontmatter.name));
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  expect(pages.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(pages.flat()).toEqual(names);
  const many = Object.fromEntries(names.map((name) => [`d/${name}.md`, name]));
  const wide = await connectTo(skills({ w: skill({ "SKILL.md": manifest("w"), ...many }) }), {
    limits: { pageSize: 120 },
  });
  const first = (await wide.request("resources/directory/read", { uri: "skill://w/d" })).result;
  expect(first.resources).toHaveLength(120);
  const rest = await wide.request("resources/directory/read", { uri: "skill://w/d", cursor: first.nextCursor });
  expect(rest.result.resources).toHaveLength(120);
});

test("skills can be added, changed and removed while a server runs, and subscribers are notified", async () => {
  const given = skills();
  const [one, other] = [serve(given), serve(given)];
  const peer = await openPeer(one, "2025-11-25");
  await peer.request("resources/subscribe", { uri: "skill://a/SKILL.md" });
  given.set("a", skill({ "SKILL.md": manifest("a"), "b.md": "b" }));
  expect(await peer.nextNotification("notifications/resources/list_changed")).toBeTruthy();
  expect((await list(peer)).map(({ uri }) => uri)).toEqual(["skill://a/SKILL.md"]);
  expect(await list(await openPeer(other, modern))).toHaveLength(1);
  given.set("a", skill({ "SKILL.md": manifest("a", "license: MIT\n"), "b.md": "b" }));
  expect((await peer.nextNotification("notifications/resources/updated")).params).toEqual({
    uri: "skill://a/SKILL.md",
  });
  expect(await list(peer)).toMatchObject([{ frontmatter: { license: "MIT" } }]);
  expect([...given].map(([path]) => path)).toEqual(["a"]);
  expect(given.delete("a")).toBe(true);
  expect(given.delete("a")).toBe(false);
  expect(given.size).toBe(0);
  expect(await list(peer)).toEqual([]);
  expect((await peer.request("resources/read", { uri: "skill://a/SKILL.md" })).error.code).toBe(-32002);
});

test("a mounted server serves the files of its skills", async () => {
  const outer = createServer({ name: "outer", version: "1" }).mount(
    "in",
    serve(skills({ pdf: skill({ "SKILL.md": manifest("pdf") }) })),
  );
  const peer = await openPeer(outer, modern);
  expect((await peer.request("resources/read", { uri: "skill://pdf/SKILL.md" })).result.contents).toHaveLength(1);
});
