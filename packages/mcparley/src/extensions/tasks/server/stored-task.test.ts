import { expect, test } from "vitest";
import { type Ending, type TaskRecord, endRecord } from "./stored-task.ts";

/** A task that uses each member of a record. */
const working: TaskRecord = {
  taskId: "t",
  owner: "alice",
  status: "input_required",
  statusMessage: "1/2",
  progress: { progress: 1, total: 2 },
  createdAt: 1,
  updatedAt: 2,
  ttlMs: 3,
  pollIntervalMs: 4,
  requested: true,
  run: "r",
  crashes: 1,
  waitingRun: "r",
  furthest: 1,
  inputRequests: [{ id: "i", key: "k", method: "elicitation/create", params: { message: "secret" } }],
  responses: [["k", { action: "accept" }]],
  once: [["o", 1]],
  again: {
    method: "tools/call",
    params: { name: "t", arguments: { password: "secret" } },
    peer: { info: undefined, capabilities: {}, revision: "2026-07-28", address: undefined },
  },
};

const kept = {
  taskId: "t",
  owner: "alice",
  progress: { progress: 1, total: 2 },
  createdAt: 1,
  updatedAt: 2,
  ttlMs: 3,
  pollIntervalMs: 4,
  requested: true,
  run: "r",
  crashes: 1,
  inputRequests: [],
  responses: [],
  once: [],
};

const error = { code: -32603, message: "no disk" };

test.each<[string, Ending, object]>([
  ["completed", { result: { content: [] } }, { status: "completed", result: { content: [] } }],
  ["failed", { error }, { status: "failed", statusMessage: "no disk", error }],
  ["cancelled", { cancellation: "by request" }, { status: "cancelled", statusMessage: "by request" }],
])("a %s task keeps nothing that only a run needs", (_, outcome, members) => {
  expect(endRecord(working, outcome)).toStrictEqual({ ...kept, ...members });
});
