import type { Icon } from "mcparley";
import { type Field, items, members, oneOf, text, texts, wrong } from "./yaml-fields.ts";

/** Reads a list of icons. Their pictures come over https or stand in the file itself, as the specification asks. */
export function icons(field: Field): Icon[] {
  return items(field).map((item) => {
    const keys = members(item, ["src", "mimeType", "sizes", "theme"]);
    const source = keys.get("src");
    if (!source) throw wrong(item, "an icon needs a src", "Give an https: URL or a data: URI.");
    const icon: Icon = { src: text(source) };
    if (!/^(https|data):/i.test(icon.src)) {
      throw wrong(source, `an icon cannot come from "${icon.src.slice(0, 60)}"`, "Give an https: URL or a data: URI.");
    }
    const mimeType = keys.get("mimeType");
    const sizes = keys.get("sizes");
    const theme = keys.get("theme");
    if (mimeType) icon.mimeType = text(mimeType);
    if (sizes) icon.sizes = texts(sizes);
    if (theme) icon.theme = oneOf(theme, ["light", "dark"]);
    return icon;
  });
}
