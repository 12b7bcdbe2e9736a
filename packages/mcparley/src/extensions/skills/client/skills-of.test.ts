import { createHash } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../../client/client.ts";
import { serverTransports } from "../../../client/connect/transports.ts";
import { openClient } from "../../../client/open-client.ts";
import { Declined } from "../../../mcp/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import { supportedVersions } from "../../../mcp/revisions/index.ts";
import { resource } from "../../../server/definition.ts";
import { resourceNotFound } from "../../../server/features/resources.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { skill } from "../server/skill.ts";
import { skills } from "../server/skills.ts";
import type { SkillEntry, SkillResource } from "../skill-entry.ts";
import { SkillRefused } from "./offered-skill.ts";
import { type SkillApprovalRequest, type SkillHost, type SkillHostOptions, skillsOf } from "./skills-of.ts";

const manifest = `---
name: pdf
description: Does PDF.
metadata:
  version: "1"
---
See [the forms](references/FORMS.md).
`;
const uri = "skill://team/pdf/SKILL.md";
const sum = (content: string): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const listed = (uri: string, content: string): SkillResource => ({
  uri,
  digest: sum(content),
  size: Buffer.byteLength(content),
});

interface Hosted {
  client: Client;
  host: SkillHost;
  asked: SkillApprovalRequest["reason"][];
  errors: string[];
}

async function hostOf(server: Server, options: Partial<SkillHostOptions> = {}, revision = "auto"): Promise<Hosted> {
  const client = await openClient(serverTransports(server), { revision });
  onTestFinished(() => client.close());
  const [asked, errors]: [SkillApprovalRequest["reason"][], string[]] = [[], []];
  const approve = ({ reason }: SkillApprovalRequest): boolean => asked.push(reason) > 0;
  const host = skillsOf(client, { approve, onError: (error) => errors.push(error.message), ...options });
  return { client, host, asked, errors };
}

describe.each(supportedVersions)("a host, to a server that speaks %s", (revision) => {
  test("lists skills without reading them, and verifies the files that it loads", async () => {
    const reads: string[] = [];
    const server = createServer({
      name: "s",
      version: "1",
      extensions: [skills({ "team/pdf": skill({ "SKILL.md": manifest, "references/A guide.md": "The guide." }) })],
    }).use({ "resources/read": (call, next) => (reads.push(call.params.uri), next()) });
    const { host, asked } = await hostOf(server, {}, revision);
    expect(host.isOffered).toBe(true);
    const [one] = await host.list().all();
    expect(one).toMatchObject({ uri, server: "memory:s", frontmatter: { name: "pdf", metadata: { version: "1" } } });
    expect(await host.get(uri)).toEqual(one);
    expect(reads).toEqual([]);
    expect(asked).toEqual([]);
    const loaded = await host.load(one ?? "");
    expect(reads).toEqual([uri]);
    expect(asked).toEqual(["new"]);
    expect(loaded.text).toBe(manifest);
    expect(loaded.body).toBe("See [the forms](references/FORMS.md).\n");
    expect(loaded.files).toEqual(["SKILL.md", "references/A guide.md"]);
    expect(loaded.server).toBe("memory:s");
    expect(loaded.frontmatter.name).toBe("pdf");
    for (const file of [
      "references/A guide.md",
      "./references/A%20guide.md#top",
      "skill://team/pdf/references/A%20guide.md",
    ]) {
      expect(await loaded.read(file)).toMatchObject({
        text: "The guide.",
        isVerified: true,
        mimeType: "text/markdown",
      });
    }
    expect(reads).toEqual([uri, "skill://team/pdf/references/A%20guide.md"]);
    const folder = await host.readDirectory("skill://team/pdf").all();
    expect(folder.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ["pdf", "text/markdown"],
      ["references", "inode/directory"],
    ]);
  });
});

/** A server whose skill entries and file contents a test can set freely. */
interface Hostile {
  server: Server;
  entries: unknown[];
  contents: Map<string, string>;
  reads: string[];
  get?: unknown;
}

