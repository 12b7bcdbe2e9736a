import { describe, expect, test } from "vitest";
import { checkListed, filesOf, readNavigation } from "../../site/scripts/navigation.mjs";
import { navigation, readPages } from "../../site/scripts/pages.mjs";

const index = `# Documentation

[Not in a section](start/intro.md)

## Build

| Task | Page |
| --- | --- |
| Test | [In CI](servers/testing.md#ci) |
| Define | [Tools](servers/tools.md), [Results](servers/tools.md#results) |
| Read | [Specification](https://example.com/spec.md) |

### Folders

| Serve | [Folder server](serve/folder.md) |

## Reference

- [Tools again](servers/tools.md)
- [Testing](servers/testing.md)
- [Contributing](../CONTRIBUTING.md)
`;

describe("the navigation of the site", () => {
  test("has a section for each heading and a group for each subheading", () => {
    expect(readNavigation(index)).toEqual([
      {
        title: "Build",
        groups: [
          { title: undefined, files: ["docs/servers/tools.md"] },
          { title: "Folders", files: ["docs/serve/folder.md"] },
        ],
      },
      { title: "Reference", groups: [{ title: undefined, files: ["docs/servers/testing.md", "CONTRIBUTING.md"] }] },
    ]);
  });

  test("rejects a guide that is in no section", () => {
    const sections = readNavigation(index);
    expect(() => checkListed(sections, ["docs/servers/tools.md", "docs/README.md"])).not.toThrow();
    expect(() => checkListed(sections, ["docs/servers/tools.md", "docs/intro.md"])).toThrow(/docs\/intro\.md/);
  });

  test("lists the decisions outside the sections of the guides", () => {
    expect(() => checkListed(readNavigation(index), ["docs/internals/adr/0001-a.md"])).not.toThrow();
  });
});

describe("the pages of this repository", () => {
  test("have the sections of the tasks", () => {
    const titles = navigation().map(({ title }) => title);
    expect(titles).toEqual([
      "Start",
      "Learn",
      "Servers",
      "Serve",
      "Authorization",
      "Clients",
      "Hosts",
      "Command",
      "Operate",
      "Reference",
      "Internals",
      "Migrate",
    ]);
  });

  test("have a title and a summary each, and paths of their own", () => {
    const pages = readPages();
    expect(pages.length).toBeGreaterThan(80);
    expect(pages.filter(({ title, summary }) => title === "" || summary.length < 10)).toEqual([]);
    expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length);
  });

  test("include each page that the navigation names", () => {
    const sources = new Set(readPages().map(({ source }) => source));
    expect(
      navigation()
        .flatMap(filesOf)
        .filter((file) => !sources.has(file)),
    ).toEqual([]);
  });
});
