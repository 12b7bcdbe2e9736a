import { type KeyObject, X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import * as tls from "node:tls";
import type { HttpConnection } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { Environment } from "./proxy.ts";

type Pem = string | Uint8Array;

const certificateBlock =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/**
 * Returns the certificates of a connection for TLS. Returns undefined if it has none, so that the defaults of Node apply.
 *
 * The option `ca` of Node replaces the certificate authorities that are trusted by default, so they are added to it here.
 *
 * Throws `LocalError` `invalid_target` for a value that cannot be used. Keys and passphrases are not in the error.
 */
export function secureContextOf(connection: HttpConnection, env: Environment): tls.SecureContext | undefined {
  const { ca, cert, key, passphrase } = connection;
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  return tls.createSecureContext({
    ...(ca !== undefined && { ca: withDefaults(ca, env) }),
    ...readClientCertificate({ cert, key, passphrase }),
  });
}

/** Returns the given certificate authorities and those that Node trusts by default. */
export function withDefaults(ca: NonNullable<HttpConnection["ca"]>, env: Environment): string[] {
  const pems = typeof ca === "string" || ca instanceof Uint8Array ? [ca] : ca;
  if (pems.length === 0) throw invalid("connection.ca is an empty list. Omit it, or add a certificate.");
  const authorities = pems.flatMap((one) => readCertificates(one, "connection.ca").map(({ pem }) => pem));
  return [...defaultAuthorities(env), ...authorities];
}

/** The authorities that Node trusts by default: its own, and those of `NODE_EXTRA_CA_CERTS` and `--use-system-ca`. */
function defaultAuthorities(env: Environment): readonly string[] {
  // Since Node 22.15.
  const { getCACertificates } = tls as { getCACertificates?: (type: "default") => string[] };
  if (getCACertificates) return getCACertificates("default");
  const { NODE_EXTRA_CA_CERTS: file } = env;
  if (!file) return tls.rootCertificates;
  try {
    return [...tls.rootCertificates, readFileSync(file, "utf8")];
  } catch {
    // Node prints a warning at its start, and ignores a file that it cannot read.
    return tls.rootCertificates;
  }
}

function readClientCertificate({
  cert,
  key,
  passphrase,
}: Pick<HttpConnection, "cert" | "key" | "passphrase">): tls.SecureContextOptions {
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined)
    throw invalid("connection.key is set without connection.cert. Set cert to the certificate of the key.");
  if (key === undefined)
    throw invalid("connection.cert is set without connection.key. Set key to the private key of the certificate.");
  const [leaf] = readCertificates(cert, "connection.cert");
  const privateKey = readKey(key, passphrase);
  if (!leaf?.certificate.checkPrivateKey(privateKey)) {
    throw invalid(
      "connection.key is not the private key of the first certificate in connection.cert. Set both to the same pair.",
    );
  }
  return { cert: textOf(cert), key: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

/** Reads the certificates in a PEM text. Throws if there is none, or if one of them is invalid. */
function readCertificates(pem: Pem, option: string): { pem: string; certificate: X509Certificate }[] {
  const blocks = textOf(pem).match(certificateBlock);
  if (!blocks) {
    throw invalid(
      `${option} contains no certificate in PEM format, which starts with -----BEGIN CERTIFICATE-----. Convert it to PEM.`,
    );
  }
  return blocks.map((block, index) => {
    try {
      return { pem: block, certificate: new X509Certificate(block) };
    } catch {
      throw invalid(
        `Certificate ${index + 1} of ${blocks.length} in ${option} cannot be read. Replace it by a complete certificate in PEM format.`,
      );
    }
  });
}

function readKey(key: Pem, passphrase: string | undefined): KeyObject {
  const text = textOf(key);
  if (!/-----BEGIN (?:\w+ )?PRIVATE KEY-----/.test(text)) {
    throw invalid(
      "connection.key contains no private key in PEM format, which starts with -----BEGIN PRIVATE KEY-----. Convert it to PEM.",
    );
  }
  const isEncrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text);
  if (isEncrypted && passphrase === undefined) {
    throw invalid("connection.key is encrypted. Set connection.passphrase.");
  }
  try {
    return createPrivateKey({ key: text, ...(passphrase !== undefined && { passphrase }) });
  } catch {
    // The error of OpenSSL has no text for users, and its codes differ between versions.
    const cure = isEncrypted
      ? "connection.passphrase is not the passphrase of connection.key. Correct it."
      : "connection.key cannot be read. Replace it by a complete private key in PEM format.";
    throw invalid(cure);
  }
}

function textOf(pem: Pem): string {
  return typeof pem === "string" ? pem : Buffer.from(pem).toString("latin1");
}

function invalid(message: string): LocalError {
  return new LocalError("invalid_target", message);
}
