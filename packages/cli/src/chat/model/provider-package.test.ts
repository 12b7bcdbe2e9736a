import { readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { addFiles, temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type ChosenModel, type ProviderQuestion, openModel } from "./open-model.ts";
import { ask, textOf } from "./testing/scripted-endpoint.ts";

/** Code that makes a model with the answer "NAME of MODEL". */
const modelCode = (version = '"v3"'): string => `
  const modelOf = (provider) => (modelId) => ({
    specificationVersion: ${version}, provider, modelId,
    doStream: async () => ({ stream: new ReadableStream({ start(controller) {
      controller.enqueue({ type: "text-delta", id: "0", delta: provider + " of " + modelId });
      controller.close();
    } }) }),
  });`;

/** The files of a package in a folder. */
function packageFiles(folder: string, code: string, manifest: object = {}): Record<string, string> {
  const about = { name: "acme-ai", version: "1.2.3", type: "module", exports: "./index.js", ...manifest };
  const path = join(folder, "node_modules/acme-ai");
  return { [join(path, "package.json")]: JSON.stringify(about), [join(path, "index.js")]: code };
}

const simple = `${modelCode()} export const acme = modelOf("acme");`;

interface User {
  readonly folder: string;
  readonly questions: ProviderQuestion[];
  /** Opens a model. `confirm` is the answer to the question, and undefined if nobody can be asked. */
  open(
    this: void,
    provider?: string,
    setting?: { confirm?: boolean; cwd?: string; model?: string; env?: Record<string, string> },
  ): Promise<ChosenModel | undefined>;
}

/** A user with files in a temporary home folder. */
async function user(files: Record<string, string>): Promise<User> {
  const folder = await temporaryFolder(files);
  const questions: ProviderQuestion[] = [];
  return {
    folder,
    questions,
    open: (provider = "acme-ai#acme", { confirm, cwd = "project", model = "m1", env = {} } = {}) =>
      openModel(
        { model, baseUrl: undefined, apiKeyEnv: undefined, provider: provider || undefined },
        {
          cwd: join(folder, cwd),
          env: { HOME: folder, XDG_CONFIG_HOME: join(folder, "config"), ...env },
          platform: "linux",
          ...(confirm !== undefined && {
            confirm: async (question) => {
              questions.push(question);
              return confirm;
            },
          }),
        },
      ),
  };
}

/** Opens a model with a yes, and returns its answer. */
async function answerOf({ open }: User, provider?: string): Promise<string> {
  const opened = await open(provider, { confirm: true });
  return opened ? textOf(await ask(opened.model)) : "";
}

describe("a provider of a package", () => {
  test.each<[string, string, string | undefined, object, string]>([
    ["that is a function", simple, undefined, {}, "acme of m1"],
    [
      "of version 4 of the specification",
      `${modelCode('"v4"')} export const acme = modelOf("acme");`,
      undefined,
      {},
      "acme of m1",
    ],
    [
      "that has a method",
      `${modelCode()} export const acme = { name: "own", languageModel(id) { return modelOf(this.name)(id); } };`,
      undefined,
      {},
      "own of m1",
    ],
    [
      "that a factory makes",
      `${modelCode()} export const createAcme = (options = {}) => modelOf(options.name ?? "made");`,
      "acme-ai#createAcme",
      {},
      "made of m1",
    ],
    [
      "whose factory beside it receives a function for requests",
      `${modelCode()} export const acmeAI = modelOf("plain"); export const createAcmeAi = ({ fetch }) => modelOf(typeof fetch);`,
      "acme-ai#acmeAI",
      {},
      "function of m1",
    ],
    [
      "with two factories that could be its own",
      `${modelCode()} export const acme = modelOf("plain"); export const createAcme = () => modelOf("a"); export const createACME = createAcme;`,
      undefined,
      {},
      "plain of m1",
    ],
    [
      "that is the default export",
      `${modelCode()} export default modelOf("default");`,
      "acme-ai#default",
      {},
      "default of m1",
    ],
    [
      "of CommonJS",
      `${modelCode()} exports.acme = modelOf("common");`,
      undefined,
      { type: "commonjs", exports: undefined, main: "index.js" },
      "common of m1",
    ],
    [
      "of CommonJS whose exports Node cannot find",
      `${modelCode()} module.exports = Object.assign({}, { acme: modelOf("hidden") });`,
      undefined,
      { type: "commonjs" },
      "hidden of m1",
    ],
    [
      "with an export for imports only",
      simple,
      undefined,
      { exports: { ".": { import: "./index.js" } } },
      "acme of m1",
    ],
    ["at a subpath", simple, "acme-ai/sub/path#acme", { exports: { "./sub/*": "./index.js" } }, "acme of m1"],
  ])("%s makes the model", async (_, code, ...[provider, manifest, answer]) => {
    expect(await answerOf(await user(packageFiles("project", code, manifest)), provider)).toBe(answer);
  });

  test("is found in the settings by its name, and the rules for schemas by that of its package", async () => {
    const code = `${modelCode()} export const anthropic = modelOf("anthropic");`;
    const files = packageFiles("config/mcparley", code, { name: "@ai-sdk/anthropic" });
    const renamed = Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path.replace("acme-ai", "@ai-sdk/anthropic"), text]),
    );
    const settings = { providers: { claude: "@ai-sdk/anthropic#anthropic" } };
    const someone = await user({ ...renamed, "config/mcparley/chat.json": JSON.stringify(settings) });
    const opened = await someone.open("", { confirm: true, model: "claude/c1" });
    expect(opened).toMatchObject({ name: "@ai-sdk/anthropic/c1", schemas: "anthropic", endpoint: undefined });
  });

  test("of the configuration folder has precedence over the project, and that over the global folder", async () => {
    const named = (name: string): string => `${modelCode()} export const acme = modelOf("${name}");`;
    const someone = await user({
      ...packageFiles("global/lib", named("global")),
      ".npmrc": "prefix = ${HOME}/global\n",
    });
    expect(await answerOf(someone)).toBe("global of m1");
    await addFiles(someone.folder, packageFiles("project", named("project")));
    const below = await someone.open(undefined, { confirm: true, cwd: "project/sub" });
    expect(below && textOf(await ask(below.model))).toBe("project of m1");
    await addFiles(someone.folder, packageFiles("config/mcparley", named("config")));
    expect(await answerOf(someone)).toBe("config of m1");
    expect(someone.questions.map(({ path }) => path)).toEqual(
      ["global/lib", "project", "config/mcparley"].map((folder) =>
        join(someone.folder, folder, "node_modules/acme-ai"),
      ),
    );
  });
});