function hostile(change: (hostile: Hostile) => void = () => {}): Hostile {
  const forms = "skill://team/pdf/references/FORMS.md";
  const reads: string[] = [];
  const contents = new Map([
    [uri, manifest],
    [forms, "The forms."],
  ]);
  const entry: SkillEntry = {
    uri,
    frontmatter: { name: "pdf", description: "Does PDF.", metadata: { version: "1" } },
    resources: [...contents].map(([uri, content]) => listed(uri, content)),
  };
  const file = resource<string>("{+uri}", {
    cache: { ttlMs: 60_000 },
    read: (_, { uri }) => (reads.push(uri), contents.get(uri) ?? missing(uri)),
  });
  const made: Hostile = { server: undefined as never, entries: [entry], contents, reads };
  const methods = {
    "skills/list": { revisionKinds: ["modern", "legacy"] as const, answer: async () => ({ skills: made.entries }) },
    "skills/get": {
      revisionKinds: ["modern", "legacy"] as const,
      answer: async () => ({ skill: made.get ?? made.entries[0] }),
    },
  };
  const extensions = [{ id: "io.modelcontextprotocol/skills", methods }];
  made.server = createServer({ name: "hostile", version: "1", resources: { file }, extensions });
  change(made);
  return made;
}

function missing(uri: string): never {
  throw resourceNotFound(uri);
}

/** Returns the entry of a hostile server with changed members. */
const entryWith = (more: JsonObject): Hostile =>
  hostile((one) => (one.entries[0] = { ...(one.entries[0] as object), ...more }));

async function refusal(action: Promise<unknown>): Promise<SkillRefused> {
  const error: unknown = await action.then(() => expect.fail("it was accepted")).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(SkillRefused);
  return error as SkillRefused;
}

describe("content that differs from the entry", () => {
  test.each<[SkillRefused["reason"], string, (one: Hostile) => void]>([
    ["digest", "SKILL.md of the same size", ({ contents }) => contents.set(uri, manifest.replace("forms", "evils"))],
    ["size", "SKILL.md with additional text", ({ contents }) => contents.set(uri, `${manifest}more`)],
    [
      "frontmatter",
      "front matter that differs from the entry, with a matching digest",
      ({ contents, entries }) => {
        const text = manifest.replace("Does PDF.", "Reads your mail.");
        contents.set(uri, text);
        (entries[0] as SkillEntry).resources = [listed(uri, text)];
      },
    ],
    [
      "frontmatter",
      "a field that the entry omits",
      ({ contents, entries }) => {
        const text = manifest.replace("metadata:", "allowed-tools: Bash\nmetadata:");
        contents.set(uri, text);
        (entries[0] as SkillEntry).resources = [listed(uri, text)];
      },
    ],
    [
      "frontmatter",
      "front matter that readers parse differently",
      ({ contents, entries }) => {
        const text = manifest.replace("Does PDF.", "&anchor Does PDF.");
        contents.set(uri, text);
        (entries[0] as SkillEntry).resources = [listed(uri, text)];
      },
    ],
  ])("%s: %s", async (reason, _, change) => {
    const one = hostile(change);
    const { host } = await hostOf(one.server);
    const [offered] = await host.list().all();
    expect((await refusal(host.load(offered ?? ""))).reason).toBe(reason);
    expect(one.reads).toEqual([uri]);
  });

  test("only the changed file is rejected, and it can be read after it is restored", async () => {
    const one = hostile();
    const { host } = await hostOf(one.server);
    const loaded = await host.load(uri);
    const forms = "skill://team/pdf/references/FORMS.md";
    one.contents.set(forms, "The forks.");
    expect((await refusal(loaded.read("references/FORMS.md"))).reason).toBe("digest");
    // The file is read again, although the server declared the first result fresh for a minute.
    one.contents.set(forms, "The forms.");
    const content = await loaded.read("references/FORMS.md");
    content.bytes.fill(0);
    expect(new TextDecoder().decode((await loaded.read("references/FORMS.md")).bytes)).toBe("The forms.");
    expect(one.reads).toEqual([uri, forms, forms]);
  });

  test("rejects contents of another URI, several contents, and missing contents", async () => {
    for (const contents of [
      [{ uri: "skill://team/pdf/other", text: manifest }],
      [
        { uri, text: manifest },
        { uri, text: manifest },
      ],
      [],
      [null],
      [{ uri }],
      [{ uri, blob: "!!" }],
    ]) {
      const one = hostile();
      one.server.use({ "resources/read": () => ({ contents }) });
      const { host } = await hostOf(one.server);
      await expect(host.load(uri)).rejects.toMatchObject({ code: "invalid_message" });
    }
  });
});

