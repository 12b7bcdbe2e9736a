import {
  allTexts,
  isTyped,
  lastText,
  membersAs,
  type OptionValues,
  type Options,
  readPair,
} from "../terminal/options.ts";
import { UsageError } from "../terminal/io.ts";

/** The options that select the configuration of a server, and accept it. */
export const configurationOptions = {
  config: {
    name: "config",
    value: "FILE",
    topic: "options",
    description: "read the servers of this file instead of those of this folder and of the hosts",
    read: lastText,
  },
  trust: {
    name: "trust",
    topic: "options",
    description: "start or contact the servers of configuration files without asking",
    read: isTyped,
  },
} as const satisfies Options;

/** The options that add to a target: headers of a server at a URL, and variables of a program. */
export const addedOptions = {
  headers: {
    name: "header",
    short: "H",
    value: '"NAME: VALUE"',
    topic: "options",
    description: "send this HTTP header; repeatable",
    read: membersAs(readHeader),
  },
  env: {
    name: "env",
    short: "e",
    value: "NAME[=VALUE]",
    topic: "options",
    description: "pass this variable to a server that is started: its value here, or VALUE; repeatable",
    read: membersAs(readVariable),
  },
  envAll: {
    name: "env-all",
    topic: "options",
    description: "pass all variables of this shell to a server that is started",
    read: isTyped,
  },
} as const satisfies Options;

/** The options for the proxy and the certificates. Files are relative to the folder of the command. */
export const networkOptions = {
  proxy: {
    name: "proxy",
    value: "URL",
    topic: "network",
    description: "connect through this http or https proxy instead of that of the environment (HTTPS_PROXY, NO_PROXY)",
    read: lastText,
  },
  cacert: {
    name: "cacert",
    value: "FILE",
    topic: "network",
    description: "also trust the certificate authorities in this PEM file; repeatable",
    read: allTexts,
  },
  cert: {
    name: "cert",
    value: "FILE",
    topic: "network",
    description: "send the client certificate in this PEM file",
    read: lastText,
  },
  key: {
    name: "key",
    value: "FILE",
    topic: "network",
    description: "the private key of --cert, as a PEM file",
    read: lastText,
  },
  keyPassphraseEnv: {
    name: "key-passphrase-env",
    value: "NAME",
    topic: "network",
    description: "the environment variable that holds the passphrase of --key",
    read: lastText,
  },
} as const satisfies Options;

export type NetworkOptions = OptionValues<typeof networkOptions>;

function readHeader(text: string): readonly [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*)$/.exec(text) ?? [];
  // The value may contain a token, so the error only shows the expected form.
  if (name !== undefined && value !== undefined) return [name, value.trim()];
  throw new UsageError("--header is not a header.", 'Such as --header "Authorization: Bearer ..."');
}

/** Reads `NAME=VALUE`, or `NAME` for the value that the variable has here. */
function readVariable(text: string): readonly [string, string | undefined] {
  return text !== "" && !text.includes("=") ? [text, undefined] : readPair(text, "--env");
}
