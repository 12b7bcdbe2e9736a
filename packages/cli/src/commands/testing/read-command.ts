import { type OptionValues, type Options, readOptions, readWords } from "../../terminal/options.ts";
import { type ChatOptions, chatCommand } from "../chat.ts";
import { declaredCommands } from "../all-commands.ts";

interface ReadWords<V> {
  readonly positionals: readonly string[];
  readonly command: readonly string[] | undefined;
  readonly options: V;
}

/** Returns the words after the name of a command, and the values of its options. */
export function readCommand<O extends Options>(
  argv: readonly string[],
  command: { readonly name: string; readonly options: O },
): ReadWords<OptionValues<O>> {
  const words = readWords(argv, command.options);
  return { ...words, options: readOptions(words, command, declaredCommands) };
}

/** Returns the words after `mcparley chat`, and the values of its options. */
export function readChat(argv: readonly string[]): ReadWords<ChatOptions> {
  return readCommand(argv, { name: "chat", options: chatCommand.options });
}
