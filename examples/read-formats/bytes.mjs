// "Numbers, texts and values" of docs/formats.md: a stretch of bytes, read from its start on.

export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
export const STATUSES = ['unset', 'ok', 'error'];

export const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const unzigzag = (n) => (n % 2 === 0 ? n / 2 : -(n + 1) / 2);

/** A real number, and a double that is a whole number, by type. */
const REALS = { 2: (real) => real, 9: (double) => ({ double }) };

export class Reader {
  at = 0;
  /** Bits of the byte that is being taken apart, and a one above them. */
  pending = 1;

  constructor(bytes) {
    this.bytes = bytes;
  }

  raw = (length) => {
    if (this.at + length > this.bytes.length) throw new Error('it ends too early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  };
  byte = () => this.raw(1)[0];
  u16 = () => this.raw(2).readUInt16LE();
  u32 = () => this.raw(4).readUInt32LE();
  u64 = () => this.raw(8).readBigUInt64LE();
  varint = () => {
    const low = this.byte();
    return low < 128 ? low : low - 128 + 128 * this.varint();
  };
  zigzag = () => unzigzag(this.varint());
  list = (make) => times(this.varint(), make);

  textOf = (form) => this.raw(Math.floor(form / 2)).toString(form % 2 === 0 ? 'utf8' : 'utf16le');
  text = () => this.textOf(this.varint());
  /** A text of a table, or one that stands here. */
  ref = (strings) => {
    const number = this.varint();
    return number === 0 ? this.text() : strings[number - 1];
  };
  /** A time told against another, or whole. */
  told = (against) => {
    const told = this.varint();
    return told === 0 ? this.u64() : against + BigInt(unzigzag(told - 1));
  };

  bit = () => {
    if (this.pending === 1) this.pending = this.byte() + 256;
    const bit = this.pending & 1;
    this.pending >>= 1;
    return bit;
  };
  bits = (count) => {
    let number = 0;
    for (let i = 0; i < count; i++) number += this.bit() * 2 ** i;
    return number;
  };
  unary = () => {
    let zeros = 0;
    while (this.bit() === 0) zeros++;
    return zeros;
  };
  /** What `make` takes as bits; what is left of the last byte is filling. */
  inBits = (make) => {
    const made = make();
    this.pending = 1;
    return made;
  };

  bigint = () => {
    const form = this.varint();
    const hex = Buffer.from(this.raw(Math.floor(form / 2))).reverse();
    return BigInt(`0x0${hex.toString('hex')}`) * (form % 2 === 0 ? 1n : -1n);
  };
  types = [
    this.text,
    this.zigzag,
    () => REALS[2](this.raw(8).readDoubleLE()),
    () => false,
    () => true,
    this.bigint,
    () => Uint8Array.from(this.raw(this.varint())),
    () => this.list(() => this.value(this.byte())),
    () => Object.fromEntries(this.list(() => [this.text(), this.value(this.byte())])),
    () => REALS[9](this.raw(8).readDoubleLE()),
    () => null,
  ];
  value = (type) => this.types[type]();

  /** A column of `count` texts. */
  texts = (count) => {
    const isPlain = this.byte() === 0;
    const lengths = times(isPlain ? count : this.varint(), this.varint);
    const texts = lengths.map(this.textOf);
    return isPlain ? texts : times(count, () => texts[this.varint()]);
  };

  /** A column of `count` values of one type. */
  column = (type, count) => {
    if (type === 0) return this.texts(count);
    if (REALS[type] === undefined) return times(count, () => this.value(type));
    const planes = this.raw(8 * count);
    const bytesOf = (i) => Buffer.from(times(8, (plane) => planes[plane * count + i]));
    return times(count, (i) => REALS[type](bytesOf(i).readDoubleLE()));
  };

  /** The properties of `count` spans, events or links. */
  properties = (strings, count) => {
    const columns = this.list(() => ({ key: this.ref(strings), type: this.byte(), used: 0 }));
    const layouts = this.list(this.varint).map((length) => times(length, this.varint));
    const rows = times(count, () => layouts[this.varint()].map((column) => [column, columns[column].used++]));
    for (const column of columns) column.values = this.column(column.type, column.used);
    return rows.map((row) => restored(row.map(([column, i]) => [columns[column].key, columns[column].values[i]])));
  };

  resource = () => restored(this.list(() => [this.text(), this.value(this.byte())]));
  scope = () => ({ name: this.text(), version: this.text(), ...this.resource() });
}

/** Fields that no column has are stored as properties whose keys begin with NUL; so a key that begins so has one more. */
const restored = (stored) => {
  const isField = ([key]) => /^\0[a-z]/.test(key);
  const fields = stored.filter(isField).map(([key, value]) => [key.slice(1), value]);
  const own = stored.filter((entry) => !isField(entry)).map(([key, value]) => [key.replace(/^\0/, ''), value]);
  return { ...Object.fromEntries(fields), properties: Object.fromEntries(own) };
};
