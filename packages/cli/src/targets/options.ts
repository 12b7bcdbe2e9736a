import { UsageError } from "../terminal/io.ts";
import { type OptionValues, flag, membersAs, options, readPair, text, texts } from "../terminal/options.ts";

/** The options that select the configuration of a server, and accept it. */
export const configurationOptions = options(
  {
    config: {
      ...text("FILE", "read the servers of this file instead of those of this folder and of the hosts"),
      isOfTarget: true,
    },
    trust: { ...flag("start or contact the servers of configuration files without asking"), isOfTarget: true },
  },
  "options",
);

export const readHeaders = membersAs(readHeader);
export const readVariables = membersAs(readVariable);

/** The options that add to a target: headers of a server at a URL, and variables of a program. */
export const addedOptions = options(
  {
    header: {
      short: "H",
      value: '"NAME: VALUE"',
      description: "send this HTTP header; repeatable",
      read: readHeaders,
    },
    env: {
      short: "e",
      value: "NAME[=VALUE]",
      description: "pass this variable to a server that is started: its value here, or VALUE; repeatable",
      read: readVariables,
    },
    envAll: { ...flag("pass all variables of this shell to a server that is started"), isOfTarget: true },
  },
  "options",
);

/** The options for the proxy and the certificates. Files are relative to the folder of the command. */
export const networkOptions = options(
  {
    proxy: text(
      "URL",
      "connect through this http or https proxy instead of that of the environment (HTTPS_PROXY, NO_PROXY)",
    ),
    cacert: texts("FILE", "also trust the certificate authorities in this PEM file; repeatable"),
    cert: text("FILE", "send the client certificate in this PEM file"),
    key: text("FILE", "the private key of --cert, as a PEM file"),
    keyPassphraseEnv: text("NAME", "the environment variable that holds the passphrase of --key"),
  },
  "network",
);

export type NetworkOptions = OptionValues<typeof networkOptions>;

function readHeader(header: string): readonly [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*)$/.exec(header) ?? [];
  // The value may contain a token, so the error only shows the expected form.
  if (name !== undefined && value !== undefined) return [name, value.trim()];
  throw new UsageError("--header is not a header.", 'Such as --header "Authorization: Bearer ..."');
}

/** Reads `NAME=VALUE`, or `NAME` for the value that the variable has here. */
function readVariable(variable: string): readonly [string, string | undefined] {
  return variable !== "" && !variable.includes("=") ? [variable, undefined] : readPair(variable, "--env");
}
