import { LocalError } from "mcparley";

/** Parses a file of the host's state. Throws `LocalError` `unusable_storage` if the content does not have the expected form. */
export function parseState<T>(name: string, text: string, isValid: (value: unknown) => value is T): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(name, "it is not JSON");
  }
  if (isValid(value)) return value;
  throw damaged(name, "it does not have the form that this version writes");
}

function damaged(name: string, why: string): LocalError {
  const cure = "Delete the file to be asked again";
  return new LocalError("unusable_storage", `The file ${name} of the host's state cannot be used: ${why}. ${cure}.`);
}
