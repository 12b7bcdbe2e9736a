/** One thing that the folder offers, with what tells whether it changed. */
export interface Loaded<D> {
  readonly name: string;
  /** The file that it comes from, relative to the folder. */
  readonly file: string;
  readonly definition: D;
  /** All that a list shows of it: where it stays the same, no list has changed. */
  readonly shape: string;
}
