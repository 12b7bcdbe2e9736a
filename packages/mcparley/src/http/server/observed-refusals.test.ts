import { expect, test } from "vitest";
import { type AuditRecord, auditTo } from "../../server/observe/audit.ts";
import { createServer } from "../../server/create-server.ts";
import { rawHttp } from "mcparley-tests/support/raw-http.ts";
import { HttpRefusal } from "./refusal.ts";
import { toFetch } from "../fetch/to-fetch.ts";

test("an audit records each rejected request with its method, path and status, and redacts secrets", async () => {
  const records: AuditRecord[] = [];
  const server = createServer({ name: "x", version: "1", observers: [auditTo((record) => void records.push(record))] });
  const auth = (): HttpRefusal => new HttpRefusal(401, "The token=abcdef is over.");
  const { fetch } = toFetch(server, { auth });
  const http = rawHttp("http://localhost/mcp", fetch);
  await http.modern("tools/list");
  await http.post({}, { host: "evil.example" });
  await expect.poll(() => records).toHaveLength(2);
  expect(records).toMatchObject([
    { kind: "refusal", what: "POST /mcp", status: 401, reason: "The token=[redacted] is over." },
    { kind: "refusal", what: "POST /mcp", status: 403, reason: expect.stringContaining("evil.example") },
  ]);
});
