/** What a form may hold in one place (client/elicitation, Requested Schema). */
export type FieldValue = string | number | boolean | string[];

export interface Choice {
  readonly value: string;
  readonly title: string;
}

/** One question of a form, ready to be asked. */
export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly default: FieldValue | undefined;
  /** What is to be typed, in a few words: `number from 1 to 5`. */
  readonly expects: string;
  /** Empty where anything may be typed. */
  readonly choices: readonly Choice[];
  /** Reads what was typed. Throws `InvalidField`, which says what is expected. */
  read(text: string): FieldValue;
}

/** What was typed does not fit the field. */
export class InvalidField extends Error {
  override readonly name = "InvalidField";
}
