import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { declaredCommands } from "../../packages/cli/src/commands/all-commands.ts";
import { defaultLimits } from "../../packages/mcparley/src/server/core/options.ts";
import { parseFolder } from "../../scripts/house/syntax.mjs";

/*
 * The tables of options in the guides are complete: each lists all members of an interface in the source, and no others.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const interfaces = readInterfaces("mcparley");
const interfacesOfHosts = readInterfaces("host");

/** A node of the syntax tree. */
type Syntax = Record<string, any>;

/** The interfaces of a package by name. */
type Interfaces = Map<string, { folder: string; declaration: Syntax }[]>;

interface OptionTable {
  page: string;
  /** The heading above the table. */
  heading: string;
  /** The interface in the source. */
  of: string;
  /** An interface whose members the table omits. */
  without?: string;
  /** Names in the table that are no members of the interface. */
  with?: readonly string[];
  /** Whether the interface is in the package `@mcparley/host`. */
  isOfHost?: true;
}

const tables: readonly OptionTable[] = [
  { page: "reference/server-options.md", heading: "Options of createServer", of: "ServerDefinition" },
  { page: "reference/server-options.md", heading: "Options of limits", of: "ServerLimits" },
  { page: "reference/serve-options.md", heading: "Options of listen", of: "ListenOptions", without: "HttpOptions" },
  { page: "reference/serve-options.md", heading: "Options of toFetch and toNodeHandler", of: "HttpOptions" },
  { page: "reference/serve-options.md", heading: "Options of sessions", of: "SessionOptions" },
  { page: "reference/serve-options.md", heading: "Options of cors", of: "CorsOptions" },
  { page: "reference/serve-options.md", heading: "Options of runWorkers", of: "RunWorkersOptions" },
  { page: "reference/serve-options.md", heading: "Options of events", of: "EventOptions" },
  { page: "reference/serve-options.md", heading: "Options of serveStdio", of: "ServeStdioOptions" },
  { page: "reference/serve-options.md", heading: "Options of rateLimit", of: "RateLimitOptions" },
  { page: "reference/serve-options.md", heading: "Options of jsonLogger", of: "JsonLoggerOptions" },
  { page: "reference/serve-options.md", heading: "Options of telemetry", of: "TelemetryOptions" },
  { page: "reference/auth-options.md", heading: "Options of protectedResource", of: "ProtectedResourceOptions" },
  { page: "reference/auth-options.md", heading: "Options of jwtVerifier", of: "JwtVerifierOptions" },
  {
    page: "reference/auth-options.md",
    heading: "Options of introspectionVerifier",
    of: "IntrospectionVerifierOptions",
  },
  { page: "reference/auth-options.md", heading: "Members of a key", of: "ApiKey" },
  { page: "reference/auth-options.md", heading: "Options of apiKeys", of: "ApiKeysOptions" },
  { page: "reference/auth-options.md", heading: "Members of dpop", of: "DpopOptions" },
  { page: "reference/auth-options.md", heading: "Options of tokenExchange", of: "TokenExchangeOptions" },
  { page: "reference/auth-options.md", heading: "Options of oauth", of: "OAuthOptions" },
  { page: "reference/auth-options.md", heading: "Options of loopbackSignIn", of: "LoopbackSignInOptions" },
  { page: "reference/definitions.md", heading: "Members of a tool", of: "ToolDefinition", without: "OtherToolNames" },
  {
    page: "reference/definitions.md",
    heading: "Members of a prompt",
    of: "PromptDefinition",
    without: "OtherPromptNames",
  },
  { page: "reference/definitions.md", heading: "Members of a resource", of: "ResourceDefinition" },
  { page: "reference/handler-context.md", heading: "Members of ctx", of: "Context", with: ["uri"] },
  { page: "reference/handler-context.md", heading: "Members of a session", of: "ClientSession" },
  { page: "reference/handler-context.md", heading: "Members of a visit", of: "UrlVisit" },
  { page: "reference/testing-functions.md", heading: "Members of a scripted peer", of: "ScriptedPeer" },
  { page: "reference/extensions.md", heading: "Options of tasks", of: "TasksOptions" },
  { page: "reference/extensions.md", heading: "Settings of asTask", of: "ToolTasks" },
  { page: "reference/extensions.md", heading: "Options of skillsOf", of: "SkillHostOptions" },
  { page: "reference/extensions.md", heading: "Methods of skillsOf", of: "SkillHost" },
  { page: "reference/extensions.md", heading: "Options of app", of: "AppUi", with: ["html"] },
  { page: "reference/extensions.md", heading: "Members of appMeta", of: "ToolUi" },
  { page: "reference/client-options.md", heading: "Options of connect", of: "ConnectOptions" },
  { page: "reference/client-options.md", heading: "Options of a URL", of: "HttpTarget" },
  { page: "reference/client-options.md", heading: "Options of connection", of: "HttpConnection" },
  { page: "reference/client-options.md", heading: "Options of a command", of: "CommandTarget" },
  { page: "reference/host-options.md", heading: "Options of createHost", of: "HostOptions", isOfHost: true },
  { page: "reference/host-options.md", heading: "Settings of a server", of: "ServerSettings", isOfHost: true },
  { page: "reference/host-options.md", heading: "Members of a host", of: "Host", isOfHost: true },
  { page: "reference/host-options.md", heading: "Options of run", of: "RunOptions", isOfHost: true },
  { page: "reference/host-options.md", heading: "Methods of the renderer", of: "Renderer", isOfHost: true },
  { page: "reference/host-options.md", heading: "Members of a form field", of: "FormField", isOfHost: true },
  { page: "reference/host-options.md", heading: "Limits of input requests", of: "InputLimits", isOfHost: true },
  { page: "reference/consent-rules.md", heading: "Members of a rule", of: "Rule", isOfHost: true },
  { page: "reference/consent-rules.md", heading: "Decision records", of: "DecisionRecord", isOfHost: true },
];

