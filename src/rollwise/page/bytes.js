// Bytes of a page, read as whole numbers of 7 bits a byte.

// The head of a document, and its parts by name.
export function opened(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const parts = {};
  let begin = 4 + size;
  for (const [name, length] of Object.entries(head.parts)) {
    parts[name] = bytes.subarray(begin, begin + length);
    begin += length;
  }
  return { head, parts };
}

export class Stream {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
    this.zeros = 0; // still to come
  }

  next() {
    if (this.zeros > 0) {
      this.zeros--;
      return 0;
    }
    const found = this.plain();
    if (found === 0) this.zeros = this.plain();
    return found;
  }

  plain() {
    let byte = this.bytes[this.at++];
    let plain = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = this.bytes[this.at++];
      plain += (byte & 127) * scale;
    }
    return plain % 2 ? -(plain + 1) / 2 : plain / 2;
  }

  // Numbers as differences to the one before, into places of an array.
  sums(into, begin = 0, end = into.length) {
    for (let i = begin, sum = begin ? into[begin - 1] : 0; i < end; ) {
      const zeros = Math.min(this.zeros, end - i);
      if (zeros > 0) {
        into.fill(sum, i, i + zeros);
        this.zeros -= zeros;
        i += zeros;
        continue;
      }
      const byte = this.bytes[this.at];
      if (byte > 0 && byte < 128) {
        this.at++;
        sum += (byte >>> 1) ^ -(byte & 1);
      } else sum += this.next();
      into[i++] = sum;
    }
    return into;
  }
}

// Such numbers, read as far as somebody asks for them.
export class Column {
  constructor(bytes, n) {
    this.stream = new Stream(bytes);
    this.numbers = new Int32Array(n);
    this.known = 0;
  }

  upTo(end) {
    if (end > this.known) this.stream.sums(this.numbers, this.known, end);
    this.known = Math.max(this.known, end);
    return this.numbers;
  }
}

// Doubles, stored as all first bytes, then all second ones, and so on.
export function doubles(bytes) {
  const n = bytes.length / 8;
  const found = new Uint8Array(bytes.length);
  for (let k = 0; k < 8; k++) for (let i = 0; i < n; i++) found[8 * i + k] = bytes[k * n + i];
  return new Float64Array(found.buffer);
}
