// An engine in a worker. Of questions that wait, only the last of each asker is answered: the others are out of date.

const addresses = { light: "engine.wasm", heavy: "constraints.wasm" };

class Engine {
  #worker;
  #busy = null;
  #waiting = null;

  constructor(address, loaded) {
    this.#worker = new Worker("engine.js", { name: address });
    this.#worker.onmessage = ({ data }) => {
      if (data.loaded || data.failed) loaded(data.failed);
      else this.#answered(data);
    };
    this.#worker.onerror = (event) => loaded(event.message || "the worker did not start");
  }

  // ask resolves with the answer, or with null when a later question took its place.
  ask(question) {
    return new Promise((resolve) => {
      this.#waiting?.resolve(null);
      this.#waiting = { question, resolve };
      this.#next();
    });
  }

  #answered(answer) {
    this.#busy(answer);
    this.#busy = null;
    this.#next();
  }

  #next() {
    if (this.#busy || !this.#waiting) return;
    this.#busy = this.#waiting.resolve;
    this.#worker.postMessage(this.#waiting.question);
    this.#waiting = null;
  }
}

const engines = {};

/** engine returns the engine of a kind, and starts it when it is first needed. */
export function engine(kind, loaded) {
  return (engines[kind] ??= new Engine(addresses[kind], (failed) => loaded(kind, failed)));
}