describe("only the files of the skill are read, from its own server", () => {
  test.each([
    "references/OTHER.md",
    "../pdf/references/FORMS.md",
    "references/../references/FORMS.md",
    "references/%2e%2e/references/FORMS.md",
    "/etc/passwd",
    "skill://team/other/SKILL.md",
    "skill://team/pdf",
    "skill://team/pdf-private/SKILL.md",
    "file:///etc/passwd",
    "https://example.com/",
    "references/FORMS.md?x",
    "references\\FORMS.md",
    "",
    ".",
    "%ff",
    "a\u0000b",
  ])("%j", async (file) => {
    const one = hostile(({ contents }) => contents.set("skill://team/other/SKILL.md", manifest));
    const { host } = await hostOf(one.server);
    const loaded = await host.load(uri);
    expect((await refusal(loaded.read(file))).reason).toBe("unlisted");
    expect(one.reads).toEqual([uri]);
  });

  test("each listed path can be read, also with characters that are special in references", async () => {
    const names = ["a#b.md", "a:b.md", "c?d.md", "100%.md", "x%20y.md", "x y.md", "{e}.md", "d#1/ü&=+.md", "日本.md"];
    const files = Object.fromEntries(names.map((name) => [name, name]));
    const made = skill({ "SKILL.md": manifest, ...files });
    const { host } = await hostOf(
      createServer({ name: "s", version: "1", extensions: [skills({ "te:am #1/pdf": made })] }),
    );
    const one = await host.get("skill://te%3Aam%20%231/pdf/SKILL.md");
    const loaded = await host.load(one);
    expect(loaded.files?.toSorted()).toEqual([...names, "SKILL.md"].toSorted());
    for (const name of names) expect((await loaded.read(name)).text).toBe(name);
    for (const { uri } of one.resources as SkillResource[]) expect((await loaded.read(uri)).uri).toBe(uri);
    expect((await loaded.read("./x%20y.md#part")).text).toBe("x%20y.md");
    expect((await loaded.read("%E6%97%A5%E6%9C%AC.md")).text).toBe("日本.md");
  });

  test("a file that the server adds later belongs to the skill only after it is fetched and approved again", async () => {
    const one = hostile();
    const { host, asked } = await hostOf(one.server);
    const before = await host.load(uri);
    one.contents.set("skill://team/pdf/new.md", "new");
    const entry = one.entries[0] as SkillEntry;
    one.entries[0] = {
      ...entry,
      resources: [...(entry.resources as SkillResource[]), listed("skill://team/pdf/new.md", "new")],
    };
    expect((await refusal(before.read("new.md"))).reason).toBe("unlisted");
    const after = await host.load(await host.get(uri));
    expect((await after.read("new.md")).text).toBe("new");
    expect((await refusal(before.read("new.md"))).reason).toBe("unlisted");
    expect(asked).toEqual(["new", "changed"]);
  });

  test("a skill of one server is not loaded from another server with the same URI", async () => {
    const [one, other] = [hostile(), hostile()];
    const { host: first } = await hostOf(one.server, { server: "first" });
    const { host: second } = await hostOf(other.server, { server: "second" });
    const [offered] = await first.list().all();
    const error = await refusal(second.load(offered ?? ""));
    expect(error.message).toContain("first");
    expect(error.message).toContain("second");
    expect(other.reads).toEqual([]);
  });
});

