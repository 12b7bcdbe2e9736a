import { expect, test } from "vitest";
import { circlesOfFiles } from "../../scripts/house/circles.mjs";
import { type Source, parseSource } from "../../scripts/house/syntax.mjs";
import { commandRooms, commandSources, importsOfRooms, mostFiles, roomOf } from "./layers-cli.ts";

const files = commandSources();
const rooms = Object.keys(commandRooms);
const allowed = new Set(rooms.flatMap((room) => commandRooms[room]!.map((other) => `${room} ${other}`)));

/** Returns the imports that the table does not allow. */
function importsAgainstTable(sources: readonly Source[]): string[] {
  return importsOfRooms(sources)
    .filter((edge) => !allowed.has(edge.rooms))
    .map((edge) => edge.files);
}

test("every folder of the command is a room with at most 20 files, and every room is a folder", () => {
  const counts = new Map<string, number>();
  for (const { name } of files) counts.set(roomOf(name), (counts.get(roomOf(name)) ?? 0) + 1);
  expect([...counts.keys()].filter((room) => room !== "").toSorted()).toEqual(rooms.toSorted());
  expect([...counts].filter(([, count]) => count > mostFiles)).toEqual([]);
});

test("a room may import only rooms before it", () => {
  const wrong = rooms.flatMap((room, index) =>
    commandRooms[room]!.filter((other) => !rooms.slice(0, index).includes(other)).map((other) => `${room} ${other}`),
  );
  expect(wrong).toEqual([]);
});

test("imports of the command point in one direction", () => {
  expect(importsAgainstTable(files)).toEqual([]);
});

test("each room of the command uses the rooms that it may import", () => {
  const used = new Set(importsOfRooms(files).map((edge) => edge.rooms));
  expect([...allowed].filter((edge) => !used.has(edge))).toEqual([]);
});

test("files of the command have no circular imports, and types and import() count", () => {
  expect(circlesOfFiles(files)).toEqual([]);
});

test("an import of the command against the order is detected", () => {
  const planted = parseSource(
    "terminal/planted.ts",
    'import type { Target } from "../targets/target.ts"; export type T = Target;',
  );
  const lazy = parseSource("targets/planted.ts", 'export const load = () => import("../chat/run-chat.ts");');
  expect(importsAgainstTable([...files, planted, lazy])).toEqual([
    "terminal/planted.ts imports targets/target.ts (type)",
    "targets/planted.ts imports chat/run-chat.ts (lazy)",
  ]);
});
