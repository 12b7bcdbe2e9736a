import { type AddressInfo, createServer } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { UsageError } from "../../client/io.ts";
import { openStore } from "./open-store.ts";

const failure = async (url: string): Promise<UsageError> => {
  const error: unknown = await openStore(url, () => {}).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  return error as UsageError;
};

test.each([
  ["127.0.0.1:6379", "--store needs a URL."],
  ["http://user:hush@example.com", "--store does not support http://."],
  ["memcached://example.com", "--store does not support memcached://."],
])("refuses %s as a store", async (url, message) => {
  expect((await failure(url)).message).toBe(message);
});

test("fails immediately for an unavailable store, without the password in the error", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const { message, hint } = await failure(`redis://user:hush@127.0.0.1:${port}/0`);
  expect(message).toBe(`The store at 127.0.0.1:${port} cannot be used: connect ECONNREFUSED 127.0.0.1:${port}`);
  expect(hint).toBe("Check that it is running and that its URL is correct.");
});

test("reports that the store rejected the password", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.write("-WRONGPASS invalid username-password pair or user is disabled.\r\n"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { message, hint } = await failure(`redis://user:hush@127.0.0.1:${port}/0`);
  expect(message).toBe(
    `The authentication at the store 127.0.0.1:${port} failed: WRONGPASS invalid username-password pair or user is disabled.`,
  );
  expect(hint).toContain("MCPARLEY_STORE");
  expect(message + hint).not.toContain("hush");
});