describe("the confirmation of a package", () => {
  test("is asked once, with path and version, before its code runs", async () => {
    const code = `globalThis.acmeLoaded = true; ${simple}`;
    const someone = await user(packageFiles("project", code));
    await expect(someone.open(undefined, { confirm: false })).rejects.toMatchObject({ name: "Declined" });
    expect(globalThis).not.toHaveProperty("acmeLoaded");
    const path = join(someone.folder, "project/node_modules/acme-ai");
    expect(someone.questions).toEqual([{ name: "acme-ai#acme", path, version: "1.2.3" }]);
    await someone.open(undefined, { confirm: true });
    expect(globalThis).toHaveProperty("acmeLoaded", true);
    Reflect.deleteProperty(globalThis, "acmeLoaded");
    await someone.open();
    expect(someone.questions).toHaveLength(2);
  });

  test.skipIf(process.platform === "win32")("is stored without the names, for the user only", async () => {
    const someone = await user(packageFiles("project", simple));
    await someone.open(undefined, { confirm: true });
    const file = join(someone.folder, ".local/state/mcparley/approved-providers");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toMatch(/^[\da-f]{64}\n$/);
  });

  test("is missing without a user, with the cure", async () => {
    const someone = await user(packageFiles("project", simple));
    await expect(someone.open()).rejects.toMatchObject({
      name: "UsageError",
      message: `The code of the provider acme-ai#acme (version 1.2.3, ${join(someone.folder, "project/node_modules/acme-ai")}) was not approved, and nobody can be asked.`,
      hint: "Run mcparley chat with it once at a terminal, and confirm it.",
    });
  });

  test.each<[string, (folder: string) => unknown, string]>([
    [
      "the version",
      (folder) => addFiles(folder, packageFiles("project", simple, { version: "1.2.4" })),
      "acme-ai#acme",
    ],
    ["the folder", (folder) => addFiles(folder, packageFiles("config/mcparley", simple)), "acme-ai#acme"],
    ["the export", () => {}, "acme-ai#other"],
  ])("is asked again after a change of %s", async (_, change, provider) => {
    const someone = await user(packageFiles("project", `${simple} export const other = acme;`));
    await someone.open(undefined, { confirm: true });
    await change(someone.folder);
    await expect(someone.open(provider)).rejects.toThrow("was not approved");
  });

  test.skipIf(process.platform === "win32")("is bound to the target of a symbolic link", async () => {
    const someone = await user({
      ...packageFiles("store/one", simple),
      ...packageFiles("store/two", simple),
      "project/node_modules/.keep": "",
      "other/node_modules/.keep": "",
    });
    const link = (store: string, project: string): void =>
      symlinkSync(
        join(someone.folder, store, "node_modules/acme-ai"),
        join(someone.folder, project, "node_modules/acme-ai"),
      );
    link("store/one", "project");
    link("store/two", "other");
    expect(await answerOf(someone)).toBe("acme of m1");
    expect(someone.questions[0]?.path).toBe(join(someone.folder, "store/one/node_modules/acme-ai"));
    await expect(someone.open(undefined, { cwd: "other" })).rejects.toThrow("was not approved");
  });
});

