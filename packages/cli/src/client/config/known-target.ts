/** The target of a command, as far as error messages may show it. */
export interface KnownTarget {
  /** The word TARGET. Undefined if a command after `--` replaces it. */
  readonly word: string | undefined;
  /** The words after `--`. Undefined without `--`. */
  readonly command: readonly string[] | undefined;
  /** The names of the headers that the user configured. Their values may be secret. */
  readonly headerNames: readonly string[];
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
      return word === undefined || !/^[\w./:@~+-]+$/.test(word) || hasSecret(word)
        ? line
        : `mcparley ${name} ${word}${rest}`;
    },
  );
}

function hasSecret(word: string): boolean {
  return /^https?:\/\/[^/]*@/i.test(word);
}
