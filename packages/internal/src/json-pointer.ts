/** Returns the keys of a JSON pointer, such as `/$defs/a~1b` (RFC 6901). */
export function pointerKeys(pointer: string): string[] {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the step of a JSON pointer to a key. It begins with a slash. */
export function pointerStep(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
