import { parseArgs } from "node:util";
import { nearest } from "./did-you-mean.ts";
import { UsageError } from "./io.ts";

/** An option of a command. The parser, the help and the hints are made from its declaration. */
export interface Option<T = unknown> extends OptionKind<T> {
  readonly name: string;
  /** The page of `mcparley help` that describes it. Default: the help of its command. */
  readonly topic: Topic | undefined;
}

type Topic = "options" | "network" | "signing-in";

/** The declaration of an option, apart from its name and its page. */
interface OptionKind<T> {
  readonly short?: string | undefined;
  /** The placeholder of its value in the help. Undefined for a switch. */
  readonly value?: string;
  readonly description: string;
  /** Whether it selects the server. So do all options of the pages about the network and the sign-in. Default: false. */
  readonly isOfTarget?: boolean;
  /** Returns its value for the typed texts. The text of a switch is empty. Throws `UsageError`. */
  read(this: void, texts: readonly string[]): T;
}

/** The options of a command by the names of their values. */
export type Options = Readonly<Record<string, Option>>;

/** The values of the options of a command. */
export type OptionValues<O extends Options> = { readonly [K in keyof O]: ReturnType<O[K]["read"]> };

/** Declares options, whose names are those of their values: `maxReply` is `--max-reply`. */
export function options<O extends Readonly<Record<string, OptionKind<unknown>>>>(
  kinds: O,
  topic?: Topic,
): { readonly [K in keyof O]: Option<ReturnType<O[K]["read"]>> } {
  const entries = Object.entries(kinds).map(([key, kind]) => {
    const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return [key, { ...kind, name, topic }] as const;
  });
  return Object.fromEntries(entries) as ReturnType<typeof options<O>>;
}

/** A switch. */
export function flag(description: string, short?: string): OptionKind<boolean> {
  return { description, short, read: (texts) => texts.length > 0 };
}

/** An option with a text. If it is typed again, the last text counts. */
export function text(value: string, description: string, short?: string): OptionKind<string | undefined> {
  return { value, description, short, read: (texts) => texts.at(-1) };
}

/** An option with a text that can be repeated. */
export function texts(value: string, description: string): OptionKind<readonly string[]> {
  return { value, description, read: (all) => all };
}

/** An option whose last text is read with a function. */
export function textAs<T>(value: string, description: string, read: (text: string) => T): OptionKind<T | undefined> {
  const readLast = (all: readonly string[]): T | undefined => {
    const last = all.at(-1);
    return last === undefined ? undefined : read(last);
  };
  return { value, description, read: readLast };
}

/** Returns the function that reads the texts of an option as the members of an object. */
export function membersAs<T>(read: (text: string) => readonly [name: string, value: T]) {
  return (all: readonly string[]): Readonly<Record<string, T>> => Object.fromEntries(all.map(read));
}

/** An option as it was typed. It can be unknown. */
interface TypedOption {
  readonly name: string;
  /** The word with its dashes, such as `-o`. */
  readonly word: string;
  /** Undefined for a switch, and if the value is missing. */
  readonly value: string | undefined;
}

/** The words after the name of a command. */
export interface Words {
  readonly positionals: readonly string[];
  /** The words after `--`. Undefined without `--`. */
  readonly command: readonly string[] | undefined;
  readonly options: readonly TypedOption[];
}

/** Divides the words after the name of a command. Does not fail, so that errors can be reported in the form that the options ask for. */
export function readWords(argv: readonly string[], declarations: Options): Words {
  const end = argv.indexOf("--");
  const positionals: string[] = [];
  const typedOptions: TypedOption[] = [];
  const kinds = Object.values(declarations).map(({ name, short, value }) => {
    const type = value === undefined ? ("boolean" as const) : ("string" as const);
    return [name, { type, multiple: true, ...(short !== undefined && { short }) }] as const;
  });
  const read = (args: string[]): void => {
    const settings = {
      options: Object.fromEntries(kinds),
      strict: false,
      allowPositionals: true,
      tokens: true,
    } as const;
    for (const token of parseArgs({ args, ...settings }).tokens) {
      if (token.kind === "positional") positionals.push(token.value);
      if (token.kind !== "option") continue;
      const { name, rawName: word, value, inlineValue } = token;
      // A forgotten value would otherwise swallow the next option.
      const isForgotten = value !== undefined && !inlineValue && /^--?[a-z]/i.test(value);
      typedOptions.push({ name, word, value: isForgotten ? undefined : value });
      if (isForgotten) read([value]);
    }
  };
  read(argv.slice(0, end === -1 ? argv.length : end));
  return { positionals, command: end === -1 ? undefined : argv.slice(end + 1), options: typedOptions };
}

