import { serveCommand } from "../commands/serve.ts";
import { UsageError } from "../terminal/io.ts";
import { type OptionValues, readOptions, readWords } from "../terminal/options.ts";

/** The options of `mcparley serve`, with their defaults. */
export interface ServeOptions extends Omit<OptionValues<typeof serveCommand.options>, "noWatch"> {
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

/** The options that have a meaning over HTTP only. */
const httpOptions = [
  "host",
  "port",
  "path",
  "allow-host",
  "allow-origin",
  "trust-proxy",
  "store",
  "workers",
  "legacy-sse",
];

/** Reads the arguments after `serve`. Throws `UsageError`. */
export function readServeOptions(argv: readonly string[]): ServeOptions {
  const { options } = serveCommand;
  const words = readWords(argv, options);
  const { watch, noWatch, ...typedOptions } = readOptions(
    words,
    { name: "serve", options },
    new Map([["serve", serveCommand]]),
  );
  const [folder, ...otherFolders] = [...words.positionals, ...(words.command ?? [])];
  if (folder === undefined && !typedOptions.help) {
    throw new UsageError(
      "Which folder? DIR is missing.",
      "Name it: mcparley serve DIR, or mcparley serve . for this one.",
    );
  }
  if (otherFolders.length > 0) {
    throw new UsageError(
      `One folder can be served, and ${otherFolders.length + 1} were named.`,
      'Quote a path that contains spaces: "my folder".',
    );
  }
  const unusedOption = typedOptions.stdio ? words.options.find(({ name }) => httpOptions.includes(name)) : undefined;
  if (unusedOption)
    throw new UsageError(`--${unusedOption.name} does not apply with --stdio.`, "Remove one of the two.");
  if (watch && noWatch) throw new UsageError("--watch and --no-watch exclude each other.", "Remove one of the two.");
  const { host = "127.0.0.1", port = 3333, path = "/mcp" } = typedOptions;
  return { ...typedOptions, folder: folder ?? ".", host, port, path, watch: watch || !(noWatch || typedOptions.stdio) };
}