test.each(tables)(
  "$page: $heading lists the members of $of",
  ({ page, heading, of, without, with: more = [], isOfHost }) => {
    const omitted = without === undefined ? [] : membersOf(without);
    const members = membersOf(of, { declared: isOfHost ? interfacesOfHosts : interfaces }).filter(
      (name) => !omitted.includes(name),
    );
    expect(namesInTable(page, heading).toSorted()).toEqual([...members, ...more].toSorted());
  },
);

test("host-options.md lists the members of the requests of a renderer", () => {
  const rows = rowsOf("reference/host-options.md", "Requests of the renderer");
  const methods = rows.map(([, method = ""]) => method.replaceAll(/[` ]/g, ""));
  expect(methods.toSorted()).toEqual(membersOf("Renderer", { declared: interfacesOfHosts }).toSorted());
  for (const [, , request = "", members = ""] of rows) {
    const name = request.replaceAll(/[` ]/g, "");
    const listed = [...members.matchAll(/`(\w+)`/g)].map(([, member = ""]) => member);
    expect(listed.toSorted(), name).toEqual(membersOf(name, { declared: interfacesOfHosts }).toSorted());
  }
});

test("testing-functions.md lists the functions of mcparley/testing", async () => {
  const functions = Object.keys(await import("mcparley/testing"));
  const listed = namesInTable("reference/testing-functions.md", "Functions of mcparley/testing");
  expect(listed.toSorted()).toEqual(functions.toSorted());
});

test("the table of mcparley serve lists the options of the command", () => {
  const cells = rowsOf("reference/serve-options.md", "Options of mcparley serve").map(([, cell = ""]) => cell);
  const listed = cells.flatMap((cell) => [...cell.matchAll(/`--([\w-]+)/g)].map(([, name = ""]) => name));
  const options = Object.values(declaredCommands.get("serve")?.options ?? {}).flatMap(({ name }) =>
    name === "help" ? [] : [name],
  );
  expect([...new Set(listed)].toSorted()).toEqual(options.toSorted());
});

test("the documented defaults of limits match the source", () => {
  const rows = rowsOf("reference/server-options.md", "Options of limits");
  const shown = rows.map(([, name = "", limit]) => [name.replaceAll(/[` ]/g, ""), Number(limit?.replaceAll(",", ""))]);
  expect(Object.fromEntries(shown)).toEqual(defaultLimits);
});

/** The names in the first column of a table: `port` of "`port`", and `progress` of "`progress(done)`". */
function namesInTable(page: string, heading: string): string[] {
  const cells = rowsOf(page, heading).map(([, cell = ""]) => cell);
  return [...new Set(cells.flatMap((cell) => [...cell.matchAll(/`(\w+)[^`]*`/g)].map(([, name = ""]) => name)))];
}

/** The rows of the table below a heading. The first cell of each row has the index 1. */
function rowsOf(page: string, heading: string): string[][] {
  const text = readFileSync(path.join(root, "docs", page), "utf8");
  const section = text.split(/^#+ /m).find((part) => part.split("\n")[0]?.replaceAll("`", "") === heading);
  if (section === undefined) throw new Error(`${page} has no heading "${heading}".`);
  const [table = ""] = /^\|(?:.*\n\|)*.*/m.exec(section) ?? [];
  const [, , ...rows] = table.split("\n");
  return rows.map((row) => row.split("|"));
}

/** Where an interface is searched. `folder` decides between interfaces with the same name. */
interface Scope {
  readonly declared?: Interfaces;
  readonly folder?: string;
}

/** The members of an interface, with those that it inherits. */
function membersOf(name: string, { declared = interfaces, folder }: Scope = {}): string[] {
  const found = declared.get(name) ?? [];
  const [one, ...others] = found.length > 1 ? found.filter((each) => each.folder === folder) : found;
  if (!one || others.length > 0) throw new Error(`The source has no interface ${name}, or several.`);
  const { declaration } = one;
  const own = declaration.body.body
    .filter(({ computed }: Syntax) => !computed)
    .map(({ key }: Syntax) => String(key.name));
  const inherited = declaration.extends
    .filter(isOurs)
    .flatMap((base: Syntax) => inheritedFrom(base, { declared, folder: one.folder }));
  return [...new Set<string>([...own, ...inherited])];
}

/** Whether an interface that is extended has members of this library. `Other...` has names of other libraries. */
function isOurs({ expression }: Syntax): boolean {
  return !expression.name.startsWith("Other");
}

/** The members of a type that an interface extends: an interface, or `Omit` of one. */
function inheritedFrom({ expression, typeArguments }: Syntax, scope: Scope): string[] {
  if (expression.name !== "Omit") return membersOf(expression.name, scope);
  const [base, keys] = typeArguments.params;
  const omitted = (keys.types ?? [keys]).map(({ literal }: Syntax) => literal.value);
  return membersOf(base.typeName.name, scope).filter((name) => !omitted.includes(name));
}

/** The interfaces of a package by name, each with the folder of its file. */
function readInterfaces(name: string): Interfaces {
  const found: Interfaces = new Map();
  for (const { name: file, program } of parseFolder(path.join(root, "packages", name, "src"))) {
    for (const statement of program.body as Syntax[]) {
      const declaration: Syntax = statement.declaration ?? statement;
      if (declaration.type !== "TSInterfaceDeclaration") continue;
      const { name } = declaration.id;
      found.set(name, [...(found.get(name) ?? []), { folder: path.dirname(file), declaration }]);
    }
  }
  return found;
}
