/** The MIME types of what skills are usually made of, by the ending of the name. */
const types: Readonly<Record<string, string>> = {
  md: "text/markdown",
  txt: "text/plain",
  html: "text/html",
  css: "text/css",
  csv: "text/csv",
  js: "text/javascript",
  mjs: "text/javascript",
  ts: "text/x-typescript",
  py: "text/x-python",
  sh: "text/x-shellscript",
  json: "application/json",
  yaml: "application/yaml",
  yml: "application/yaml",
  xml: "application/xml",
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  webp: "image/webp",
};

export function fileType(path: string, isText: boolean): string {
  const ending = /\.([a-z\d]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  const known = Object.hasOwn(types, ending) ? types[ending] : undefined;
  return known ?? (isText ? "text/plain" : "application/octet-stream");
}
