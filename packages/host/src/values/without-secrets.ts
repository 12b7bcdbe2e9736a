/**
 * Returns a value without the secrets of the host: in its texts, in the names of its members, and in its errors with their messages,
 * stacks, data and causes. Returns the same value if it has none.
 */
export type WithoutSecrets = <T>(value: T) => T;
