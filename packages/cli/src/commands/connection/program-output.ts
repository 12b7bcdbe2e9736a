import { LocalError, printable, redact } from "mcparley";
import type { Screen } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";

const keptCharacters = 8_192;
const shownLines = 12;
const longestLine = 500;

/** The output of a server that this command started, apart from the messages of the protocol. */
export interface ProgramOutput {
  /** Takes a part of its stderr. */
  write(chunk: string): void;
  /** Takes an error of the connection. Warns of the first line on stdout that is no message. */
  problem(error: Error): void;
  /** The error of the first line on stdout that is no message. */
  readonly strayLine: string | undefined;
  /** Returns the last lines of its stderr, without secrets. Empty if it wrote none. */
  tail(): string;
}

interface ProgramOutputOptions {
  /** Whether each line of stderr is shown as it arrives. */
  readonly isLive: boolean;
  /** The words before these lines. Default: `server`. */
  readonly label?: string;
}

/** Collects the output of a server. */
export function programOutput(
  screen: Pick<Screen, "note" | "err">,
  { isLive, label = "server" }: ProgramOutputOptions,
): ProgramOutput {
  let stderr = "";
  let partialLine = "";
  let strayLine: string | undefined;
  const show = (line: string): void => {
    screen.note(screen.err.style.dim(printable(`${label}: ${redact(line.slice(0, keptCharacters))}`)));
  };
  return {
    write(chunk) {
      stderr = (stderr + chunk).slice(-keptCharacters);
      if (!isLive) return;
      const lines = (partialLine + chunk).split("\n");
      partialLine = lines.pop()!.slice(-keptCharacters);
      for (const line of lines) show(line);
    },
    problem(error) {
      if (strayLine !== undefined || !isStrayLine(error)) return;
      strayLine = error.message;
      screen.note(screen.err.style.yellow(visibleLine(`The server printed to stdout. ${strayLine}`)));
    },
    get strayLine() {
      return strayLine;
    },
    tail: () =>
      redact(stderr)
        .trim()
        .split("\n")
        .slice(-shownLines)
        .map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line))
        .join("\n"),
  };
}

function isStrayLine(error: Error): boolean {
  return error instanceof LocalError && error.code === "invalid_message" && error.message.startsWith("A line is not");
}
