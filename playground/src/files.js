// Files in memory, with as much of Node's fs as Go's runtime calls.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const O_WRONLY = 1;
const O_RDWR = 2;
const O_CREAT = 0o100;
const O_EXCL = 0o200;
const O_TRUNC = 0o1000;
const O_APPEND = 0o2000;
const O_DIRECTORY = 0o200000;

function failure(code) {
  return Object.assign(new Error(code), { code });
}

/** Files in one folder, by name. */
export class Files {
  #contents = new Map();
  #open = new Map();
  #descriptor = 3;

  /** set replaces all files by texts with their names. */
  set(texts) {
    this.#contents = new Map(Object.entries(texts).map(([name, text]) => [name, encoder.encode(text)]));
    this.#open.clear();
  }

  /** text returns a file's text, or undefined. */
  text(name) {
    const bytes = this.#contents.get(name);
    return bytes && decoder.decode(bytes);
  }

  /** fs returns what Go's runtime takes for Node's fs. */
  fs() {
    const calls = {
      open: (path, flags) => this.#openFile(name(path), flags),
      close: (fd) => void this.#open.delete(fd),
      read: (fd, buffer, offset, length, position) => this.#read(fd, buffer, offset, length, position),
      write: (fd, buffer, offset, length, position) => this.#write(fd, buffer, offset, length, position),
      stat: (path) => this.#stat(name(path)),
      lstat: (path) => this.#stat(name(path)),
      fstat: (fd) => this.#stat(this.#opened(fd).name),
      readdir: (path) => {
        if (name(path) !== "") throw failure("ENOTDIR");
        return [...this.#contents.keys()].sort();
      },
      fsync: () => undefined,
      chmod: () => undefined,
      fchmod: () => undefined,
      ftruncate: (fd, length) => void this.#resize(this.#opened(fd).name, length),
      unlink: (path) => {
        if (!this.#contents.delete(name(path))) throw failure("ENOENT");
      },
      rename: (from, to) => {
        const bytes = this.#bytes(name(from));
        this.#contents.delete(name(from));
        this.#contents.set(name(to), bytes);
      },
    };
    const refused = ["chown", "fchown", "lchown", "link", "mkdir", "readlink", "rmdir", "symlink", "truncate", "utimes"];
    const fs = { constants: { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_EXCL, O_DIRECTORY } };
    for (const call of refused) {
      fs[call] = (...args) => args.at(-1)(failure("ENOSYS"));
    }
    for (const [call, run] of Object.entries(calls)) {
      fs[call] = (...args) => {
        const done = args.pop();
        let result;
        try {
          result = run(...args);
        } catch (error) {
          done(error);
          return;
        }
        done(null, result);
      };
    }
    fs.writeSync = (fd, buffer) => {
      console.error(decoder.decode(buffer)); // a panic of Go's runtime
      return buffer.length;
    };
    return fs;
  }

  #bytes(name) {
    const bytes = this.#contents.get(name);
    if (!bytes) throw failure("ENOENT");
    return bytes;
  }

  #opened(fd) {
    const file = this.#open.get(fd);
    if (!file) throw failure("EBADF");
    return file;
  }

  #openFile(name, flags) {
    if (name !== "" && !this.#contents.has(name)) {
      if (!(flags & O_CREAT)) throw failure("ENOENT");
      if (name.includes("/")) throw failure("ENOENT");
      this.#contents.set(name, new Uint8Array());
    } else if (flags & O_EXCL) {
      throw failure("EEXIST");
    }
    if (name !== "" && flags & O_DIRECTORY) throw failure("ENOTDIR");
    if (flags & O_TRUNC) this.#contents.set(name, new Uint8Array());
    const position = flags & O_APPEND ? this.#bytes(name).length : 0;
    this.#open.set(this.#descriptor, { name, position });
    return this.#descriptor++;
  }

  #read(fd, buffer, offset, length, position) {
    const file = this.#opened(fd);
    if (file.name === "") throw failure("EISDIR");
    const from = position ?? file.position;
    const part = this.#bytes(file.name).subarray(from, from + length);
    buffer.set(part, offset);
    if (position === null) file.position += part.length;
    return part.length;
  }

  #write(fd, buffer, offset, length, position) {
    if (fd < 3) {
      console.error(decoder.decode(buffer.subarray(offset, offset + length)));
      return length;
    }
    const file = this.#opened(fd);
    const at = position ?? file.position;
    const bytes = this.#resize(file.name, Math.max(this.#bytes(file.name).length, at + length));
    bytes.set(buffer.subarray(offset, offset + length), at);
    if (position === null) file.position += length;
    return length;
  }

  #resize(name, length) {
    const bytes = new Uint8Array(length);
    bytes.set(this.#bytes(name).subarray(0, length));
    this.#contents.set(name, bytes);
    return bytes;
  }

  #stat(name) {
    const folder = name === "";
    const size = folder ? 0 : this.#bytes(name).length;
    return {
      dev: 0, ino: 0, mode: folder ? 0o40755 : 0o100644, nlink: 1, uid: 0, gid: 0, rdev: 0, size,
      blksize: 4096, blocks: 0, atimeMs: 0, mtimeMs: 0, ctimeMs: 0,
      isDirectory: () => folder,
    };
  }
}

// name returns the name of a path in the only folder; that of the folder itself is empty.
function name(path) {
  return path.replace(/^\.?\/+/, "").replace(/^\.$/, "").replace(/\/$/, "");
}
