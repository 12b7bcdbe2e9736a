/** A place in a queue. Its owner creates it once and moves it between queues, so moves allocate nothing. */
export class Place<T> {
  readonly item: T;
  queue: Queue<T> | undefined;
  previous: Place<T> | undefined;
  next: Place<T> | undefined;

  constructor(item: T) {
    this.item = item;
  }
}

/** A list of items, the first added first. Adding and removing take constant time. */
export class Queue<T> {
  first: Place<T> | undefined;
  #last: Place<T> | undefined;
  /** Number of items. */
  size = 0;

  /** Moves a place from its queue to the end of this one. */
  append(place: Place<T>): void {
    if (place === this.#last) return;
    place.queue?.remove(place);
    place.queue = this;
    place.previous = this.#last;
    if (this.#last) this.#last.next = place;
    else this.first = place;
    this.#last = place;
    this.size++;
  }

  remove(place: Place<T>): void {
    const { previous, next } = place;
    if (previous) previous.next = next;
    else this.first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    place.queue = place.previous = place.next = undefined;
    this.size--;
  }
}

/** An item of a `Ranking`. */
export interface Ranked {
  /** The position of the item in its ranking, or -1. Only the ranking sets it. */
  index: number;
}

/** Finds the first of many items whose order changes (a binary heap). Each operation takes logarithmic time. */
export class Ranking<T extends Ranked> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  /** Adds an item, or updates its position after its rank has changed. */
  update(item: T): void {
    if (item.index < 0) item.index = this.#items.push(item) - 1;
    this.#sink(this.#rise(item));
  }

  remove(item: T): void {
    const { index } = item;
    if (index < 0) return;
    const last = this.#items.pop()!;
    item.index = -1;
    if (last === item) return;
    this.#put(last, index);
    this.update(last);
  }

  #put(item: T, index: number): void {
    this.#items[index] = item;
    item.index = index;
  }

  #rise(item: T): T {
    while (item.index > 0) {
      const { index } = item;
      const parent = this.#items[(index - 1) >> 1]!;
      if (!this.#isBefore(item, parent)) break;
      this.#put(item, parent.index);
      this.#put(parent, index);
    }
    return item;
  }

  #sink(item: T): void {
    for (;;) {
      const { index } = item;
      const [leftChild, rightChild] = [this.#items[2 * index + 1], this.#items[2 * index + 2]];
      const child = leftChild && rightChild && this.#isBefore(rightChild, leftChild) ? rightChild : leftChild;
      if (!child || !this.#isBefore(child, item)) return;
      this.#put(item, child.index);
      this.#put(child, index);
    }
  }
}
