// @ts-check

/** How this server is to be run: what its program was given as its first argument. @type {import("./types.ts").ServerSettings} */
export const settings = {
  way: "stdio",
  mode: "modern",
  answers: "json",
  tools: 2,
  .../** @type {object} */ (JSON.parse(process.argv[2] ?? "{}")),
};
