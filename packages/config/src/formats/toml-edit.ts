import { type Change, UnsafeEdit, isTable, valueAt, withChange } from "./format.ts";
import { lineEnding, nextLine, splice } from "./positions.ts";
import { type Statement, statementsIn } from "./toml-statements.ts";

/** Applies one change to a valid TOML text, of which `root` is the value. */
export function editToml(text: string, root: unknown, { path: changePath, value }: Change): string {
  const path = changePath.map(String);
  const statements = statementsIn(text);
  if (statements.some(({ kind, path: statementPath }) => kind === "array" && isPrefix(statementPath, path))) {
    throw new UnsafeEdit(`${showKeys(path)} is in an array of tables`);
  }
  const inline = statements.find(
    ({ kind, path: statementPath }) =>
      kind === "pair" && statementPath.length < path.length && isPrefix(statementPath, path),
  );
  if (inline) return editInline(text, { inline, root, path, value });
  const ownStatements = statements.filter(({ path: statementPath }) => isPrefix(path, statementPath));
  const [first] = ownStatements;
  if (value === undefined) return removeStatements(text, statements, new Set(ownStatements));
  if (first && ownStatements.length === 1 && first.kind === "pair" && first.path.length === path.length) {
    return splice(text, first.value, render(value));
  }
  if (first) throw new UnsafeEdit(`${showKeys(path)} is a table`);
  return isTable(value) ? addSection(text, statements, { path, value }) : addPair(text, statements, { path, value });
}

function isPrefix(short: readonly string[], long: readonly string[]): boolean {
  return short.length <= long.length && short.every((key, index) => key === long[index]);
}

interface InlineEdit {
  readonly inline: Statement;
  readonly root: unknown;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Changes a member of an inline table. The table is written again, so it must have no comment. */
function editInline(text: string, { inline, root, path, value }: InlineEdit): string {
  const tableText = text.slice(...inline.value);
  const table = valueAt(root, inline.path);
  if (!isTable(table) || tableText.includes("#")) {
    throw new UnsafeEdit(`${showKeys(inline.path)} is an inline table with comments, or not a table`);
  }
  return splice(text, inline.value, render(withChange(table, { path: path.slice(inline.path.length), value })));
}

/** Removes statements, the comments between them, and the empty line before them. Other comments stay. */
function removeStatements(text: string, all: readonly Statement[], removedStatements: ReadonlySet<Statement>): string {
  const ranges: [number, number][] = [];
  let isOpen = false;
  for (const statement of all) {
    const range = ranges.at(-1);
    if (!removedStatements.has(statement)) isOpen = false;
    else if (isOpen && range) range[1] = statement.end;
    else ranges.push([statement.start, statement.end]);
    if (removedStatements.has(statement)) isOpen = true;
  }
  return ranges.reduceRight((editedText, range) => splice(editedText, withEmptyLine(editedText, range), ""), text);
}

/** Extends a range by the empty line before it, if an empty line or the end of the file follows. */
function withEmptyLine(text: string, [start, end]: readonly [number, number]): [number, number] {
  const isFollowed = end >= text.length || /^[ \t]*\r?$/.test(text.slice(end, nextLine(text, end)).replace("\n", ""));
  if (!isFollowed) return [start, end];
  if (start === 0) return [0, nextLine(text, end)];
  const emptyLine = /(?<=\n|^)[ \t]*\r?\n$/.exec(text.slice(Math.max(0, start - 200), start));
  return [start - (emptyLine?.[0].length ?? 0), end];
}

interface Member {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Adds a table as a section: after the last section of its parent, or else at the end. */
function addSection(text: string, statements: readonly Statement[], { path, value }: Member): string {
  const eol = lineEnding(text);
  const section = renderSection(path, isTable(value) ? value : {}).join(eol) + eol;
  const sibling = statements.findLast((statement) => isPrefix(path.slice(0, -1), statement.path));
  // A pair below another header has no section, after which a header could stand.
  const next = sibling && statements[statements.indexOf(sibling) + 1];
  const canFollow = sibling !== undefined && path.length > 1 && (!next || next.kind !== "pair");
  const offset = canFollow ? afterComments(text, sibling.end) : text.length;
  const textBefore = text.slice(0, offset);
  const lead = textBefore.trim() === "" ? "" : textBefore.endsWith("\n") ? eol : eol + eol;
  const remainingText = text.slice(offset);
  const tail = remainingText === "" || /^[ \t]*\r?\n/.test(remainingText) ? "" : eol;
  return textBefore + (textBefore.endsWith(`${eol}${eol}`) ? "" : lead) + section + tail + remainingText;
}

/** Returns the offset after the comments that follow directly, if they do not belong to the next statement. */
function afterComments(text: string, offset: number): number {
  let end = offset;
  while (/^[ \t]*#/.test(text.slice(end, nextLine(text, end)))) end = nextLine(text, end);
  return end >= text.length || /^[ \t]*\r?\n/.test(text.slice(end, nextLine(text, end))) ? end : offset;
}

/** Adds a pair to the section of its parent, or a new section of the parent. */
function addPair(text: string, statements: readonly Statement[], { path, value }: Member): string {
  const parent = path.slice(0, -1);
  const anchor = statements.findLast(
    ({ header, path: statementPath }) =>
      isPrefix(header, parent) &&
      isPrefix(parent, statementPath) &&
      (statementPath.length > parent.length || header.length === statementPath.length),
  );
  if (!anchor) return addSection(text, statements, { path: parent, value: Object.fromEntries([[path.at(-1), value]]) });
  const eol = lineEnding(text);
  const pair = `${showKeys(path.slice(anchor.header.length))} = ${render(value)}${eol}`;
  const textBefore = text.slice(0, anchor.end);
  return textBefore + (textBefore.endsWith("\n") ? "" : eol) + pair + text.slice(anchor.end);
}

function renderSection(path: readonly string[], table: Readonly<Record<string, unknown>>): string[] {
  const members = Object.entries(table).filter(([, member]) => member !== undefined);
  const pairs = members.filter(([, member]) => !isTable(member));
  const tables = members.filter(([, member]) => isTable(member));
  return [
    `[${showKeys(path)}]`,
    ...pairs.map(([key, member]) => `${showKey(key)} = ${render(member)}`),
    ...tables.flatMap(([key, member]) => ["", ...renderSection([...path, key], member as Record<string, unknown>)]),
  ];
}

function showKeys(path: readonly string[]): string {
  return path.map(showKey).join(".");
}

function showKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : showString(key);
}

/** Returns a TOML string. The escapes of JSON are those of TOML, which also forbids DEL. */
function showString(text: string): string {
  return JSON.stringify(text).replaceAll("\u007F", String.raw`\u007F`);
}

/** Returns a value on one line. Tables are inline tables. */
function render(value: unknown): string {
  if (typeof value === "string") return showString(value);
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (typeof value === "number") return renderNumber(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `[${value.map(render).join(", ")}]`;
  if (!isTable(value)) throw new UnsafeEdit("TOML has no such value");
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return "{}";
  return `{ ${members.map(([key, member]) => `${showKey(key)} = ${render(member)}`).join(", ")} }`;
}

/** Returns a float. TOML spells `Infinity` and `NaN` differently, and needs a decimal point. */
function renderNumber(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
