import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./source-files.ts";

const manifest = JSON.parse(readFileSync(path.join(root, "packages/mcparley/package.json"), "utf8")) as {
  exports: Record<string, string>;
  dependencies: Record<string, string>;
};

test("the package has exactly the listed subpaths", () => {
  expect(Object.keys(manifest.exports)).toEqual([
    ".",
    "./server",
    "./client",
    "./http",
    "./stdio",
    "./node",
    "./auth",
    "./apps",
    "./otel",
    "./skills",
    "./tasks",
    "./testing",
    "./package.json",
  ]);
});

test("the library has exactly the listed dependencies", () => {
  expect(Object.keys(manifest.dependencies)).toEqual([
    "eventsource-parser",
    "jose",
    "oauth4webapi",
    "tinyexec",
    "yaml",
  ]);
});

/** The exports of each subpath at run time. A change here is a change of the public API: the default answer is no. */
const expected: Record<string, string[]> = {
  mcparley: [
    "Cancelled",
    "Declined",
    "ErrorCode",
    "LocalError",
    "McpError",
    "McpServer",
    "ProtocolError",
    "ToolError",
    "connect",
    "createServer",
    "encode",
    "isResourceNotFound",
    "listen",
    "loggingLevels",
    "printable",
    "printableJson",
    "prompt",
    "redact",
    "resource",
    "serveStdio",
    "supportedVersions",
    "systemClock",
    "toFetch",
    "tool",
    "wellFormedJson",
  ],
  "mcparley/server": [
    "Cancelled",
    "Declined",
    "LocalError",
    "McpError",
    "McpServer",
    "ProtocolError",
    "ToolError",
    "assistant",
    "audio",
    "auditTo",
    "connect",
    "createServer",
    "embed",
    "image",
    "inputRequired",
    "jsonLogger",
    "link",
    "listen",
    "localUser",
    "logTo",
    "memoryStore",
    "prompt",
    "rateLimit",
    "requireScopes",
    "resource",
    "resourceNotFound",
    "serveStdio",
    "spendState",
    "text",
    "toFetch",
    "tool",
    "toolResult",
    "urlRequired",
    "user",
    "withContext",
  ],
  "mcparley/otel": ["telemetry"],
  "mcparley/client": [
    "Cancelled",
    "Declined",
    "LocalError",
    "McpError",
    "ProtocolError",
    "StdioClientTransport",
    "StreamableHTTPClientTransport",
    "ToolError",
    "connect",
    "forgetRevisions",
    "openClient",
    "readContent",
    "readPromptMessages",
    "readResourceContents",
    "validateJson",
  ],
  "mcparley/http": ["HttpRefusal", "StreamableHTTPServerTransport", "toFetch"],
  "mcparley/stdio": ["StdioServerTransport", "serveStdio", "streamTransport"],
  "mcparley/node": [
    "createFetch",
    "fileCredentials",
    "fileStore",
    "keychain",
    "listen",
    "loopbackSignIn",
    "openUrl",
    "runWorkers",
    "toNodeHandler",
    "tokenFile",
  ],
  "mcparley/auth": [
    "InvalidToken",
    "apiKeys",
    "bearer",
    "clientCredentials",
    "enterpriseManaged",
    "introspectionVerifier",
    "jwtVerifier",
    "memoryCredentials",
    "oauth",
    "pastedSignIn",
    "protectedResource",
    "tokenExchange",
    "workloadIdentity",
  ],
  "mcparley/testing": [
    "discoverResult",
    "fakeClock",
    "flushPromises",
    "initializeResult",
    "legacyPeer",
    "memoryPair",
    "modernPeer",
    "peerTransports",
    "scriptedPeer",
  ],
  "mcparley/apps": ["app", "appMeta", "appSupport", "apps", "getToolUi", "isVisibleTo", "readApp", "supportsApps"],
  "mcparley/skills": ["FrontMatterError", "SkillRefused", "readFrontMatter", "skill", "skills", "skillsOf"],
  "@mcparley/config": [
    "ConfigError",
    "applyPlan",
    "changedLines",
    "expandTarget",
    "formatValue",
    "hosts",
    "planAdd",
    "planRemove",
    "planUpdate",
    "readConfigFile",
    "readServers",
    "readTrustedFile",
    "referencesIn",
  ],
  "@mcparley/host": ["createHost", "estimateTokens", "serverTextRules", "templateVariables", "toAiSdkTools"],
  "mcparley/tasks": ["asTask", "continueAsTask", "followTasks", "tasks", "tasksOf"],
};

describe("exported names", () => {
  test.each(Object.keys(expected))("%s", async (subpath) => {
    const exported = (await import(subpath)) as object;
    expect(Object.keys(exported).toSorted()).toEqual(expected[subpath]);
  });
});