describe("an approval is bound to server, skill and content", () => {
  const kept = (): Map<string, string> => new Map();

  test("the same files are approved once with each kind of store", async () => {
    const approvals = kept();
    const first = await hostOf(hostile().server, { approvals });
    await first.host.load(uri);
    await first.host.load(uri);
    const second = await hostOf(hostile().server, { approvals });
    await second.host.load(uri);
    expect(first.asked).toEqual(["new"]);
    expect(second.asked).toEqual([]);
    const elsewhere = await hostOf(hostile().server, { approvals, server: "elsewhere" });
    await elsewhere.host.load(uri);
    expect(elsewhere.asked).toEqual(["new"]);
  });

  test("a changed, added or removed file needs a new approval, also if the old files are restored", async () => {
    const one = hostile();
    const entry = one.entries[0] as SkillEntry;
    const { host, asked } = await hostOf(one.server);
    await host.load(uri);
    one.entries[0] = { ...entry, resources: (entry.resources as SkillResource[]).slice(0, 1) };
    await host.load(uri);
    expect(asked).toEqual(["new", "changed"]);
    one.entries[0] = entry;
    await host.list().all();
    one.entries[0] = { ...entry, resources: (entry.resources as SkillResource[]).slice(0, 1) };
    await host.load(uri);
    expect(asked).toEqual(["new", "changed", "changed"]);
    one.entries[0] = { ...entry, resources: (entry.resources as SkillResource[]).slice(0, 1) };
    await host.load(uri);
    expect(asked.length).toBe(3);
  });

  test.each([false, undefined, "yes", 1])(
    "%j is no approval: no file is read, and the next load requests an approval again",
    async (answer) => {
      const one = hostile();
      const { host } = await hostOf(one.server, { approve: () => answer as boolean });
      for (let time = 0; time < 2; time++) await expect(host.load(uri)).rejects.toThrow(Declined);
      expect(one.reads).toEqual([]);
    },
  );
});

describe("entries are checked before they are used", () => {
  const file = (more: JsonObject): JsonObject => ({ ...listed("skill://team/pdf/x", "x"), ...more });
  const own = listed(uri, manifest);
  test.each<[string, unknown]>([
    ["not an object", 5],
    ["an invalid URI", { uri: 5 }],
    ["a URI without SKILL.md", { uri: "skill://team/pdf/README.md" }],
    ["a URI without a folder", { uri: "skill:///SKILL.md" }],
    ["dots in the URI", { uri: "skill://team/../pdf/SKILL.md" }],
    ["encoded dots in the URI", { uri: "skill://team/%2e%2e/pdf/SKILL.md" }],
    ["a query in the URI", { uri: "skill://team/pdf/SKILL.md?x" }],
    ["no front matter", { frontmatter: undefined }],
    ["a list as front matter", { frontmatter: [] }],
    ["a name of another folder", { frontmatter: { name: "docx", description: "x" } }],
    ["an invalid name", { uri: "skill://team/P/SKILL.md", frontmatter: { name: "P", description: "x" } }],
    ["no description", { frontmatter: { name: "pdf", description: "" } }],
    ["no resources", { resources: undefined }],
    ["other resources", { resources: "all" }],
    ["resources without SKILL.md", { resources: [file({})] }],
    ["a file outside", { resources: [own, file({ uri: "skill://team/other/x" })] }],
    ["a file beside", { resources: [own, file({ uri: "skill://team/pdf-2/x" })] }],
    ["a file above", { resources: [own, file({ uri: "skill://team/pdf/../x" })] }],
    ["a file above, encoded", { resources: [own, file({ uri: "skill://team/pdf/%2E%2e/x" })] }],
    ["a slash, encoded", { resources: [own, file({ uri: "skill://team/pdf/a%2Fb" })] }],
    ["a file of another server", { resources: [own, file({ uri: "https://example.com/x" })] }],
    ["a file twice", { resources: [own, file({}), file({})] }],
    ["a file twice, encoded", { resources: [own, file({}), file({ uri: "skill://team/pdf/%78" })] }],
    ["a digest of another kind", { resources: [own, file({ digest: "md5:0" })] }],
    ["a digest in capitals", { resources: [own, file({ digest: own.digest.toUpperCase() })] }],
    ["no size", { resources: [own, file({ size: undefined })] }],
    ["a negative size", { resources: [own, file({ size: -1 })] }],
    ["half a byte", { resources: [own, file({ size: 0.5 })] }],
  ])("%s", async (_, more) => {
    const one = typeof more === "object" ? entryWith(more as JsonObject) : hostile((one) => (one.entries[0] = more));
    one.entries.push(hostile().entries[0]);
    const { host, errors } = await hostOf(one.server);
    expect(await host.list().all()).toHaveLength(1);
    expect(errors).toHaveLength(1);
    await expect(host.get(uri)).rejects.toMatchObject({ code: "invalid_message" });
    expect(one.reads).toEqual([]);
  });

  test("files and bytes at the limits are accepted, and beyond them rejected with the reason", async () => {
    const many = (count: number): SkillResource[] => [
      own,
      ...Array.from({ length: count - 1 }, (_, at) => listed(`skill://team/pdf/${at}`, "")),
    ];
    const limit = 16 * 1024 * 1024;
    for (const [resources, isTaken] of [
      [many(512), true],
      [many(513), false],
      [[own, file({ size: limit - own.size })], true],
      [[own, file({ size: limit - own.size + 1 })], false],
    ] as const) {
      const { host, errors } = await hostOf(entryWith({ resources }).server);
      expect(await host.list().all()).toHaveLength(isTaken ? 1 : 0);
      if (!isTaken)
        expect(errors[0]).toMatch(/the limit is (512|16777216), which limits.(files|bytes) of skillsOf raises/);
    }
    const { host } = await hostOf(hostile().server, { limits: { files: 1 } });
    await expect(host.load(uri)).rejects.toMatchObject({ code: "too_large" });
  });

  test("an entry of another skill is rejected, and a skill that is listed twice is returned once", async () => {
    const one = hostile(({ entries }) => entries.push(entries[0]));
    one.get = { ...(one.entries[0] as SkillEntry), uri: "skill://other/pdf/SKILL.md", resources: "dynamic" };
    const { host, errors } = await hostOf(one.server);
    await expect(host.get(uri)).rejects.toThrow("skill://other/pdf/SKILL.md");
    expect(await host.list().all()).toHaveLength(1);
    expect(errors[0]).toContain("twice");
  });

  test("two readings of one list at the same time both return each skill", async () => {
    const { host, errors } = await hostOf(hostile().server);
    const list = host.list();
    const [one, other] = await Promise.all([list.all(), list.all()]);
    expect(one).toHaveLength(1);
    expect(other).toEqual(one);
    expect(errors).toEqual([]);
  });

  test("a stored entry is checked again", async () => {
    const { host } = await hostOf(hostile().server);
    const [offered] = await host.list().all();
    const forged = { ...offered, resources: [own, file({ uri: "file:///etc/passwd" })] };
    await expect(host.load(forged as never)).rejects.toMatchObject({ code: "invalid_message" });
  });
});

