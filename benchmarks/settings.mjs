// @ts-check

/** The settings of this server: the first argument of its program. @type {import("./types.ts").ServerSettings} */
export const settings = {
  way: "stdio",
  mode: "modern",
  answers: "json",
  tools: 2,
  .../** @type {object} */ (JSON.parse(process.argv[2] ?? "{}")),
};
