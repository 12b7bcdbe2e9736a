import { expect, test, vi } from "vitest";
import { Notification } from "../../mcp/methods.ts";
import { findRevision } from "../../mcp/revisions/index.ts";
import { coreOf, createServer } from "../create-server.ts";
import { Session } from "./session.ts";

/** Opens a session in a revision. Its clients send some of the notifications of 2025-11-25. */
function sessionWith(...clientNotifications: string[]) {
  const onRootsChanged = vi.fn();
  const core = coreOf(createServer({ name: "x", version: "1", onRootsChanged }));
  const revision = { ...findRevision("2025-11-25")!, clientNotifications: new Set(clientNotifications) };
  const peer = { info: undefined, capabilities: {}, revision: revision.version };
  const session = new Session({ core, revision, peer, principal: undefined, link: { send: () => {} } });
  const take = (method: string, params = {}): void => session.receiveNotification({ jsonrpc: "2.0", method, params });
  return { session, take, onRootsChanged };
}

test("a notification that the revision does not define has no effect", () => {
  const { session, take, onRootsChanged } = sessionWith();
  const effects = [
    vi.spyOn(session, "ready"),
    vi.spyOn(session, "cancel"),
    vi.spyOn(session, "receiveProgress"),
    onRootsChanged,
  ];
  for (const method of Object.values(Notification)) take(method, { requestId: 1, progressToken: 1 });
  for (const effect of effects) expect(effect).not.toHaveBeenCalled();
});

test.each([
  [Notification.initialized, "ready"],
  [Notification.cancelled, "cancel"],
  [Notification.progress, "receiveProgress"],
] as const)("%s has its effect on a revision that defines it", (method, effect) => {
  const { session, take } = sessionWith(method);
  const called = vi.spyOn(session, effect);
  take(method, { requestId: 1, progressToken: 1 });
  expect(called).toHaveBeenCalledOnce();
});

test("a change of the roots is reported on a revision that defines it", () => {
  const { take, onRootsChanged } = sessionWith(Notification.rootsChanged);
  take(Notification.rootsChanged);
  expect(onRootsChanged).toHaveBeenCalledOnce();
});
