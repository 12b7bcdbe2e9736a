import { expect, test } from "vitest";
import { digest, sha256 } from "./digest.ts";

test("hashes a text as its UTF-8 bytes", async () => {
  expect(await sha256("ä")).toEqual(await sha256(Uint8Array.of(0xc3, 0xa4)));
});

test("encodes the digest in base64url without padding", async () => {
  // RFC 9449, 7.1: a token and the `ath` claim of its proof.
  expect(await digest("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")).toBe(
    "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo",
  );
});
