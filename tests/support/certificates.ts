import { type KeyObject, createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate with its private key, both in PEM format. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly name: string;
}

interface CertificateOptions {
  /** The common name. */
  name: string;
  /** The certificate authority that signs it. Default: the certificate signs itself. */
  issuer?: Certificate;
  /** The host names and IP addresses for which it is valid. Without any, it is a certificate authority. */
  hosts?: readonly string[];
  /** Default: one day ago. */
  from?: Date;
  /** Default: in one day. */
  until?: Date;
}

const DAY_MS = 86_400_000;

/**
 * Makes an X.509 certificate (RFC 5280) with a new P-256 key.
 *
 * Tests make their certificates, because a stored one expires and the program openssl does not exist everywhere.
 */
export function makeCertificate({ name, issuer, hosts = [], from, until }: CertificateOptions): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer: { key: KeyObject | string; name: string } = issuer ?? { key: privateKey, name };
  const now = Date.now();
  const content = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(randomBytes(8)),
    ecdsaWithSha256(),
    distinguishedName(signer.name),
    sequence(time(from ?? new Date(now - DAY_MS)), time(until ?? new Date(now + DAY_MS))),
    distinguishedName(name),
    createPublicKey(publicKey.export({ type: "spki", format: "pem" })).export({ type: "spki", format: "der" }),
    tagged(3, sequence(hosts.length === 0 ? authorityExtension() : hostsExtension(hosts))),
  );
  const signature = sign("sha256", content, signer.key);
  const der = sequence(content, ecdsaWithSha256(), encode(0x03, Buffer.from([0]), signature));
  return {
    name,
    cert: `-----BEGIN CERTIFICATE-----\n${der
      .toString("base64")
      .match(/.{1,64}/g)
      ?.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** Encodes a value in DER: its tag, its length and its content. */
function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return encode(0x30, ...parts);
}

/** Encodes a member of a sequence that is identified by a number. */
function tagged(number: number, content: Buffer): Buffer {
  return encode(0xa0 + number, content);
}

/** Encodes a positive integer. */
function integer(bytes: Buffer): Buffer {
  return encode(0x02, Buffer.from([bytes[0]! & 0x7f || 1, ...bytes.subarray(1)]));
}

/** Encodes an object identifier, given in its encoded form. */
function identifier(hex: string): Buffer {
  return encode(0x06, Buffer.from(hex, "hex"));
}

function ecdsaWithSha256(): Buffer {
  return sequence(identifier("2a8648ce3d040302"));
}

function distinguishedName(name: string): Buffer {
  const commonName = sequence(identifier("550403"), encode(0x0c, Buffer.from(name)));
  return sequence(encode(0x31, commonName));
}

function time(date: Date): Buffer {
  return encode(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));
}

/** Marks the certificate as that of an authority. */
function authorityExtension(): Buffer {
  return extension("551d13", sequence(encode(0x01, Buffer.from([0xff]))));
}

function hostsExtension(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) === 4 ? encode(0x87, Buffer.from(host.split(".").map(Number))) : encode(0x82, Buffer.from(host)),
  );
  return extension("551d11", sequence(...names));
}

function extension(hex: string, value: Buffer): Buffer {
  return sequence(identifier(hex), encode(0x04, value));
}
