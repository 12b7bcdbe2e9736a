import type { Style } from "../client/terminal-text.ts";
import { clientSetups } from "./client-setups.ts";
import type { FolderContents } from "./load-folder.ts";
import { tryLine } from "./try-line.ts";

export interface BannerInput {
  url: string;
  contents: FolderContents;
  /** The names under which tools are offered; a file that the server refused is not among them. */
  problems: number;
  /** What is watched, as the person named it; undefined where nothing is. */
  watching: string | undefined;
  /** How this command is called here, such as `npx @mcparley/cli`. */
  command: string;
}

const width = 80;

/** What a person sees when a folder is served over HTTP: where, what, and what to do next. */
export function banner({ url, contents, problems, watching, command }: BannerInput, style: Style): string {
  const { name, version, title } = contents.settings;
  const titled = title === undefined || title === name ? "" : ` (${title})`;
  const setups = clientSetups(name, url).flatMap(({ client, where, lines }) => [
    `  ${style.bold(client)}${where === undefined ? "" : `, in ${where}`}`,
    ...lines.map((line) => `    ${line}`),
  ]);
  const end = watching === undefined ? "Ctrl-C ends it." : `Watching ${watching} for changes. Ctrl-C ends it.`;
  return [
    `${style.bold(`${name} ${version}`)}${titled} is served at`,
    "",
    `  ${style.bold(url)}`,
    "",
    ...offered(contents),
    ...(problems > 0
      ? ["", style.yellow(`${count(problems, "problem")} in the folder; what is named at the end is not served.`)]
      : []),
    "",
    "Add it to your client",
    ...setups,
    "",
    "Try it now, in another terminal",
    `  ${tryLine(contents, url, command)}`,
    "",
    style.dim(end),
    "",
  ].join("\n");
}

/** What is offered: how many of each kind, and their names as far as they fit. */
function offered({ tools, prompts, resources, skills }: FolderContents): string[] {
  const files = resources.filter(({ definition }) => !definition.uri.includes("{"));
  const kinds = [
    { label: count(prompts.length, "prompt"), names: prompts.map(({ name }) => name) },
    { label: count(tools.length, "tool"), names: tools.map(({ name }) => name) },
    { label: count(files.length, "resource"), names: files.map(({ name }) => name.replace(/^resources\//, "")) },
    ...(skills.length > 0 ? [{ label: count(skills.length, "skill"), names: skills.map(({ name }) => name) }] : []),
  ];
  const left = Math.max(...kinds.map(({ label }) => label.length)) + 4;
  return kinds.flatMap(({ label, names }) =>
    fit(names, width - left).map((line, index) => `${(index === 0 ? `  ${label}` : "").padEnd(left)}${line}`.trimEnd()),
  );
}

/** Names joined by commas, on at most three lines. */
function fit(names: readonly string[], columns: number): string[] {
  const lines = [""];
  for (const [index, name] of names.entries()) {
    const piece = index === names.length - 1 ? name : `${name}, `;
    const last = lines.at(-1)!;
    if (last !== "" && last.length + piece.trimEnd().length > columns) {
      if (lines.length === 3) {
        lines[2] = `${last}and ${names.length - index} more`;
        break;
      }
      lines.push(piece);
    } else lines[lines.length - 1] = last + piece;
  }
  return lines.map((line) => line.trimEnd());
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
