import { expect, test } from "vitest";
import { link, onAbort } from "../../rpc/abort.ts";
import { createController, platformSignal } from "./quick-abort.ts";

test("calls all callbacks that wait for its signal, once", () => {
  const { signal, abort } = withAbort();
  const calls: string[] = [];
  onAbort(signal, () => calls.push("first"));
  onAbort(signal, () => calls.push("removed"))();
  onAbort(signal, () => calls.push("second"));
  abort();
  abort();
  expect(calls).toEqual(["first", "second"]);
});

test("aborts the signals that are linked to it, with its reason", () => {
  const { signal, abort } = withAbort();
  const linked = link(signal).signal;
  const ofPlatform = platformSignal(signal);
  abort(new Error("not needed"));
  expect(linked.reason).toEqual(new Error("not needed"));
  expect(ofPlatform.reason).toEqual(new Error("not needed"));
});

function withAbort(): { signal: AbortSignal; abort: (reason?: unknown) => void } {
  const controller = createController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}