describe("dynamic skills", () => {
  test("are rejected unless allowed, and each load needs an approval", async () => {
    const strict = await hostOf(entryWith({ resources: "dynamic" }).server);
    expect((await refusal(strict.host.load(uri))).reason).toBe("dynamic");
    const { host, asked } = await hostOf(entryWith({ resources: "dynamic" }).server, { dynamic: true });
    const loaded = await host.load(uri);
    await host.load(uri);
    expect(asked).toEqual(["dynamic", "dynamic"]);
    expect(loaded.files).toBeUndefined();
    expect(await loaded.read("references/FORMS.md")).toMatchObject({ text: "The forms.", isVerified: false });
    for (const file of ["../other/SKILL.md", "skill://team/other/SKILL.md", "file:///etc/passwd"]) {
      expect((await refusal(loaded.read(file))).reason).toBe("unlisted");
    }
  });

  test("are checked for their front matter and their size", async () => {
    const liar = entryWith({ resources: "dynamic" });
    liar.contents.set(uri, manifest.replace("Does", "Did"));
    const first = await hostOf(liar.server, { dynamic: true });
    expect((await refusal(first.host.load(uri))).reason).toBe("frontmatter");
    const long = entryWith({ resources: "dynamic" });
    long.contents.set("skill://team/pdf/long.md", "x".repeat(1000));
    const { host } = await hostOf(long.server, { dynamic: true, limits: { bytes: 1000 } });
    await expect((await host.load(uri)).read("long.md")).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringMatching(/has more than \d+ bytes. Raise limits.bytes of skillsOf./) as string,
    });
  });
});

test("a server without skills is reported as such, and receives no request", async () => {
  const methods: string[] = [];
  const server = createServer({ name: "s", version: "1", resources: {} }).use((call, next) => {
    methods.push(call.method);
    return next();
  });
  const { host } = await hostOf(server);
  expect(host.isOffered).toBe(false);
  for (const action of [host.list().all(), host.get(uri), host.load(uri), host.readDirectory("skill://a").all()]) {
    await expect(action).rejects.toMatchObject({ code: "not_capable" });
  }
  expect(methods.filter((method) => method !== "server/discover")).toEqual([]);
  const { host: other } = await hostOf(hostile().server);
  await expect(other.readDirectory("skill://team/pdf").all()).rejects.toThrow("directoryRead");
});