/** Returns whether an option was typed. */
export function hasOption({ options }: Words, { name }: Option): boolean {
  return options.some((option) => option.name === name);
}

/** The commands with their options, by name. */
export type OptionsOfCommands = ReadonlyMap<string, { readonly options: Options }>;

/** The placeholders of values that name something. Texts may be empty, and others have errors of their own. */
const namedThings = /^(?:ID|NAME|URL|FILE|DIR|SCOPE|"SCOPE \.\.\."|HOST|HEADER|PACKAGE#EXPORT|PROVIDER\/NAME)$/;

/**
 * Returns the values of the options of a command. Throws `UsageError` for a missing or invalid value, and for an option that the command does
 * not have. `commands` are those that may have it.
 */
export function readOptions<O extends Options>(
  { options: typedOptions }: Words,
  { name: command, options: declarations }: { readonly name: string; readonly options: O },
  commands: OptionsOfCommands,
): OptionValues<O> {
  const textsOf = new Map<string, string[]>();
  for (const { name, word, value } of typedOptions) {
    const option = Object.values(declarations).find((one) => one.name === name);
    if (!option) throw unknownOption({ name, word }, command, commands);
    if (option.value === undefined && value !== undefined)
      throw new UsageError(`${word} takes no value; "${value}" was given.`);
    if (option.value !== undefined && value === undefined)
      throw new UsageError(`${word} needs a value: ${word} ${option.value}`);
    // A shell passes a variable that is not set as an empty word.
    if (value?.trim() === "" && namedThings.test(option.value ?? ""))
      throw new UsageError(`The value of ${word} is empty. If it is that of a variable, set the variable.`);
    textsOf.set(name, [...(textsOf.get(name) ?? []), value ?? ""]);
  }
  const values = Object.entries(declarations).map(([key, option]) => [
    key,
    option.read(textsOf.get(option.name) ?? []),
  ]);
  return Object.fromEntries(values) as OptionValues<O>;
}

/** An option that a command does not have. */
export class UnknownOption extends UsageError {
  readonly option: Pick<TypedOption, "name" | "word">;

  constructor(option: Pick<TypedOption, "name" | "word">, message: string, hint: string) {
    super(message, hint);
    this.option = option;
  }
}

/** Returns the error for an option that a command does not have, with the commands that have it, or else a similar one. */
export function unknownOption(
  { name, word }: Pick<TypedOption, "name" | "word">,
  command: string,
  commands: OptionsOfCommands,
): UnknownOption {
  const isMeant = (option: Option): boolean => option.name === name || option.short === name;
  const owners = [...commands].filter(([, declaration]) => Object.values(declaration.options).some(isMeant));
  if (owners.length > 0) {
    const names = owners.map(([owner]) => `mcparley ${owner}`).join(", ");
    return new UnknownOption(
      { name, word },
      `mcparley ${command} has no option ${word}.`,
      `It is an option of ${names}.`,
    );
  }
  const otherNames = [...commands.values()].flatMap(({ options }) => namesOf(options));
  const near = nearest(name, namesOf(commands.get(command)?.options ?? {})) ?? nearest(name, otherNames);
  const hint = near === undefined ? "--help shows the options." : `Did you mean --${near}?`;
  // The option `--env` passes variables to the program of a server.
  const startsPrograms = commands.get(command)?.options["env"] !== undefined;
  const program = startsPrograms ? " Options of the server's program go after --." : "";
  return new UnknownOption({ name, word }, `There is no option ${word}.`, hint + program);
}

/** Reads `NAME=VALUE`. */
export function readPair(text: string, option: string): readonly [string, string] {
  const separator = text.indexOf("=");
  if (separator > 0) return [text.slice(0, separator), text.slice(separator + 1)];
  throw new UsageError(`${option} needs NAME=VALUE.`, `Such as ${option} NAME=VALUE`);
}

function namesOf(options: Options): string[] {
  return Object.values(options).map((option) => option.name);
}
