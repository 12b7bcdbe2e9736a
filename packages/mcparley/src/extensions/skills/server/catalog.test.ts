import { describe, expect, test } from "vitest";
import { Catalog } from "./catalog.ts";
import { type PreparedFile, type Skill, skill } from "./skill.ts";

const filesEach = 10;

function makeSkill(name: string, content = "x"): Skill {
  const others = Array.from({ length: filesEach - 1 }, (_, at): [string, string] => [`d/f${at}.md`, content]);
  return skill({ "SKILL.md": `---\nname: ${name}\ndescription: d\n---\n`, ...Object.fromEntries(others) });
}

/** Counts the files that are read from it, and the lookups. */
class CountedFiles extends Map<string, PreparedFile> {
  static visited = 0;

  override get(path: string): PreparedFile | undefined {
    CountedFiles.visited++;
    return super.get(path);
  }

  override *entries(): MapIterator<[string, PreparedFile]> {
    for (const entry of super.entries()) {
      CountedFiles.visited++;
      yield entry;
    }
    return undefined;
  }

  override [Symbol.iterator](): MapIterator<[string, PreparedFile]> {
    return this.entries();
  }

  override *values(): MapIterator<PreparedFile> {
    for (const [, file] of this.entries()) yield file;
    return undefined;
  }
}

function counted(made: Skill): Skill {
  return { ...made, files: new CountedFiles(made.files) };
}

/** Returns the number of skill files that an action visits. */
async function visits(action: () => unknown): Promise<number> {
  CountedFiles.visited = 0;
  await action();
  return CountedFiles.visited;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `s${at}`);

function offer(count: number, prefix = ""): Catalog {
  const catalog = new Catalog();
  for (const name of names(count)) catalog.set(`${prefix}${name}`, counted(makeSkill(name)));
  return catalog;
}

describe.each(["", "team/"])("in the folder %j", (prefix) => {
  test("offering skills visits each file a fixed number of times", async () => {
    for (const count of [10, 100, 400]) {
      expect(await visits(() => offer(count, prefix))).toBeLessThanOrEqual(4 * count * filesEach);
    }
  });

  test("a change of one skill and a lookup visit no files of other skills", async () => {
    const catalog = offer(200, prefix);
    await catalog.counting();
    const path = `${prefix}s7`;
    expect(await visits(() => catalog.set(path, counted(makeSkill("s7", "y"))))).toBeLessThanOrEqual(4 * filesEach);
    const entry = catalog.findEntry(`skill://${path}/SKILL.md`)!;
    expect(await visits(() => catalog.counting(entry))).toBeLessThanOrEqual(2 * filesEach);
    expect(await visits(() => catalog.counting())).toBeLessThanOrEqual(4 * filesEach);
    expect(await visits(() => catalog.find(`skill://${path}/d/f3.md`))).toBeLessThanOrEqual(2);
    expect(await visits(() => catalog.folder(`skill://${path}/d`))).toBeLessThanOrEqual(2 * filesEach);
    expect(await visits(() => catalog.show(entry, undefined))).toBeLessThanOrEqual(2 * filesEach);
    expect(await visits(() => catalog.delete(path))).toBe(0);
    expect(catalog.find(`skill://${path}/d/f3.md`)).toBeUndefined();
  });
});

test("other work is done while the digests of many files are calculated", async () => {
  const catalog = offer(100);
  let turns = 0;
  const turn = (): void => {
    turns++;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  await catalog.counting();
  clearImmediate(immediate);
  expect(turns).toBeGreaterThan(10);
  expect(catalog.counting()).toBeUndefined();
});

test("a file of the outer skill is found again after the inner skill is removed", () => {
  const catalog = new Catalog();
  catalog.set("outer", skill({ "SKILL.md": "---\nname: outer\ndescription: d\n---\n", "inner/d/f1.md": "outer" }));
  catalog.set("outer/inner", makeSkill("inner", "inner"));
  const source = (): unknown => catalog.find("skill://outer/inner/d/f1.md")?.file.source;
  expect(source()).toBe("inner");
  expect(catalog.folder("skill://outer/inner/d").get("skill://outer/inner/d/f1.md")?.file.source).toBe("inner");
  catalog.delete("outer/inner");
  expect(source()).toBe("outer");
  expect([...catalog.folder("skill://outer/inner/d").keys()]).toEqual(["skill://outer/inner/d/f1.md"]);
  catalog.delete("outer");
  expect(catalog.folder("skill://outer").size).toBe(0);
});
