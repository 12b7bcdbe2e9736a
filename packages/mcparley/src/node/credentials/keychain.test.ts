import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fileCredentials } from "./file-credentials.ts";
import { type KeyringModule, keychain } from "./keychain.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "mcparley-keychain-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns a fake of the package that checks its arguments as strictly, and stores entries in `passwords`. */
function fakeKeyring(passwords: Map<string, string>): KeyringModule {
  return {
    AsyncEntry: class {
      readonly #name: string;
      constructor(service: string, account: string, options?: { linux?: { store?: "secret-service" } }) {
        expect(options).toEqual({ linux: { store: "secret-service" } });
        this.#name = `${service}/${account}`;
      }
      getPassword(): Promise<string | null> {
        return Promise.resolve(passwords.get(this.#name) ?? null);
      }
      setPassword(password: string): Promise<void> {
        passwords.set(this.#name, password);
        return Promise.resolve();
      }
    },
  };
}

const locked: KeyringModule = {
  AsyncEntry: class {
    getPassword = (): Promise<never> => Promise.reject(new Error("it is locked"));
    setPassword = (): Promise<never> => Promise.reject(new Error("it is locked"));
  },
};

describe("keychain", () => {
  test("stores the key that encrypts a folder of credentials", async () => {
    const passwords = new Map<string, string>();
    const key = keychain({ keyring: fakeKeyring(passwords) });
    await fileCredentials(folder, { key }).compareAndSet("k", undefined, "v");
    expect(await fileCredentials(folder, { key }).get("k")).toBe("v");
    expect([...passwords.keys()]).toEqual(["mcparley/credentials"]);
    const [password = ""] = passwords.values();
    expect(Buffer.from(password, "base64url")).toHaveLength(32);
    for (const name of readdirSync(folder)) {
      expect(readFileSync(path.join(folder, name), "utf8")).not.toContain(password);
    }
  });

  test("stores keys of other names separately", async () => {
    const passwords = new Map<string, string>();
    const keyring = fakeKeyring(passwords);
    const key = new Uint8Array(32).fill(1);
    await keychain({ keyring, service: "app", account: "a" }).set(key);
    expect(await keychain({ keyring, service: "app", account: "b" }).get()).toBeUndefined();
    expect(await keychain({ keyring, service: "app", account: "a" }).get()).toEqual(key);
  });

  test("that fails stores nothing, and its error is reported", async () => {
    const storage = fileCredentials(folder, { key: keychain({ keyring: locked }) });
    await expect(storage.compareAndSet("k", undefined, "v")).rejects.toMatchObject({
      code: "unusable_storage",
      message: "The system's keychain cannot be used: it is locked",
    });
    expect(readdirSync(folder)).not.toContain("key.json");
  });

  test("names the package to install if it is missing", async () => {
    await expect(keychain().get()).rejects.toMatchObject({
      code: "unusable_storage",
      message: expect.stringContaining("npm install @napi-rs/keyring") as string,
    });
  });
});
