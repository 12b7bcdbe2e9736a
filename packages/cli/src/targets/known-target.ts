import type { NetworkOptions } from "./options.ts";
import { quotedWord } from "../terminal/quoted-word.ts";

/** The target of a command, as far as error messages may show it. */
export interface KnownTarget {
  /** The word TARGET. Undefined if a command after `--` replaces it. */
  readonly word: string | undefined;
  /** The words after `--`. Undefined without `--`. */
  readonly command: readonly string[] | undefined;
  /** The names of the headers that the user configured. Their values may be secret. */
  readonly headerNames: readonly string[];
  /** The options that another command needs to find and to reach the same server, such as `--config FILE`. Default: none. */
  readonly options?: readonly string[];
}

/** Returns the options of a command that select a server and the connection to it. A proxy with a password is left out. */
export function optionsOfTarget(
  options: Partial<NetworkOptions> & { readonly config: string | undefined; readonly trust: boolean },
): string[] {
  const { config, trust, proxy, cacert = [], cert, key, keyPassphraseEnv } = options;
  const values: [string, string | undefined][] = [
    ["--config", config],
    ["--proxy", proxy !== undefined && hasSecret(proxy) ? undefined : proxy],
    ...cacert.map((file): [string, string] => ["--cacert", file]),
    ["--cert", cert],
    ["--key", key],
    ["--key-passphrase-env", keyPassphraseEnv],
  ];
  const given = values.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  return trust ? [...given, "--trust"] : given;
}

/**
 * Replaces `mcparley COMMAND TARGET` in a hint with the command for this target.
 *
 * URLs with a query or user information stay `TARGET`, and only the program of a started server is shown, because the rest may
 * contain secrets.
 */
export function withTarget(hint: string, target: KnownTarget | undefined): string {
  return hint.replaceAll(
    /mcparley ([a-z]+) TARGET((?: (?:tools|prompts|resources|templates))?)/g,
    (line, name: string, rest: string) => {
      if (target?.command?.[0] !== undefined) {
        const program = target.command.length > 1 ? `${target.command[0]} ...` : target.command[0];
        return `mcparley ${name}${rest} -- ${program}`;
      }
      const word = target?.word;
      if (word === undefined || !/^[\w./:@~+-]+$/.test(word) || hasSecret(word)) return line;
      const options = (target?.options ?? []).map((option) => ` ${quotedWord(option)}`).join("");
      return `mcparley ${name} ${word}${rest}${options}`;
    },
  );
}

function hasSecret(word: string): boolean {
  return /^https?:\/\/[^/]*@/i.test(word);
}
