import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
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
  { page: "reference/host-options.md", heading: "Limits of input requests", of: "InputLimits", isOfHost: true },
  { page: "reference/consent-rules.md", heading: "Members of a rule", of: "Rule", isOfHost: true },
  { page: "reference/consent-rules.md", heading: "Decision records", of: "DecisionRecord", isOfHost: true },
];

test.each(tables)(
  "$page: $heading lists the members of $of",
  ({ page, heading, of, without, with: more = [], isOfHost }) => {
    const omitted = without === undefined ? [] : membersOf(without);
    const members = membersOf(of, isOfHost ? interfacesOfHosts : interfaces).filter((name) => !omitted.includes(name));
    expect(namesInTable(page, heading).toSorted()).toEqual([...members, ...more].toSorted());
  },
);

test("testing-functions.md lists the functions of mcparley/testing", async () => {
  const functions = Object.keys(await import("mcparley/testing"));
  const listed = namesInTable("reference/testing-functions.md", "Functions of mcparley/testing");
  expect(listed.toSorted()).toEqual(functions.toSorted());
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

/** The members of an interface, with those that it inherits. */
function membersOf(name: string, declared = interfaces): string[] {
  const found = declared.get(name);
  if (!found) throw new Error(`The source has no interface ${name}, or several.`);
  const own = found.body.body.filter(({ computed }: Syntax) => !computed).map(({ key }: Syntax) => String(key.name));
  return [...new Set<string>([...own, ...found.extends.filter(isOurs).flatMap(inheritedFrom)])];
}

/** Whether an interface that is extended has members of this library. `Other...` has names of other libraries. */
function isOurs({ expression }: Syntax): boolean {
  return !expression.name.startsWith("Other");
}

/** The members of a type that an interface extends: an interface, or `Omit` of one. */
function inheritedFrom({ expression, typeArguments }: Syntax): string[] {
  if (expression.name !== "Omit") return membersOf(expression.name);
  const [base, keys] = typeArguments.params;
  const omitted = (keys.types ?? [keys]).map(({ literal }: Syntax) => literal.value);
  return membersOf(base.typeName.name).filter((name) => !omitted.includes(name));
}

/** The interfaces of a package by name. Undefined for a name that several have. */
function readInterfaces(name: string): Map<string, Syntax | undefined> {
  const found = new Map<string, Syntax | undefined>();
  for (const { program } of parseFolder(path.join(root, "packages", name, "src"))) {
    for (const statement of program.body as Syntax[]) {
      const declaration: Syntax = statement.declaration ?? statement;
      if (declaration.type !== "TSInterfaceDeclaration") continue;
      const { name } = declaration.id;
      found.set(name, found.has(name) ? undefined : declaration);
    }
  }
  return found;
}