describe("refuses", () => {
  test("a package that is not installed, with the command that installs it", async () => {
    const someone = await user({});
    await expect(someone.open("@acme/no-such#acme")).rejects.toMatchObject({
      message: `The package @acme/no-such is not installed in ${join(someone.folder, "config/mcparley")}, in the current folder or above it, or globally.`,
      hint: `Install it for this command: npm install --prefix ${quotedWord(join(someone.folder, "config/mcparley"))} @acme/no-such`,
    });
  });

  test.each<[string, string, string, string | RegExp, string | RegExp]>([
    ["a missing export", simple, "acme-ai#acmee", 'acme-ai has no export "acmee".', 'Did you mean "acme"?'],
    [
      "an export that is no provider",
      "export const acme = 5;",
      "acme-ai#acme",
      "acme-ai#acme is not a provider of the AI SDK.",
      /^Name an export that is called/,
    ],
    [
      "a provider without models",
      "export const acme = () => ({});",
      "acme-ai#acme",
      "acme-ai#acme makes no language model.",
      /^Name an export that is called/,
    ],
    [
      "a provider that throws",
      'export const acme = () => { throw new Error("no\u001b key"); };',
      "acme-ai#acme",
      String.raw`acme-ai#acme cannot make the model "m1": no\x1b key`,
      /^Check the name of the model/,
    ],
    [
      "an older specification",
      `${modelCode('"v2"')} export const acme = modelOf("acme");`,
      "acme-ai#acme",
      'acme-ai#acme makes a model of version "v2" of the specification, and "v3" or "v4" is needed.',
      /^Install a newer version: npm install --prefix .*mcparley'? acme-ai@latest$/,
    ],
    [
      "a package with an error",
      "throw new Error('broken');",
      "acme-ai#acme",
      /^acme-ai in .*acme-ai cannot be loaded: broken$/,
      /^Install acme-ai again/,
    ],
    [
      "a package without a dependency",
      'import "acme-missing"; export const acme = 1;',
      "acme-ai#acme",
      /cannot be loaded: .*acme-missing/,
      /^Install acme-ai again/,
    ],
    [
      "a subpath that is not exported",
      simple,
      "acme-ai/sub#acme",
      /^acme-ai\/sub in .* cannot be loaded/,
      /^Install acme-ai again/,
    ],
  ])("%s with the cure", async (_, code, provider, ...[message, hint]) => {
    const someone = await user(packageFiles("project", code));
    const refused = someone.open(provider, { confirm: true });
    const expected = (text: string | RegExp): unknown =>
      typeof text === "string" ? text : expect.stringMatching(text);
    await expect(refused).rejects.toMatchObject({
      name: "UsageError",
      message: expected(message),
      hint: expected(hint),
    });
  });
});
