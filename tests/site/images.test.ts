import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { checkImages, imagesOf } from "../../site/scripts/images.mjs";
import { readPages } from "../../site/scripts/pages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const picture = { label: "A chat", file: "docs/cli/chat.svg" };
const pages = [{ path: "chat.md", images: [picture] }];

/** Writes a built site with a page and an image. */
function built(html: string, image: string | Buffer): string {
  const folder = mkdtempSync(path.join(tmpdir(), "built site "));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, "assets"));
  writeFileSync(path.join(folder, "chat.html"), html);
  writeFileSync(path.join(folder, "assets/chat.1a.svg"), image);
  return folder;
}

const shown = '<img src="/docs/assets/chat.1a.svg" alt="A chat">';
const bytes = readFileSync(path.join(root, picture.file));

test("accepts a page that shows the image of its source", () => {
  expect(checkImages(built(shown, bytes), { base: "/docs/", pages })).toEqual({ count: 1, errors: [] });
});

test.each([
  ["only the label is there", "<p>A chat</p>", bytes],
  ["the image has another label", shown.replace("A chat", "A call"), bytes],
  ["the file is missing", shown.replace("chat.1a", "chat.2b"), bytes],
  ["the file has other bytes", shown, "<svg/>"],
  ["the page is missing", "", bytes],
])("fails if %s", (_, html, image) => {
  const { errors } = checkImages(built(html, image), { base: "/docs/", pages });
  expect(errors).toEqual(["chat.md: the image docs/cli/chat.svg is not shown"]);
});

test("reads the images of a page, and none of its code", () => {
  const text = "![One](a.svg) `![Two](b.svg)`\n\n```md\n![Three](c.svg)\n```\n\n![Four](../x/d.png)";
  expect(imagesOf({ source: "docs/page.md" }, text)).toEqual([
    { label: "One", file: "docs/a.svg" },
    { label: "Four", file: "x/d.png" },
  ]);
});

test.each(["README.md", "docs/cli/chat.md"])("%s keeps its image on the site", (source) => {
  const page = readPages().find((one) => one.source === source);
  const [image] = imagesOf({ source });
  expect(image).toBeDefined();
  expect(page?.text).toContain(
    `![${image?.label}](${path.relative(path.dirname(source), image?.file ?? "").replace(/^docs\//, "")})`,
  );
});
