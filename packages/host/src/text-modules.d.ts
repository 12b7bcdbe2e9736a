/** The text of a file. The bundler, and Vite in tests, put it into the module that imports it. */
declare module "*?raw" {
  const text: string;
  export default text;
}
