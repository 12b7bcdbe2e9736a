type Mark = (text: string) => string;

/** Marks up text for whoever reads it; every function gives the text back unchanged where colours are not wanted. */
export interface Style {
  readonly bold: Mark;
  readonly dim: Mark;
  readonly red: Mark;
  readonly yellow: Mark;
  /** Stands out as much as the terminal can. */
  readonly inverse: Mark;
}

/** Colours for a stream: on a terminal, unless NO_COLOR (https://no-color.org) is set or the terminal is dumb. */
export function styleFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const wanted = isTerminal && !env.NO_COLOR && env.TERM !== "dumb";
  const mark =
    (open: number, close: number) =>
    (text: string): string =>
      wanted && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: mark(1, 22),
    dim: mark(2, 22),
    red: mark(31, 39),
    yellow: mark(33, 39),
    inverse: mark(7, 27),
  };
}
