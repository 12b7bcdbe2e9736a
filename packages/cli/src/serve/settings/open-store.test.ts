import { type AddressInfo, createServer } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { UsageError, version } from "../../terminal/io.ts";
import { type StorePackages, openStore } from "./open-store.ts";

const failure = async (url: string, packages?: StorePackages): Promise<UsageError> => {
  const error: unknown = await openStore(url, () => {}, packages).catch((thrown: unknown) => thrown);
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

const missing = (name: string) => async (): Promise<never> => {
  throw Object.assign(new Error(`Cannot find package '${name}'`), { code: "ERR_MODULE_NOT_FOUND" });
};
const store: StorePackages["store"] = () => import("@mcparley/redis");
const client: StorePackages["client"] = () => import("redis");

test.each<[string, StorePackages, string, string]>([
  [
    "both packages",
    { store: missing("@mcparley/redis"), client: missing("redis") },
    "--store needs the packages @mcparley/redis and redis, which are not installed.",
    `npm install @mcparley/redis@${version} redis`,
  ],
  [
    "the store",
    { store: missing("@mcparley/redis"), client },
    "--store needs the package @mcparley/redis, which is not installed.",
    `npm install @mcparley/redis@${version}`,
  ],
  [
    "the client",
    { store, client: missing("redis") },
    "--store needs the package redis, which is not installed.",
    "npm install redis",
  ],
])("names the command that installs %s", async (_, packages, message, command) => {
  const error = await failure("redis://127.0.0.1:6379", packages);
  expect(error.message).toBe(message);
  expect(error.hint).toBe(
    `Run ${command} in the project of the command, or with --global if the command is installed globally.`,
  );
});

test("reports an error of an installed package as it is", async () => {
  const broken = new Error("The package is broken.");
  const opening = openStore("redis://127.0.0.1:6379", () => {}, { store: () => Promise.reject(broken), client });
  await expect(opening).rejects.toBe(broken);
});
