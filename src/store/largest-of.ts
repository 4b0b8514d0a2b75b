/** A set of numbers that knows its largest, with both kinds of change in logarithmic time. */
export class LargestOf {
	readonly #members = new Set<number>();
	/** A binary heap, largest first; may hold numbers that are members no more. */
	readonly #heap: number[] = [];

	add(value: number): void {
		if (this.#members.has(value)) return;
		this.#members.add(value);
		this.#heap.push(value);
		this.#rise(this.#heap.length - 1);
	}

	delete(value: number): void {
		this.#members.delete(value);
	}

	/** Null when it is empty. */
	largest(): number | null {
		for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
			if (this.#members.has(top)) return top;
			this.#dropTop();
		}
		return null;
	}

	#rise(start: number): void {
		for (let at = start; at > 0; ) {
			const above = (at - 1) >> 1;
			if (this.#at(above) >= this.#at(at)) return;
			this.#swap(at, above);
			at = above;
		}
	}

	#dropTop(): void {
		const last = this.#heap.pop() as number;
		if (this.#heap.length === 0) return;
		this.#heap[0] = last;
		for (let at = 0; ; ) {
			let largest = at;
			for (const below of [2 * at + 1, 2 * at + 2]) if (this.#at(below) > this.#at(largest)) largest = below;
			if (largest === at) return;
			this.#swap(at, largest);
			at = largest;
		}
	}

	#at(index: number): number {
		return this.#heap[index] ?? Number.NEGATIVE_INFINITY;
	}

	#swap(a: number, b: number): void {
		[this.#heap[a], this.#heap[b]] = [this.#at(b), this.#at(a)];
	}
}
